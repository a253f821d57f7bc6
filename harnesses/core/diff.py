"""What differs between two harnesses, component by component.

Components are matched by their ids, so that a rename is a rename. Key order in JSON is no difference; a permutation is one
reorder. The diff is empty exactly when the two identities (`HarnessSpec.spec_hash`) are equal. Tools, whose parameters are
matched through their bindings, are compared in `harnesses.core.tool_diff`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harnesses.core.changes import Change, diff_json, kept_order
from harnesses.core.kinds import KIND_FIELDS, NAME_FIELDS, Component, Kind, component_name, components_by_key
from harnesses.core.spec import HarnessSpec, RuntimeSettings, Tool
from harnesses.core.tool_diff import diff_tools


@dataclass(frozen=True)
class HarnessDiff:
    """All changes between two harnesses, in the order prompt, skills, tools, hooks, examples, runtime."""

    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes


def diff_specs(old: HarnessSpec, new: HarnessSpec) -> HarnessDiff:
    """Every change that leads from `old` to `new`."""
    changes: list[Change] = []
    for kind, field in KIND_FIELDS.items():
        changes.extend(_diff_components(kind, getattr(old, field), getattr(new, field)))
    changes.extend(_diff_runtime(old.runtime, new.runtime))
    return HarnessDiff(tuple(changes))


def _diff_components(kind: Kind, old: Sequence[Component], new: Sequence[Component]) -> list[Change]:
    old_by_key, new_by_key = components_by_key(old), components_by_key(new)
    changes: list[Change] = []
    for key, component in old_by_key.items():
        if key not in new_by_key:
            before = component.model_dump(mode="json")
            changes.append(Change("removed", kind, component.id, component_name(component), None, "", before, None))
    for key, component in new_by_key.items():
        earlier = old_by_key.get(key)
        if earlier is None:
            after = component.model_dump(mode="json")
            changes.append(Change("added", kind, component.id, None, component_name(component), "", None, after))
        elif earlier.model_dump_json() != component.model_dump_json():
            changes.extend(_diff_component(kind, earlier, component))
    before_order, after_order = kept_order(list(old_by_key), list(new_by_key))
    if before_order != after_order:
        changes.append(Change("reordered", kind, "", None, None, "order", before_order, after_order))
    return changes


def _diff_component(kind: Kind, old: Component, new: Component) -> list[Change]:
    if isinstance(old, Tool) and isinstance(new, Tool):
        return diff_tools(old, new)
    old_name, new_name = component_name(old), component_name(new)
    name_field = NAME_FIELDS.get(kind)
    changes: list[Change] = []
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    if name_field and old_name != new_name:
        changes.append(Change("renamed", kind, new.id, old_name, new_name, name_field, old_name, new_name))
    for field in before:
        if field == name_field:
            continue
        is_other_action = field == "action" and before[field]["type"] != after[field]["type"]
        for action, path, left, right in diff_json(field, before[field], after[field], is_whole=is_other_action):
            changes.append(Change(action, kind, new.id, old_name, new_name, path, left, right))
    return changes


def _diff_runtime(old: RuntimeSettings, new: RuntimeSettings) -> list[Change]:
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    return [
        Change(action, "runtime", "runtime", "runtime", "runtime", path, left, right)
        for field in before
        for action, path, left, right in diff_json(field, before[field], after[field])
    ]
