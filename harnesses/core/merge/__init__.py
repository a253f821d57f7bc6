"""Two people's changes of one harness, put together: three-way merge by component id and field.

Changes of different components, fields, keys and lines never get in one another's way. What both changed, each in its own way,
is a conflict: mine stays, and the conflict holds all three values and the edits by which another is chosen. Nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harnesses.core.diff import diff_specs
from harnesses.core.fieldpaths import format_path
from harnesses.core.headlines import change_words
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.kinds import KIND_FIELDS, Kind, component_name, components_by_key
from harnesses.core.merge.sequences import merge_order
from harnesses.core.merge.values import ABSENT, ValueMerger, is_same
from harnesses.core.spec import HarnessSpec

__all__ = ["MergeConflict", "MergeResult", "Side", "merge_specs"]

Side = Literal["base", "mine", "theirs"]


@dataclass(frozen=True)
class MergeConflict:
    """One place that both sides changed, each in its own way. The merged harness holds mine.

    `key` names the place within the merge. `field` is its path within the component (`harnesses.core.fieldpaths`), empty for the
    component as a whole, `order` (with an empty `component_id`) for the order of a kind. `missing` says on which sides there is no
    value, which is then None. `after` is the component behind which theirs stands, should it have to be added.
    """

    key: str
    kind: Kind
    component_id: str
    component_name: str
    field: str
    base: JsonValue
    mine: JsonValue
    theirs: JsonValue
    missing: tuple[Side, ...] = ()
    after: str | None = None

    def edits(self, side: Side) -> tuple[JsonObject, ...]:
        """The edits (`harnesses.core.editing`) that put this side's value into the merged harness; none for mine."""
        if side == "mine":
            return ()
        value = self.theirs if side == "theirs" else self.base
        if self.field == "order":
            return _moves(self.kind, value)
        target: JsonObject = {"kind": self.kind, "id": self.component_id}
        if self.field:
            if side in self.missing:
                return ({"op": "set", **target, "unset": [self.field]},)
            return ({"op": "set", **target, "fields": {self.field: value}},)
        removed: tuple[JsonObject, ...] = () if "mine" in self.missing else ({"op": "remove", **target},)
        if side in self.missing:
            return removed
        return *removed, {"op": "add", "kind": self.kind, "component": value, "after": self.after}

    def document(self) -> JsonObject:
        """The conflict as JSON, with the edits that choose each side."""
        return {
            "key": self.key,
            "kind": self.kind,
            "component_id": self.component_id,
            "component_name": self.component_name,
            "field": self.field,
            "base": self.base,
            "mine": self.mine,
            "theirs": self.theirs,
            "missing": list(self.missing),
            "edits": {"base": list(self.edits("base")), "mine": [], "theirs": list(self.edits("theirs"))},
        }


@dataclass(frozen=True)
class MergeResult:
    """The merged harness, what is left to decide, and in a line each what of theirs was taken over into mine."""

    spec: HarnessSpec
    conflicts: tuple[MergeConflict, ...]
    taken: tuple[str, ...]


def merge_specs(base: HarnessSpec, mine: HarnessSpec, theirs: HarnessSpec) -> MergeResult:
    """Put the changes from `base` to `theirs` into `mine`. Where only one side changed anything, the result is that side."""
    if is_same(mine.document(), theirs.document()) or is_same(base.document(), theirs.document()):
        return MergeResult(mine, (), ())
    document: JsonObject = {"schema_version": mine.schema_version}
    conflicts: list[MergeConflict] = []
    for kind, field in KIND_FIELDS.items():
        merger = _KindMerger(kind, *(components_by_key(getattr(spec, field)) for spec in (base, mine, theirs)))
        document[field] = merger.merged()
        conflicts += merger.conflicts
    runtime = ValueMerger()
    sides = (spec.runtime.model_dump(mode="json") for spec in (base, mine, theirs))
    document["runtime"] = runtime.merge((), *sides)
    conflicts += _of_component("runtime", "runtime", "runtime", runtime)
    merged = HarnessSpec.model_validate(document)
    return MergeResult(merged, tuple(conflicts), tuple(change_words(item) for item in diff_specs(mine, merged).changes))


