"""What changed in the texts of two harnesses, component by component and field by field.

A field that is JSON is shown in the key order of the newer side's author.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from console.component_words import KIND_PLURALS, KIND_TITLES, field_title
from console.presenters import Badge
from console.text_diff import TextDiff, text_diff
from harnesses.core.changes import kept_order
from harnesses.core.component_texts import compared_texts
from harnesses.core.kinds import KIND_FIELDS, Component, component_name, components_by_key
from harnesses.core.spec import HarnessSpec, RuntimeSettings

_ANCHORS = {"prompt": "section"}
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
    for kind, field in KIND_FIELDS.items():
        left, right = components_by_key(getattr(old, field)), components_by_key(getattr(new, field))
        found += _of_kind(kind, left, right, labels)
        before, after = kept_order(list(left), list(right))
        if before != after:
            found.append(_order(kind, left, right, (before, after), labels))
    runtime = tuple(_fields(old.runtime, new.runtime, labels))
    if runtime:
        title, state = KIND_TITLES["runtime"], _STATES["changed"]
        found.append(ComponentChange("runtime", "runtime", title, "", state, False, False, runtime))
    return tuple(found)


def _of_kind(
    kind: str, left: dict[str, Component], right: dict[str, Component], labels: tuple[str, str]
) -> Iterator[ComponentChange]:
    for key in _in_place(list(left), list(right)):
        before, after = left.get(key), right.get(key)
        fields = tuple(_fields(before, after, labels))
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


def _fields(
    old: Component | RuntimeSettings | None, new: Component | RuntimeSettings | None, labels: tuple[str, str]
) -> Iterator[FieldChange]:
    for field in compared_texts(old, new):
        diff = text_diff(field.old, field.new, old_label=labels[0], new_label=labels[1])
        if diff is not None:
            yield FieldChange(field_title(field.name), diff)


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
    return ComponentChange(kind, "", KIND_PLURALS[kind], "in another order", _STATES["changed"], False, False, fields)
