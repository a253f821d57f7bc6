"""Counting tokens with a checkpoint's own tokenizer, through the `tokenizers` package: no model library needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"
TokenCounter = Callable[[str], int]


class TokenizerError(ValueError):
    """A folder has no readable tokenizer; the message says what was found."""


def counter_for(folder: Path) -> TokenCounter:
    """A function from text to its number of tokens, special tokens of a prompt's frame not added. Raises TokenizerError.

    Counters are kept; one is made anew when its file changes.
    """
    path = folder / TOKENIZER_FILE
    try:
        stat = path.stat()
    except OSError as error:
        raise TokenizerError(f"There is no {path}.") from error
    return _load(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=8)
def _load(path: Path, mtime_ns: int, size: int) -> TokenCounter:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the Rust side raises bare Exception
        raise TokenizerError(f"{path} is no tokenizer: {error}") from error

    @functools.lru_cache(maxsize=512)  # a session sends the same system prompt turn after turn
    def count(text: str) -> int:
        return len(tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False).ids)

    return count
