"""Counting tokens with a checkpoint's own tokenizer, through the `tokenizers` package: no model library needed."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"
TokenCounter = Callable[[str], int]

_TEXTS_KEPT = 512  # a session sends the same system prompt turn after turn
_LINES_KEPT = 16_384  # and an editor the same lines, but for one
_LINE_BREAK = re.compile(r"(?<=\S\n)(?=\S)")
"""Between a line and the next, where the line feed is all the white space there is."""
_LINE_ENDS = (
    *("word", "Word.", "7", "42", "!?", '"', "'", "it's", "}", "，", "价格", "é", "🧶"),
    *("<|im_end|>", "a b", "_", "-", "#", "¥"),
)
_LINE_STARTS = (*_LINE_ENDS, "'s late", "## Title", "- item", "{", "1.", "\u0301")


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

    def count_whole(text: str) -> int:
        return len(tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False).ids)

    if not reads_by_line(count_whole):
        return functools.lru_cache(maxsize=_TEXTS_KEPT)(count_whole)
    count_line = functools.lru_cache(maxsize=_LINES_KEPT)(count_whole)

    @functools.lru_cache(maxsize=_TEXTS_KEPT)
    def count(text: str) -> int:
        return sum(count_line(line) for line in _LINE_BREAK.split(text))

    return count


def reads_by_line(count: TokenCounter) -> bool:
    """Whether a text has as many tokens as its lines have together, so that after an edit only the new line need be read.

    So it is with tokenizers that cut a text at white space before anything else, as those of GPT-2's kind do; not with those that
    put a mark before the first word. Tried out on every pair of kinds of characters that such cuts tell apart.
    """
    return all(
        count(f"{left}\n{right}") == count(f"{left}\n") + count(right) for left in _LINE_ENDS for right in _LINE_STARTS
    )
