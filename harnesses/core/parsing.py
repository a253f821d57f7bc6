"""From a JSON document to a `HarnessSpec`: limits, older schemas, clean text, and every problem told in plain words.

This is the one door by which documents come in (imports, API, editor, database). What passes it has the right shape and can be
stored and hashed; whether it makes sense is asked by `harnesses.core.validation`.
"""

from __future__ import annotations

import json
import marshal
import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harnesses.core.jsonvalues import (
    MAX_JSON_BYTES,
    MAX_JSON_DEPTH,
    JsonInputError,
    JsonObject,
    JsonValue,
    canonical_json,
    clean_text,
    parse_json,
)
from harnesses.core.schemas import shown
from harnesses.core.spec import SCHEMA_VERSION, HarnessSpec
from harnesses.core.upgrades import UpgradeError, upgrade

MAX_COMPONENTS = 1_000
MAX_TEXT_CHARS = 200_000
MAX_ENTRIES = 5_000
_MAX_PROBLEMS = 50
_MAX_PARTS_READ = 4_096
_MAX_PART_BYTES = 64_000
_parts_read: dict[tuple[str, bytes], Any] = {}
_COMPONENT_LISTS = ("prompt", "skills", "tools", "hooks", "examples")
_PARTS = frozenset({"schema_version", "runtime", *_COMPONENT_LISTS})
_SAFE_INTEGER = 2**53
_MAX_INTEGER_DIGITS = 300


