"""One change between two harnesses, and comparing plain JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harnesses.core.jsonvalues import JsonValue
from harnesses.core.kinds import Kind
from harnesses.core.schemas import same_json

Action = Literal["added", "removed", "renamed", "reordered", "changed"]


@dataclass(frozen=True)
class Change:
    """One change of one component.

    `field` says what within the component, dotted (`input_schema.properties.item.description`, `binding.cases.get_price`); it
    is empty where the whole component was added or removed, and `order` where the components of a kind were permuted
    (`component_id` is then empty; `before` and `after` hold the ids that are in both). `old_name` is None for what is new,
    `new_name` for what is gone. For a parameter or result key that was renamed, `before` and `after` are its dotted names.
    """

    action: Action
    kind: Kind
    component_id: str
    old_name: str | None
    new_name: str | None
    field: str
    before: JsonValue
    after: JsonValue

    @property
    def component_name(self) -> str:
        """The name people know now, or knew last."""
        return (self.new_name if self.new_name is not None else self.old_name) or ""


class JsonChange(NamedTuple):
    """One difference between two JSON values, at a dotted path."""

    action: Action
    path: str
    before: JsonValue
    after: JsonValue


def diff_json(path: str, before: JsonValue, after: JsonValue, *, is_whole: bool = False) -> Iterator[JsonChange]:
    """Differences of two JSON values: objects key by key, everything else (or with `is_whole`) in one piece."""
    if isinstance(before, dict) and isinstance(after, dict) and not is_whole:
        for key in sorted(before.keys() | after.keys()):
            inner = f"{path}.{key}"
            if key not in after:
                yield JsonChange("removed", inner, before[key], None)
            elif key not in before:
                yield JsonChange("added", inner, None, after[key])
            else:
                yield from diff_json(inner, before[key], after[key])
    elif not same_json(before, after):
        yield JsonChange("changed", path, before, after)


def kept_order(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sequences without what only one of them has: they differ only if something really moved."""
    left, right = set(before), set(after)
    return [key for key in before if key in right], [key for key in after if key in left]
