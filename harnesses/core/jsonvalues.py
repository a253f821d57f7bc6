"""JSON and text as Tackroom accepts and hashes them.

Everything a harness holds is plain JSON. How a value is written to be hashed is decided here, because identity rests on it;
how untrusted JSON and text are read is the ledger's rule (`ledger.core`), shared with the REST API and offered here again.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

from pydantic import AfterValidator

from ledger.core.strict_json import (
    MAX_JSON_BYTES,
    MAX_JSON_DEPTH,
    JsonInputError,
    JsonObject,
    JsonValue,
    parse_json,
)
from ledger.core.text import clean_text

_SAFE_INTEGER = 2**53

__all__ = [
    "MAX_JSON_BYTES",
    "MAX_JSON_DEPTH",
    "JsonInputError",
    "JsonObject",
    "JsonValue",
    "Text",
    "canonical_json",
    "clean_text",
    "content_hash",
    "parse_json",
]


def canonical_json(value: JsonValue) -> str:
    """Write a JSON value in the one form that is hashed.

    Keys sorted by code point, no white space, UTF-8 characters unescaped, integral floats as integers: the parts of RFC 8785
    (JSON Canonicalization Scheme) that matter for values without large floats. Raises ValueError for NaN and Infinity.
    """
    return json.dumps(_normalised(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _normalised(value: JsonValue) -> JsonValue:
    # Concrete types, not the abstract Mapping and Sequence: this runs over every value of a harness, and they cost five times more.
    if isinstance(value, dict):
        return {key: _normalised(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_normalised(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _SAFE_INTEGER:
        return int(value)
    return value


def content_hash(value: JsonValue) -> str:
    """SHA-256, as 64 lower-case hex digits, of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


Text = Annotated[str, AfterValidator(clean_text)]
