"""The fields of a component as texts with lines, so that a comment or a difference can point at one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from harnesses.core.jsonvalues import JsonValue
from harnesses.core.kinds import Component, component_of
from harnesses.core.schemas import same_json
from harnesses.core.spec import HarnessSpec, RuntimeSettings

_UNSHOWN: Final = frozenset({"id"})


class FieldTexts(NamedTuple):
    """One field of a component in two harnesses; empty where it is empty or absent. Equal texts: the field did not change."""

    name: str
    old: str
    new: str


def component_texts(spec: HarnessSpec, kind: str, component_id: str) -> dict[str, str] | None:
    """The fields of one component as they are shown, in the order of the format; None where there is no such component.

    A text is itself, anything else is indented JSON in the author's key order. Empty fields are left out.
    """
    component = component_of(spec, kind, component_id)
    if component is None:
        return None
    return {name: _shown(value) for name, value in _fields(component).items() if not _is_empty(value)}


def compared_texts(
    old: Component | RuntimeSettings | None, new: Component | RuntimeSettings | None
) -> Iterator[FieldTexts]:
    """The fields of a component before and after, in the order of the format; None where it is not there.

    The older side is written in the key order of the newer one: keys that only moved are no difference, on the screen as in the
    hash.
    """
    left, right = _fields(old), _fields(new)
    for name in dict.fromkeys([*right, *left]):
        before, after = left.get(name), right.get(name)
        if _is_empty(before) and _is_empty(after):
            continue
        text = _shown(after)
        yield FieldTexts(name, text if same_json(before, after) else _shown(ordered_like(before, after)), text)


def line_of(text: str, number: int) -> str | None:
    """The line of that number, counted from 1; None where the text has no such line."""
    lines = text.split("\n")
    return lines[number - 1] if 1 <= number <= len(lines) else None


def ordered_like(value: JsonValue, model: JsonValue) -> JsonValue:
    """The same JSON value, its keys in the order in which `model` has them; keys of its own last, in their own order."""
    if isinstance(value, dict) and isinstance(model, dict):
        names = [*(name for name in model if name in value), *(name for name in value if name not in model)]
        return {name: ordered_like(value[name], model.get(name)) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        models = [*model, *([None] * len(value))]
        return [ordered_like(item, other) for item, other in zip(value, models, strict=False)]
    return value


def _fields(component: Component | RuntimeSettings | None) -> dict[str, JsonValue]:
    return component.model_dump(mode="json", exclude=set(_UNSHOWN)) if component is not None else {}


def _shown(value: JsonValue) -> str:
    if _is_empty(value):
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _is_empty(value: JsonValue) -> bool:
    return value is None or value == "" or value == [] or value == {}
