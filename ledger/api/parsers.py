"""Request bodies, read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from ledger.core.strict_json import MAX_JSON_BYTES, JsonInputError, JsonValue, parse_json
from ledger.core.text import clean_text
from ledger.errors import TooLarge

MAX_UPLOAD_BYTES = 25_000_000
_SUSPECT = re.compile(r"\\[ubf]|[\x7f-\x9f]")
"""What a character that cannot be stored can look like in JSON: an escape, or itself. Without any, no text need be looked at."""


class StrictJSONParser(BaseParser):
    """JSON without duplicate keys, NaN, bottomless nesting, NUL or broken characters. At most 5 MB."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> JsonValue:
        raw = read_limited(stream, MAX_JSON_BYTES)
        try:
            value = parse_json(raw)
            if _SUSPECT.search(raw.decode("utf-8-sig")):
                _refuse_unstorable(value, "")
        except JsonInputError as error:
            raise ParseError(str(error)) from error
        return value


@dataclass(frozen=True)
class RawBody:
    """A body that is a file as it stands."""

    content: bytes


class RawBodyParser(BaseParser):
    """Any body as bytes, at most 25 MB: an upload without a form around it."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        return RawBody(read_limited(stream, MAX_UPLOAD_BYTES))


def read_limited(stream: IO[Any], max_bytes: int) -> bytes:
    """The stream's bytes. Raises TooLarge past the limit, without reading on."""
    raw = bytes(stream.read(max_bytes + 1))
    if len(raw) > max_bytes:
        raise TooLarge(f"The body is larger than {max_bytes:,} bytes. Shorten it or split it.")
    return raw


def _refuse_unstorable(value: JsonValue, path: str) -> None:
    """Raise JsonInputError for a text, key or value, with a character that the database cannot keep."""
    if isinstance(value, str):
        try:
            clean_text(value)
        except ValueError as error:
            raise JsonInputError(f"{path or 'The body'} {error}.") from error
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_unstorable(key, f'The key "{key[:40]!a}"')
            _refuse_unstorable(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_unstorable(item, f"{path}[{index}]")
