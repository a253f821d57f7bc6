"""Three-way merge of one JSON value: objects key by key, texts line by line, lists by what their entries mean.

Whatever cannot be merged is a conflict, kept as mine, with all three values. What one side removed and the other changed is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from harnesses.core.fieldpaths import FieldPath
from harnesses.core.jsonvalues import JsonObject, JsonValue, canonical_json
from harnesses.core.merge.sequences import merge_order, merge_sequences
from harnesses.core.schemas import same_json


class Absent(Enum):
    """Stands for a value that is not there. `None` cannot: null is a JSON value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def is_same(one: Any, other: Any) -> bool:
    """Equality of two JSON values, either of which may be absent."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return one is other or same_json(one, other)


@dataclass(frozen=True)
class ValueConflict:
    """One place that both sides changed, each in its own way. Values are JSON or ABSENT."""

    path: FieldPath
    base: Any
    mine: Any
    theirs: Any


def _name_of(*names: str) -> Callable[[JsonValue], str]:
    return lambda entry: canonical_json([entry.get(name) for name in names])


_ENTRY_KEYS: Final[Mapping[tuple[str, ...], Callable[[JsonValue], str]]] = {
    ("allowed_tools",): canonical_json,
    ("matcher",): canonical_json,
    ("parameter_order",): canonical_json,
    ("action", "phrases"): canonical_json,
    ("action", "drop"): canonical_json,
    ("binding", "cases"): _name_of("operation", "when"),
    ("binding", "ignored"): canonical_json,
    ("binding", "surface_constants"): _name_of("path"),
    ("binding", "cases", "*", "arguments"): _name_of("argument"),
    ("binding", "cases", "*", "arguments", "*", "recode"): _name_of("operation"),
    ("binding", "cases", "*", "result", "fields"): _name_of("path"),
    ("binding", "cases", "*", "result", "fields", "*", "recode"): _name_of("operation"),
}
"""Lists whose entries have a key of their own, by where they stand."""
_SEQUENCES: Final = frozenset({("when",), ("calls",)})
_SCHEMAS: Final = frozenset({"input_schema", "output_schema"})
_SETS_IN_SCHEMAS: Final = frozenset({"required", "enum", "type"})
_LITERALS: Final = frozenset({"default", "const", "examples"})


def _entry_key(path: FieldPath) -> Callable[[JsonValue], str] | None:
    names = tuple("*" if isinstance(step, int) else step for step in path)
    if names and names[0] in _SCHEMAS:
        return canonical_json if names[-1] in _SETS_IN_SCHEMAS and not _LITERALS & set(names) else None
    return _ENTRY_KEYS.get(names)


def _discriminator(path: FieldPath) -> str | None:
    """The key that says of which kind an object is: objects of different kinds are merged in one piece or not at all."""
    if path == ("action",):
        return "type"
    return "kind" if path and path[-1] == "conversion" and path[0] == "binding" else None


@dataclass
class ValueMerger:
    """Merges the values of one component and collects the conflicts."""

    conflicts: list[ValueConflict] = field(default_factory=list)

    def merge(self, path: FieldPath, base: Any, mine: Any, theirs: Any) -> Any:
        """The merged value; mine where there is a conflict. Any of the three, and the result, may be ABSENT."""
        if is_same(mine, theirs) or is_same(base, theirs):
            return mine
        if is_same(base, mine):
            return theirs
        if all(isinstance(side, dict) for side in (base, mine, theirs)):
            kind = _discriminator(path)
            if kind is None or base.get(kind) == mine.get(kind) == theirs.get(kind):
                return self._objects(path, base, mine, theirs)
        elif all(isinstance(side, list) for side in (base, mine, theirs)):
            return self._lists(path, base, mine, theirs)
        elif all(isinstance(side, str) for side in (base, mine, theirs)):
            lines = merge_sequences(base.split("\n"), mine.split("\n"), theirs.split("\n"))
            if lines is not None:
                return "\n".join(lines)
        return self._conflict(path, base, mine, theirs)

    def _conflict(self, path: FieldPath, base: Any, mine: Any, theirs: Any) -> Any:
        self.conflicts.append(ValueConflict(path, base, mine, theirs))
        return mine

    def _objects(self, path: FieldPath, base: JsonObject, mine: JsonObject, theirs: JsonObject) -> JsonObject:
        """Key by key, in my order; keys that only the other side has come after what stands before them there."""
        keys = merge_order(list(theirs), list(mine), list(theirs), {*mine, *theirs})
        assert keys is not None
        merged = {}
        for key in keys:
            value = self.merge((*path, key), base.get(key, ABSENT), mine.get(key, ABSENT), theirs.get(key, ABSENT))
            if value is not ABSENT:
                merged[key] = value
        return merged

    def _lists(self, path: FieldPath, base: list[Any], mine: list[Any], theirs: list[Any]) -> list[Any]:
        merged: list[Any] | None = None
        key_of = _entry_key(path)
        if key_of is not None:
            merged = self._keyed(path, key_of, base, mine, theirs)
        elif path in _SEQUENCES:
            texts = merge_sequences(*([json.dumps(entry) for entry in side] for side in (base, mine, theirs)))
            merged = [json.loads(text) for text in texts] if texts is not None else None
        if merged is None or (not merged and mine and theirs):  # nobody emptied it, and some lists may not be empty
            return list(self._conflict(path, base, mine, theirs))
        return merged

    def _keyed(
        self, path: FieldPath, key_of: Callable[[JsonValue], str], base: list[Any], mine: list[Any], theirs: list[Any]
    ) -> list[Any] | None:
        """Entry by entry; None where the list as a whole is the conflict."""
        if path == ("binding", "cases") and len(base) == len(mine) == len(theirs) == 1:
            return [self.merge((*path, 0), base[0], mine[0], theirs[0])]
        old, left, right = ({key_of(entry): entry for entry in side} for side in (base, mine, theirs))
        if (len(old), len(left), len(right)) != (len(base), len(mine), len(theirs)):
            return None
        kept = []
        for key in {**old, **left, **right}:
            before, here, there = old.get(key, ABSENT), left.get(key, ABSENT), right.get(key, ABSENT)
            if (here is not ABSENT and there is not ABSENT) or before is ABSENT:
                kept.append(key)
            elif not is_same(before, here if there is ABSENT else there) and here is not there:
                return None
        order = merge_order(list(old), list(left), list(right), kept)
        if order is None:
            return None
        return [
            self.merge((*path, index), old.get(key, ABSENT), left.get(key, ABSENT), right.get(key, ABSENT))
            for index, key in enumerate(order)
        ]
