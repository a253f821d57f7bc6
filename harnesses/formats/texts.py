"""Text files of a harness folder: decoding, and Markdown with YAML front matter.

A body is kept to the letter, whether it begins with `---` or ends without a line end: after the front matter comes one empty
line, then the body, then one line end, and reading takes exactly those two away again (or takes the body whole where a person
left them out).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from harnesses.core.jsonvalues import JsonObject, clean_text
from harnesses.formats.outcome import FormatError
from harnesses.formats.safe_yaml import YamlInputError, dump_yaml, parse_yaml

_FENCE = "---\n"
_SLUG_LENGTH = 48


def decode_text(data: bytes, where: str) -> str:
    """Bytes of one file as stored text (UTF-8, NFC, LF). Raises FormatError."""
    try:
        return clean_text(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError([(where, f"The file is not UTF-8 (byte {error.start}). Save it as UTF-8.")]) from error
    except ValueError as error:
        raise FormatError([(where, f"The file {error}.")]) from error


def write_front_matter(fields: JsonObject, body: str) -> bytes:
    """A Markdown file with `fields` as its front matter."""
    return f"{_FENCE}{dump_yaml(fields)}{_FENCE}\n{body}\n".encode()


def read_front_matter(data: bytes, where: str, *, as_strings: bool = False) -> tuple[JsonObject, str]:
    """Fields and body of a Markdown file. Raises FormatError if the front matter is missing or not a YAML mapping."""
    text = decode_text(data, where)
    if not text.startswith(_FENCE):
        raise FormatError(
            [(where, "The file has no front matter. Begin it with a line ---, the fields, and a line ---.")]
        )
    end = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, len(_FENCE))
    if end is None:
        raise FormatError([(where, "The front matter is not closed. End it with a line of its own: ---.")])
    try:
        fields = parse_yaml(text[len(_FENCE) : end.start()], as_strings=as_strings)
    except YamlInputError as error:
        raise FormatError([(where, f"In the front matter: {error}")]) from error
    if not isinstance(fields, dict):
        raise FormatError([(where, "The front matter holds no fields. Write lines such as name: sizing.")])
    body = text[end.end() :].removeprefix("\n")
    return fields, body.removesuffix("\n")


def slug(name: str) -> str:
    """A legal component id made from any name: lower-case ASCII words joined by hyphens, or `item` if nothing is left."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_name)[:_SLUG_LENGTH].strip("-_") or "item"


def unique_slug(name: str, taken: Collection[str]) -> str:
    """`slug(name)`, with the first free number behind it if it is taken."""
    base = slug(name)
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate
