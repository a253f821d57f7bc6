"""From the parts of a harness as plain JSON to a checked spec, with problems named by the file they came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from harnesses.core.jsonvalues import JsonObject, canonical_json
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.spec import HarnessSpec
from harnesses.formats.outcome import FormatError

_DISCRIMINATORS = ("kind", "type")


def build_spec(document: JsonObject, files: Mapping[str, str] | None = None) -> HarnessSpec:
    """Check a document and make the spec. `files` maps a component such as `tools.0` (or `runtime`) to its file.

    Raises FormatError.
    """
    try:
        return spec_from_document(document)
    except SpecInputError as error:
        raise FormatError((_place(problem.path, files or {}), problem.message) for problem in error.problems) from error


def _place(path: str, files: Mapping[str, str]) -> str:
    plain = re.sub(r"\[(\d+)\]", r".\1", path)
    component, rest = ".".join(plain.split(".")[:2]), ".".join(plain.split(".")[2:])
    if component not in files:
        whole = files.get(component.partition(".")[0])
        return f"{whole}: {path}" if whole else path
    return f"{files[component]}: {rest}" if rest else files[component]


def compact(model: BaseModel) -> JsonObject:
    """A specification class as JSON without the fields that have their default value: what a person would have written.

    Keys stand in the order of the class; inside free JSON (schemas, constants) they are sorted, so that equal hashes give equal
    texts.
    """
    full = model.model_dump(mode="json")
    kept = {}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        has_default = not info.is_required() and _same(value, info.get_default(call_default_factory=True))
        if name in _DISCRIMINATORS or not has_default:
            kept[name] = _compact_value(value, full[name])
    return kept


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, BaseModel) and isinstance(default, BaseModel):
        return value.model_dump_json() == default.model_dump_json()
    if isinstance(value, BaseModel) or isinstance(default, BaseModel):
        return False
    if isinstance(value, tuple):
        return not value and not default
    return canonical_json(value) == canonical_json(default)


def _compact_value(value: Any, dumped: Any) -> Any:
    if isinstance(value, BaseModel):
        return compact(value)
    if isinstance(value, tuple):
        return [_compact_value(item, plain) for item, plain in zip(value, dumped, strict=True)]
    return json.loads(canonical_json(dumped))
