"""What changed in the texts of two harnesses, component by component and field by field.

A field that is JSON is shown in its author's key order. The older side is written in the order of the newer one, so that keys
that only moved are no difference, on the screen as in the hash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from console.presenters import Badge
from console.review_diffs import KIND_TITLES, field_title
from console.text_diff import TextDiff, text_diff
from harnesses.core.changes import kept_order
from harnesses.core.diff import KINDS, Component, component_name, components_by_key
from harnesses.core.schemas import same_json
from harnesses.core.spec import HarnessSpec

_ANCHORS = {"prompt": "section"}
_PLURALS = {"prompt": "Prompt sections", "skill": "Skills", "tool": "Tools", "hook": "Hooks", "example": "Examples"}
_STATES = {"added": Badge("Added", "ok"), "removed": Badge("Removed", "bad"), "changed": Badge("Changed", "info")}


@dataclass(frozen=True)
class FieldChange:
    """One field that differs, as text."""

    title: str
    diff: TextDiff


@dataclass(frozen=True)
class ComponentChange:
    """One component that differs (or, with an empty `id`, the order of a kind). `key` names it within the page."""

    kind: str
    id: str
    title: str
    name: str
    state: Badge
    is_added: bool
    is_removed: bool
    fields: tuple[FieldChange, ...]

    @property
    def key(self) -> str:
        return component_key(self.kind, self.id or "order")

    @property
    def anchor(self) -> str:
        """The component's place on a version's page."""
        return component_anchor(self.kind, self.id)


def component_key(kind: str, component_id: str) -> str:
    """The name of a component's place on a comparison page."""
    return f"c-{kind}-{component_id}"


def component_anchor(kind: str, component_id: str) -> str:
    """The name of a component's place on the page of a version."""
    return "runtime" if kind == "runtime" else f"{_ANCHORS.get(kind, kind)}-{component_id}"


def component_changes(
    old: HarnessSpec, new: HarnessSpec, *, old_label: str, new_label: str
) -> tuple[ComponentChange, ...]:
    """Every component that differs, in the order of the format; what was removed stands where it stood."""
    labels = (old_label, new_label)
    found: list[ComponentChange] = []
    for kind, field in KINDS:
        left, right = components_by_key(getattr(old, field)), components_by_key(getattr(new, field))
        found += _of_kind(kind, left, right, labels)
        before, after = kept_order(list(left), list(right))
        if before != after:
            found.append(_order(kind, left, right, (before, after), labels))
    runtime = tuple(_fields(old.runtime.model_dump(mode="json"), new.runtime.model_dump(mode="json"), labels))
    if runtime:
        title, state = KIND_TITLES["runtime"], _STATES["changed"]
        found.append(ComponentChange("runtime", "runtime", title, "", state, False, False, runtime))
    return tuple(found)


def _of_kind(
    kind: str, left: dict[str, Component], right: dict[str, Component], labels: tuple[str, str]
) -> Iterator[ComponentChange]:
    for key in _in_place(list(left), list(right)):
        before, after = left.get(key), right.get(key)
        fields = tuple(_fields(_document(before), _document(after), labels))
        shown = after or before
        if not fields or shown is None:
            continue
        state = "added" if before is None else "removed" if after is None else "changed"
        yield ComponentChange(
            kind,
            key,
            KIND_TITLES[kind],
            component_name(shown),
            _STATES[state],
            before is None,
            after is None,
            fields,
        )


def _in_place(old: list[str], new: list[str]) -> list[str]:
    """The keys of the new order, each removed one after what stood before it."""
    result = list(new)
    for index, key in enumerate(old):
        if key not in result:
            result.insert(result.index(old[index - 1]) + 1 if index else 0, key)
    return result


def _document(component: Component | None) -> dict[str, Any]:
    return component.model_dump(mode="json", exclude={"id"}) if component is not None else {}


def _fields(old: dict[str, Any], new: dict[str, Any], labels: tuple[str, str]) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*new, *old]):
        before, after = old.get(name), new.get(name)
        if same_json(before, after):
            continue
        diff = text_diff(_shown(ordered_like(before, after)), _shown(after), old_label=labels[0], new_label=labels[1])
        if diff is not None:
            yield FieldChange(field_title(name), diff)


def _order(
    kind: str,
    left: dict[str, Component],
    right: dict[str, Component],
    orders: tuple[list[str], list[str]],
    labels: tuple[str, str],
) -> ComponentChange:
    old, new = (
        "\n".join(component_name(held[key]) for key in order) for held, order in zip((left, right), orders, strict=True)
    )
    diff = text_diff(old, new, old_label=labels[0], new_label=labels[1])
    fields = (FieldChange("Order", diff),) if diff is not None else ()
    return ComponentChange(kind, "", _PLURALS[kind], "in another order", _STATES["changed"], False, False, fields)


def ordered_like(value: Any, model: Any) -> Any:
    """The same JSON value, its keys in the order in which `model` has them; keys of its own last, in their own order."""
    if isinstance(value, dict) and isinstance(model, dict):
        names = [*(name for name in model if name in value), *(name for name in value if name not in model)]
        return {name: ordered_like(value[name], model.get(name)) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        models = [*model, *([None] * len(value))]
        return [ordered_like(item, other) for item, other in zip(value, models, strict=False)]
    return value


def _shown(value: Any) -> str:
    """A field as text; an empty one is no text at all."""
    if value is None or value in ("", [], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
