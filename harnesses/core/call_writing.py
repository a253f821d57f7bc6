"""How a tool call is written down, in the two call formats a harness can choose.

`hermes`: `<tool_call>{"name": "price", "arguments": {"item": "T12"}}</tool_call>`, what larger models expect.
`plain`: `CALL price; item: T12`, which small tokenizers spell better (no quotes between a space and a word).

Writing lives in `core` because templates write example calls; reading a model's output is the runtime's
(`harnesses.runtime.call_formats`). Reading back what is written here gives the same call.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from harnesses.core.jsonvalues import JsonObject, JsonValue

CallFormat = Literal["hermes", "plain"]

HERMES_OPEN = "<tool_call>"
HERMES_CLOSE = "</tool_call>"
PLAIN_MARK = "CALL"

_SIMPLE_NAME = re.compile(r"[^\W\d][\w.-]*\Z")
"""A name or key that can stand unquoted: starts with a letter (of any script) or underscore."""
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_NOT_BARE = re.compile(r'[;"\n\r\t\x00-\x1f\x7f-\x9f\u2028\u2029]|\s\Z|\A\s|\A[\[{]')
MERGED_KEY = re.compile(r"\s([^\W\d][\w.-]*):(?=\s|\Z)")
"""A second `key:` inside one bare value: two arguments run together."""


def write_call(call_format: CallFormat, name: str, arguments: JsonObject) -> str:
    """Write one call in the given format. Raises ValueError for NaN and Infinity."""
    if call_format == "hermes":
        return f"{HERMES_OPEN}{_json({'name': name, 'arguments': arguments})}{HERMES_CLOSE}"
    parts = [f"{PLAIN_MARK} {_plain_name(name)}"]
    parts += [f"{_plain_name(key)}: {_plain_value(value)}" for key, value in arguments.items()]
    return "; ".join(parts)


def reads_as_scalar(text: str) -> bool:
    """Whether bare text in the plain format means a number, true, false or null instead of a string."""
    return text in ("true", "false", "null") or _NUMBER.match(text) is not None


def is_simple_name(text: str) -> bool:
    """Whether a tool name or key can stand in the plain format without quotes."""
    return _SIMPLE_NAME.match(text) is not None


def _plain_name(name: str) -> str:
    return name if is_simple_name(name) else _json(name)


def _plain_value(value: JsonValue) -> str:
    if not isinstance(value, str):
        return _json(value)
    needs_quotes = (
        not value
        or reads_as_scalar(value)
        or _NOT_BARE.search(value) is not None
        or MERGED_KEY.search(value) is not None
    )
    return _json(value) if needs_quotes else value


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Line separators that JSON lets stand would break the one-line rule of the plain format.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")
