"""JSON and text as Tackroom accepts and hashes them.

Everything a harness holds is plain JSON. Two rules live here because identity rests on them: how untrusted JSON is read
(duplicate keys, NaN and bottomless nesting are refused, not guessed at), and how a value is written to be hashed.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

JsonValue = Any
JsonObject = dict[str, Any]

MAX_JSON_BYTES = 5_000_000
MAX_JSON_DEPTH = 40
_SAFE_INTEGER = 2**53

_ALLOWED_CONTROL = {"\n", "\t"}


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
    in_string = False
    is_escaped = False
    for char in text:
        if in_string:
            if is_escaped:
                is_escaped = False
            elif char == "\\":
                is_escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > max_depth:
                raise JsonInputError(f"The JSON is nested deeper than {max_depth} levels. Flatten it.")
        elif char in "]}":
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


def canonical_json(value: JsonValue) -> str:
    """Write a JSON value in the one form that is hashed.

    Keys sorted by code point, no white space, UTF-8 characters unescaped, integral floats as integers: the parts of RFC 8785
    (JSON Canonicalization Scheme) that matter for values without large floats. Raises ValueError for NaN and Infinity.
    """
    return json.dumps(_normalised(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _normalised(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer() and abs(value) < _SAFE_INTEGER:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _normalised(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_normalised(item) for item in value]
    return value


def content_hash(value: JsonValue) -> str:
    """SHA-256, as 64 lower-case hex digits, of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


def clean_text(text: str) -> str:
    """Bring a text to the one form that is stored: Unicode NFC, line ends as LF.

    Raises ValueError for characters that no prompt should hold and PostgreSQL or UTF-8 cannot store: NUL and other control
    characters, lone surrogates.
    """
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    for position, char in enumerate(cleaned):
        if unicodedata.category(char) in ("Cc", "Cs") and char not in _ALLOWED_CONTROL:
            raise ValueError(f"holds the control character U+{ord(char):04X} at position {position}; remove it")
    return cleaned


Text = Annotated[str, AfterValidator(clean_text)]
