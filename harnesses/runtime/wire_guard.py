"""Keeping what viewers and platforms write apart from what the runtime writes.

A viewer's comment, a viewer's name or a text in a result could spell a chat mark or a tool result and so speak in the
runtime's voice. Here such marks are broken, visibly and cheaply; everything else stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_CHAT_MARK: Final = re.compile(r"<(?=\|)|(?<=\|)>")
_WIRE_TAG: Final = re.compile(r"<(?=/?tool[_-]?(call|response)s?\b)", re.IGNORECASE)
_WIRE_LINE: Final = re.compile(r"(^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])([^\S\n]*)(?=(CALL|RESULT)\b)")
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")


def guard_text(text: str) -> str:
    """The text with chat marks (`<|im_start|>`), tool tags and lines that look like a call or a result broken up.

    `<|` becomes `< |`, `<tool_response>` becomes `< tool_response>`, a line starting with RESULT or CALL gets `> ` before it;
    control characters and lone surrogates become U+FFFD. Guarding twice changes nothing more.
    """
    text = storable_text(text)
    if "<" in text or "|>" in text:
        text = _CHAT_MARK.sub(lambda match: "< " if match[0] == "<" else " >", text)
        text = _WIRE_TAG.sub("< ", text)
    return _WIRE_LINE.sub(r"\1\2> ", text)


def storable_text(text: str) -> str:
    """The text with what no database or wire takes (NUL and other control characters, lone surrogates) as U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def is_storable(value: Any) -> bool:
    """Whether no string in a JSON value, keys included, holds such a character."""
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is None
    if isinstance(value, Mapping):
        return all(is_storable(key) and is_storable(item) for key, item in value.items())
    return not isinstance(value, list) or all(is_storable(item) for item in value)


def guard_values(value: Any) -> Any:
    """The same JSON value with every string in it guarded (keys stay)."""
    if isinstance(value, str):
        return guard_text(value)
    if isinstance(value, Mapping):
        return {key: guard_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [guard_values(item) for item in value]
    return value
