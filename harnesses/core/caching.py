"""Remembering what was worked out of a frozen object, for as long as that object lives.

A harness is immutable, so everything derived from it alone (its hash, its tool documents, its name tables) can be kept. Keying
by equality would walk the whole harness on each look-up; keying by identity costs nothing, and `model_copy` starts afresh.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def cached_by_identity(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
    """Call `function` once per live object.

    The result must not refer back to its argument, or neither is ever freed.
    """
    entries: dict[int, tuple[weakref.ref[Key], Value]] = {}

    @functools.wraps(function)
    def look_up(key: Key) -> Value:
        address = id(key)
        entry = entries.get(address)
        if entry is not None and entry[0]() is key:
            return entry[1]
        value = function(key)
        entries[address] = (weakref.ref(key, lambda _: entries.pop(address, None)), value)
        return value

    return look_up