class _KindMerger:
    """Merges the components of one kind."""

    def __init__(self, kind: Kind, *sides: dict[str, Any]) -> None:
        self.kind = kind
        self.sides = sides
        self.base, self.mine, self.theirs = (
            {key: component.model_dump(mode="json") for key, component in side.items()} for side in sides
        )
        self.conflicts: list[MergeConflict] = []

    def merged(self) -> list[JsonObject]:
        found: dict[str, JsonObject] = {}
        for key in {**self.base, **self.mine, **self.theirs}:
            value = self._component(key)
            if value is not ABSENT:
                found[key] = value
        order = merge_order(list(self.base), list(self.mine), list(self.theirs), found)
        if order is None:
            order = merge_order(list(self.theirs), list(self.mine), list(self.theirs), found)
            self._order_conflict()
        assert order is not None
        return [found[key] for key in order]

    def _component(self, key: str) -> Any:
        base, mine, theirs = (side.get(key, ABSENT) for side in (self.base, self.mine, self.theirs))
        if ABSENT in (base, mine, theirs):
            if is_same(mine, theirs) or is_same(base, theirs):
                return mine
            if is_same(base, mine):
                return theirs
            self.conflicts.append(self._whole(key, base, mine, theirs))
            return mine
        merger = ValueMerger()
        merged = merger.merge((), base, mine, theirs)
        self.conflicts += _of_component(self.kind, key, self._name(key), merger)
        return merged

    def _whole(self, key: str, base: Any, mine: Any, theirs: Any) -> MergeConflict:
        sides: dict[Side, Any] = {"base": base, "mine": mine, "theirs": theirs}
        missing = tuple(side for side, value in sides.items() if value is ABSENT)
        values = {side: None if value is ABSENT else value for side, value in sides.items()}
        after = self._predecessor(key, self.base if theirs is ABSENT else self.theirs)
        place = f"{self.kind}:{key}"
        return MergeConflict(
            place, self.kind, key, self._name(key), "", values["base"], values["mine"], values["theirs"], missing, after
        )

    def _predecessor(self, key: str, side: dict[str, Any]) -> str | None:
        keys = list(side)
        before = keys[: keys.index(key)] if key in side else []
        return next((item for item in reversed(before) if item in self.mine), None)

    def _name(self, key: str) -> str:
        base, mine, theirs = self.sides
        return component_name(mine.get(key) or theirs.get(key) or base[key])

    def _order_conflict(self) -> None:
        orders = [[key for key in side if key in self.mine] for side in (self.base, self.mine, self.theirs)]
        base, mine, theirs = orders
        self.conflicts.append(MergeConflict(f"{self.kind}:order", self.kind, "", "", "order", base, mine, theirs))


def _of_component(kind: Kind, key: str, name: str, merger: ValueMerger) -> Iterator[MergeConflict]:
    for item in merger.conflicts:
        path = format_path(item.path)
        sides: dict[Side, Any] = {"base": item.base, "mine": item.mine, "theirs": item.theirs}
        missing = tuple(side for side, value in sides.items() if value is ABSENT)
        base, mine, theirs = (None if value is ABSENT else value for value in sides.values())
        yield MergeConflict(f"{kind}:{key}:{path}", kind, key, name, path, base, mine, theirs, missing)


def _moves(kind: Kind, order: JsonValue) -> tuple[JsonObject, ...]:
    keys: Sequence[str] = order if isinstance(order, list) else []
    before = [None, *keys]
    return tuple(
        {"op": "move", "kind": kind, "id": key, "after": after} for after, key in zip(before, keys, strict=False)
    )
