"""`python -m inference.engine.chat_tokens MODEL_DIR`: how a trainer would tokenise conversations.

Reads a JSON list of message lists from standard input and writes, for each, the token ids that the model's own chat template and
tokenizer give with the opening of the next assistant message. It stands by itself because it loads transformers.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def chat_token_ids(model_dir: str, conversations: list[list[dict[str, str]]]) -> list[list[int]]:
    """Token ids of each conversation, ready for the assistant to go on."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(model_dir)
    ids = []
    for messages in conversations:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids.append(list(tokenizer(text, add_special_tokens=False)["input_ids"]))
        direct = tokenizer.apply_chat_template(messages, tokenize=True, add_generation_prompt=True, return_dict=True)
        if list(direct["input_ids"]) != ids[-1]:
            raise AssertionError("the tokenizer gives other ids for a rendered template than for its messages")
    return ids


if __name__ == "__main__":
    json.dump(chat_token_ids(sys.argv[1], json.load(sys.stdin)), sys.stdout)
