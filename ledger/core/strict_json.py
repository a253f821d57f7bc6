"""Untrusted JSON, read strictly.

Duplicate keys, NaN and bottomless nesting are refused, not guessed at. It lives in the lowest layer because the REST parser
and the harness formats both read JSON that somebody else wrote.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

JsonValue = Any
JsonObject = dict[str, Any]

MAX_JSON_BYTES = 5_000_000
MAX_JSON_DEPTH = 40
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string, closed or not, or a bracket outside of strings. Possessive: what is no string is not looked at twice."""


class JsonInputError(ValueError):
    """Text that is not acceptable JSON; the message says what was found and what to do."""


def parse_json(text: str | bytes, *, max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_JSON_DEPTH) -> JsonValue:
    """Read untrusted JSON.

    Raises JsonInputError for broken syntax, duplicate keys, NaN or Infinity, wrong encoding, more than `max_bytes` bytes or
    nesting deeper than `max_depth`.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > max_bytes:
        raise JsonInputError(
            f"The JSON is {len(raw):,} bytes; the limit is {max_bytes:,}. Split it or shorten its texts."
        )
    try:
        decoded = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonInputError(f"The JSON is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    _check_depth(decoded, max_depth)
    try:
        return json.loads(
            decoded,
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except JsonInputError:
        raise
    except json.JSONDecodeError as error:
        raise JsonInputError(f"Not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}.") from error
    except (RecursionError, ValueError) as error:
        raise JsonInputError(f"Not valid JSON: {error}.") from error


def _check_depth(text: str, max_depth: int) -> None:
    depth = 0
    # Whole strings are passed over in one step: a look at every character would take longer than reading the JSON itself.
    for match in _BRACKETS.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > max_depth:
                raise JsonInputError(f"The JSON is nested deeper than {max_depth} levels. Flatten it.")
        elif mark in "]}":
            depth -= 1


def _object_without_duplicates(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    result: JsonObject = {}
    for key, value in pairs:
        if key in result:
            raise JsonInputError(f'The key "{key}" appears twice in one object. Keep one of the two.')
        result[key] = value
    return result


def _refuse_constant(name: str) -> JsonValue:
    raise JsonInputError(f"{name} is not a JSON number. Use a finite number or null.")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonInputError(f"The number {text[:40]} is too large. Use a finite number.")
    return value
