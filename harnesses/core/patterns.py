"""Regular expressions out of schemas, which anybody may write: matched within a time limit, compiled only where they stay small.

Python's own `re` can neither be stopped nor given a limit: one `(a+)+$` in a tool and a reply of forty letters would hold up the
process, and every other room with it, for years. `regex` takes the same patterns and a time limit. It writes counted repeats out
when it compiles, so these are counted first.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

import regex

MAX_PATTERN_CHARS: Final = 2_000
MAX_WRITTEN_OUT: Final = 5_000
"""How many characters and sets a pattern may have with its counted repeats written out: `(ab{3}){10}` has 40."""
MATCHING_S: Final = 0.2
"""How long all the patterns of a schema together may take on one value."""
_UNLIMITED: Final = float("inf")
_COUNT = regex.compile(r"\{(\d{0,9})(,?)(\d{0,9})\}")
_CLASS = regex.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*+\]", regex.DOTALL)
_deadline: ContextVar[float] = ContextVar("pattern_deadline", default=_UNLIMITED)


class PatternError(ValueError):
    """A pattern that cannot be used, or takes too long; the message says why."""


@contextlib.contextmanager
def matching_limit(seconds: float = MATCHING_S) -> Iterator[None]:
    """Within it, `is_found` takes no longer than this, all calls together."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def is_found(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text. Raises PatternError, also where it takes too long."""
    compiled = _compiled(pattern)
    left_s = min(_deadline.get() - time.monotonic(), MATCHING_S)
    try:
        if left_s <= 0:
            raise TimeoutError
        return compiled.search(text, timeout=left_s) is not None
    except (TimeoutError, MemoryError) as error:
        raise PatternError(f"the pattern {pattern[:80]!a} takes too long on a text; write it simpler") from error


def pattern_problem(pattern: str) -> str:
    """Why a pattern cannot be used; empty where it can."""
    try:
        _compiled(pattern)
    except PatternError as error:
        return str(error)
    return ""


def _compiled(pattern: str) -> regex.Pattern[str]:
    # Kept by `regex` itself. Its errors are of many kinds: it was not made for patterns that strangers write.
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternError(f"the pattern has {len(pattern):,} characters; the limit is {MAX_PATTERN_CHARS:,}")
    if (size := _written_out(pattern)) > MAX_WRITTEN_OUT:
        detail = f"has {size:,} characters with its repeats written out; the limit is {MAX_WRITTEN_OUT:,}"
        raise PatternError(f"the pattern {pattern[:80]!a} {detail}")
    try:
        return regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError, KeyError, IndexError) as error:
        raise PatternError(f"the pattern {pattern[:80]!a} is no regular expression: {str(error)[:120]}") from error


def _written_out(pattern: str) -> int:
    """How long a pattern is with its counted repeats written out. Brackets that do not match are left to the compiler."""
    groups, last, place = [0], 0, 0
    while place < len(pattern):
        char = pattern[place]
        if char == "{" and (count := _COUNT.match(pattern, place)):
            times = max(int(count[1] or 0), int(count[3] or 0), 1)
            groups[-1] += last * (times - 1)
            last, place = last * times, count.end()
            continue
        if char == "(":
            groups.append(0)
        elif char == ")" and len(groups) > 1:
            last = groups.pop() + 1
            groups[-1] += last
        else:
            last = 1
            groups[-1] += 1
        found = _CLASS.match(pattern, place) if char == "[" else None
        place = found.end() if found else place + (2 if char == "\\" else 1)
    return sum(groups)