@dataclass(frozen=True)
class InputProblem:
    """One thing wrong with a document: where ("tools[2].input_schema", empty for the whole), and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path} {self.message}" if self.path else self.message


class SpecInputError(ValueError):
    """A document that is no harness. `problems` holds all that was found, at least one."""

    def __init__(self, problems: tuple[InputProblem, ...]) -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self.problems = problems


def spec_from_json(text: str | bytes) -> HarnessSpec:
    """Read a harness from JSON text. Raises SpecInputError."""
    try:
        document = parse_json(text)
    except JsonInputError as error:
        raise SpecInputError((InputProblem("", str(error)),)) from error
    return spec_from_document(document)


def spec_from_document(document: JsonValue) -> HarnessSpec:
    """Read a harness from a JSON document of any known schema version. Raises SpecInputError."""
    return _from_known_parts(document) or _read_whole(document)


def _from_known_parts(document: JsonValue) -> HarnessSpec | None:
    """The harness, put together from components that were read before and are the same to the byte; None where that will not do.

    An editor sends the whole harness with every pause in typing, and one component of it is new. What is remembered of a
    component elsewhere (`cached_by_identity`) is so remembered from one document to the next.
    """
    if not isinstance(document, dict) or document.keys() - _PARTS or type(document.get("schema_version")) is not int:
        return None
    if document["schema_version"] != SCHEMA_VERSION:
        return None
    parts: dict[str, Any] = {}
    size = 0
    try:
        for name in _COMPONENT_LISTS:
            components = document.get(name, [])
            if type(components) is not list or len(components) > MAX_COMPONENTS:
                return None
            read = [_part(name, [component]) for component in components]
            parts[name] = tuple(part[0] for part, _ in read)
            size += sum(length for _, length in read)
        if "runtime" in document:
            parts["runtime"], length = _part("runtime", document["runtime"])
            size += length
    except (ValueError, RecursionError):
        return None  # What is wrong, and where in the whole, is for the careful way to say.
    return HarnessSpec(**parts) if size < MAX_JSON_BYTES // 2 else None


def _part(name: str, value: JsonValue) -> tuple[Any, int]:
    """A list of one component, or the runtime settings, and its length in bytes. Raises ValueError for what is none."""
    text = marshal.dumps(
        value, 2
    )  # Tells 1, 1.0 and true apart, keeps the order of keys, and refuses what is no plain JSON.
    key = (name, blake2b(text, digest_size=16).digest())
    found = _parts_read.get(key)
    if found is None:
        found = getattr(_read_whole({"schema_version": SCHEMA_VERSION, name: value}), name)
        if len(_parts_read) >= _MAX_PARTS_READ:
            _parts_read.clear()
        if len(text) <= _MAX_PART_BYTES:
            _parts_read[key] = found
    return found, len(text)


def _read_whole(document: JsonValue) -> HarnessSpec:
    if not isinstance(document, dict):
        raise _refusal("", f"A harness is a JSON object; this is {shown_kind(document)}.")
    if not document:
        raise _refusal(
            "",
            f'The harness is empty. Give at least "schema_version": {SCHEMA_VERSION} and what the harness is made of.',
        )
    for name in _COMPONENT_LISTS:
        count = len(document[name]) if isinstance(document.get(name), list) else 0
        if count > MAX_COMPONENTS:
            raise _refusal(name, f"holds {count:,} entries; the limit is {MAX_COMPONENTS:,}. Split the harness.")
    cleaner = _Cleaner()
    cleaned = cleaner.clean(document, "", 1)
    if cleaner.problems:
        raise SpecInputError(tuple(cleaner.problems[:_MAX_PROBLEMS]))
    size = len(canonical_json(cleaned).encode("utf-8"))
    if size > MAX_JSON_BYTES:
        raise _refusal(
            "", f"The harness is {size:,} bytes of JSON; the limit is {MAX_JSON_BYTES:,}. Shorten its texts."
        )
    try:
        current = upgrade(cleaned)
    except UpgradeError as error:
        raise _refusal(error.path, error.message) from error
    try:
        return HarnessSpec.model_validate_json(json.dumps(current), strict=True)
    except ValidationError as error:
        # A list whose entries fail is also reported as too short: only its entries are worth telling.
        details = [item for item in error.errors(include_url=False) if item["type"] != "too_short" or not item["input"]]
        raise SpecInputError(tuple(_in_words(detail) for detail in details[:_MAX_PROBLEMS])) from error


def _refusal(path: str, message: str) -> SpecInputError:
    return SpecInputError((InputProblem(path, message),))


def shown_kind(value: JsonValue) -> str:
    """What kind of JSON value this is, in words."""
    if isinstance(value, bool):
        return "true or false"
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", type(None): "null"}
    return kinds.get(type(value), f"no JSON value ({type(value).__name__})")


class _Cleaner:
    """Walks a document once: brings texts to their stored form, and collects what cannot be stored or hashed.

    Integral floats become integers, as in the canonical JSON, so that documents of one hash are also shown alike.
    """

    def __init__(self) -> None:
        self.problems: list[InputProblem] = []

    def clean(self, value: JsonValue, path: str, depth: int) -> JsonValue:
        if len(self.problems) >= _MAX_PROBLEMS:
            return None
        if depth > MAX_JSON_DEPTH and isinstance(value, dict | list):
            return self._refuse(path, f"is nested deeper than {MAX_JSON_DEPTH} levels. Flatten it.")
        if isinstance(value, str):
            return self._text(value, path)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if abs(value) >= 10**_MAX_INTEGER_DIGITS:
                return self._refuse(path, f"has more than {_MAX_INTEGER_DIGITS} digits. Use a smaller number.")
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                return self._refuse(path, f"is {value}, which is not a JSON number. Use a finite number or null.")
            return int(value) if value.is_integer() and abs(value) < _SAFE_INTEGER else value
        if isinstance(value, list | tuple | dict) and len(value) > MAX_ENTRIES:
            return self._refuse(path, f"has {len(value):,} entries; the limit is {MAX_ENTRIES:,}. Shorten it.")
        if isinstance(value, list | tuple):
            return [self.clean(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return self._object(value, path, depth)
        return self._refuse(path, f"is {shown_kind(value)}. Use a text, number, true, false, null, list or object.")

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(InputProblem(path, message))

    def _text(self, text: str, path: str) -> str:
        if len(text) > MAX_TEXT_CHARS:
            self._refuse(path, f"has {len(text):,} characters; the limit is {MAX_TEXT_CHARS:,}. Shorten or split it.")
            return ""
        try:
            return clean_text(text)
        except ValueError as error:
            self._refuse(path, f"{error}.")
            return ""

    def _object(self, value: dict[Any, Any], path: str, depth: int) -> JsonObject:
        cleaned: JsonObject = {}
        for key, item in value.items():
            if not isinstance(key, str):
                self._refuse(path, f"has the key {key!r}; keys must be texts.")
                continue
            name = self._text(key, f"{path} (a key)".strip())
            if name in cleaned:
                self._refuse(path, f"has two keys that both read {shown(name)}. Keep one of the two.")
            cleaned[name] = self.clean(item, f"{path}.{name}" if path else name, depth + 1)
        return cleaned


_WORDS = {
    "missing": "is missing. Add it.",
    "extra_forbidden": "is not a known field. Remove it or correct its name.",
    "model_type": "must be an object, not {found}.",
    "model_attributes_type": "must be an object, not {found}.",
    "dict_type": "must be an object, not {found}.",
    "tuple_type": "must be a list, not {found}.",
    "string_type": "must be a text, not {found}.",
    "int_type": "must be a whole number, not {found}.",
    "int_from_float": "must be a whole number, not {found}.",
    "float_type": "must be a number, not {found}.",
    "bool_type": "must be true or false, not {found}.",
    "literal_error": "must be {expected}, not {found}.",
    "too_short": "must have at least {min_length} entry.",
    "string_too_short": "must not be empty.",
    "greater_than_equal": "must be {ge} or more, not {found}.",
    "less_than_equal": "must be {le} or less, not {found}.",
    "union_tag_invalid": "must name one of {expected_tags}, not {tag}.",
}
_ID_WORDS = (
    'must be 1 to 64 of lower-case letters, digits, "_", "." and "-", starting with a letter or digit, not {found}. '
    "Names that people read go into the name."
)
_FACTOR_WORDS = 'must be a positive decimal written as a text such as "0.01" or "100", not {found}.'


def _in_words(detail: ErrorDetails) -> InputProblem:
    kind, found = detail["type"], detail["input"]
    context: dict[str, Any] = {"found": shown(found), **detail.get("ctx", {})}
    if kind == "string_pattern_mismatch":
        template = _FACTOR_WORDS if detail["loc"][-1] == "factor" else _ID_WORDS
    elif kind == "value_error":
        return InputProblem(_dotted(detail["loc"]), f"{detail['ctx']['error']}.")
    elif kind == "union_tag_not_found":
        discriminator = str(context["discriminator"]).strip("'")
        return InputProblem(f"{_dotted(detail['loc'])}.{discriminator}", "is missing. Add it.")
    else:
        template = _WORDS.get(kind, f"{detail['msg'][:1].lower()}{detail['msg'][1:]} (found {{found}}).")
    return InputProblem(_dotted(detail["loc"]), template.format_map(context))


def _dotted(location: tuple[int | str, ...]) -> str:
    """A pydantic location as a path; the tag of a union ("action", "check_reply") is no step of the document."""
    path = ""
    previous: int | str = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif previous not in ("action", "conversion"):
            path += f".{part}" if path else part
        previous = part
    return path
