"""What differs between the bindings of one tool, and which parameter of the old tool is which of the new one.

Two surface paths are the same parameter if they feed the same argument of the same operation; so a renamed or nested parameter
is known to be the one it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harnesses.core.changes import JsonChange, diff_json, kept_order
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.schemas import dotted, same_json
from harnesses.core.spec import BindingCase, ResultField, ResultMap, ToolBinding

Keys = tuple[str, ...]


@dataclass(frozen=True)
class ParameterMap:
    """Where each parameter path of the old tool lies in the new one; paths not listed stay, or follow the nearest listed one."""

    moves: dict[Keys, Keys]

    def new_path(self, path: Keys) -> Keys:
        for length in range(len(path), 0, -1):
            if path[:length] in self.moves:
                return (*self.moves[path[:length]], *path[length:])
        return path


@dataclass(frozen=True)
class CaseMatch:
    """The cases of two bindings, paired where they stand for the same thing."""

    pairs: tuple[tuple[BindingCase, BindingCase], ...]
    removed: tuple[BindingCase, ...]
    added: tuple[BindingCase, ...]


def match_cases(old: ToolBinding, new: ToolBinding) -> CaseMatch:
    """Pair cases by operation and switch value, then by operation, then by switch value."""
    left, right = list(old.cases), list(new.cases)
    pairs: list[tuple[BindingCase, BindingCase]] = []
    for is_same in (_same_operation_and_when, _same_operation, _same_when):
        for case in list(left):
            twin = next((other for other in right if is_same(case, other)), None)
            if twin is not None:
                pairs.append((case, twin))
                left = [item for item in left if item is not case]
                right = [item for item in right if item is not twin]
    return CaseMatch(tuple(pairs), tuple(left), tuple(right))


def _same_operation(left: BindingCase, right: BindingCase) -> bool:
    return left.operation == right.operation


def _same_when(left: BindingCase, right: BindingCase) -> bool:
    return same_json(left.when, right.when)


def _same_operation_and_when(left: BindingCase, right: BindingCase) -> bool:
    return _same_operation(left, right) and _same_when(left, right)


def parameter_pairs(old: ToolBinding, new: ToolBinding) -> list[tuple[Keys, Keys]]:
    """Old and new path of every parameter that both bindings give the same meaning."""
    pairs: list[tuple[Keys, Keys]] = []
    for before, after in match_cases(old, new).pairs:
        new_paths = {argument.argument: argument.path for argument in after.arguments}
        pairs += [(item.path, new_paths[item.argument]) for item in before.arguments if item.argument in new_paths]
    if old.switch is not None and new.switch is not None:
        pairs.append((old.switch, new.switch))
    constants = {constant.path: constant.value for constant in new.surface_constants}
    for constant in old.surface_constants:
        same = [path for path, value in constants.items() if same_json(value, constant.value)]
        if constant.path in constants:
            pairs.append((constant.path, constant.path))
        elif len(same) == 1:
            pairs.append((constant.path, same[0]))
    return pairs


def diff_bindings(old: ToolBinding | None, new: ToolBinding | None, parameters: ParameterMap) -> Iterator[JsonChange]:
    """Every difference that the renames in `parameters` do not explain."""
    if old is None or new is None:
        before = None if old is None else old.model_dump(mode="json")
        after = None if new is None else new.model_dump(mode="json")
        if old is not new:
            yield JsonChange("added" if old is None else "removed", "binding", before, after)
        return
    yield from _diff_cases(old, new, parameters)
    moved = None if old.switch is None else parameters.new_path(old.switch)
    if moved != new.switch:
        yield JsonChange("changed", "binding.switch", _shown(old.switch), _shown(new.switch))
    old_constants = {dotted(parameters.new_path(item.path)): item.value for item in old.surface_constants}
    new_constants = {dotted(item.path): item.value for item in new.surface_constants}
    yield from _diff_keyed("binding.surface_constants", old_constants, new_constants)
    old_ignored = {dotted(parameters.new_path(path)): True for path in old.ignored}
    yield from _diff_keyed("binding.ignored", old_ignored, {dotted(path): True for path in new.ignored})


def _shown(path: Keys | None) -> JsonValue:
    return None if path is None else dotted(path)


def _diff_keyed(path: str, before: dict[str, JsonValue], after: dict[str, JsonValue]) -> Iterator[JsonChange]:
    """Keyed, ordered things: added, removed, changed in one piece, and one reorder."""
    for key, value in before.items():
        if key not in after:
            yield JsonChange("removed", f"{path}.{key}", value, None)
    for key, value in after.items():
        if key not in before:
            yield JsonChange("added", f"{path}.{key}", None, value)
        else:
            yield from diff_json(f"{path}.{key}", before[key], value, is_whole=True)
    left, right = kept_order(list(before), list(after))
    if left != right:
        yield JsonChange("reordered", path, left, right)


def _diff_cases(old: ToolBinding, new: ToolBinding, parameters: ParameterMap) -> Iterator[JsonChange]:
    match = match_cases(old, new)
    for case in match.removed:
        yield JsonChange("removed", f"binding.cases.{case.operation}", case.model_dump(mode="json"), None)
    for case in match.added:
        yield JsonChange("added", f"binding.cases.{case.operation}", None, case.model_dump(mode="json"))
    for before, after in match.pairs:
        yield from _diff_case(before, after, parameters)
    old_order = [position for position, (case, _) in _positions(match, old.cases, 0)]
    new_order = [position for position, (_, case) in _positions(match, new.cases, 1)]
    if old_order != new_order:
        left = [case.operation for case in old.cases]
        yield JsonChange("reordered", "binding.cases", left, [case.operation for case in new.cases])


def _positions(
    match: CaseMatch, cases: tuple[BindingCase, ...], side: int
) -> list[tuple[int, tuple[BindingCase, BindingCase]]]:
    """The pairs, numbered as in `match`, in the order in which `cases` has them."""
    order = {id(case): place for place, case in enumerate(cases)}
    return sorted(enumerate(match.pairs), key=lambda item: order[id(item[1][side])])


def _diff_case(old: BindingCase, new: BindingCase, parameters: ParameterMap) -> Iterator[JsonChange]:
    path = f"binding.cases.{new.operation}"
    if old.operation != new.operation:
        yield JsonChange("changed", f"{path}.operation", old.operation, new.operation)
    yield from diff_json(f"{path}.when", old.when, new.when, is_whole=True)
    yield from _diff_arguments(path, old, new, parameters)
    for key in sorted(old.constants.keys() | new.constants.keys()):
        before = {key: old.constants[key]} if key in old.constants else {}
        after = {key: new.constants[key]} if key in new.constants else {}
        yield from _diff_keyed(f"{path}.constants", before, after)
    yield from _diff_results(f"{path}.result", old.result, new.result)


def _diff_arguments(path: str, old: BindingCase, new: BindingCase, parameters: ParameterMap) -> Iterator[JsonChange]:
    before = {item.argument: item for item in old.arguments}
    after = {item.argument: item for item in new.arguments}
    for name, item in before.items():
        if name not in after:
            yield JsonChange("removed", f"{path}.arguments.{name}", item.model_dump(mode="json"), None)
    for name, item in after.items():
        inner = f"{path}.arguments.{name}"
        if name not in before:
            yield JsonChange("added", inner, None, item.model_dump(mode="json"))
            continue
        if parameters.new_path(before[name].path) != item.path:
            yield JsonChange("changed", f"{inner}.path", dotted(before[name].path), dotted(item.path))
        left, right = before[name].model_dump(mode="json"), item.model_dump(mode="json")
        for key in ("recode", "conversion", "default"):
            yield from diff_json(f"{inner}.{key}", left[key], right[key], is_whole=True)
    first, second = kept_order(list(before), list(after))
    if first != second:
        yield JsonChange("reordered", f"{path}.arguments", first, second)


def _diff_results(path: str, old: ResultMap, new: ResultMap) -> Iterator[JsonChange]:
    before = {item.path: item for item in old.fields}
    after = {item.path: item for item in new.fields}
    for key in [*before, *(key for key in after if key not in before)]:
        yield from _diff_result_field(f"{path}.fields.{dotted(key)}", before.get(key), after.get(key), key)
    left, right = kept_order([dotted(key) for key in before], [dotted(key) for key in after])
    if left != right:
        yield JsonChange("reordered", f"{path}.fields", left, right)
    yield from diff_json(f"{path}.wrap", list(old.wrap), list(new.wrap), is_whole=True)
    yield from diff_json(f"{path}.format", old.format, new.format)


def _diff_result_field(path: str, old: ResultField | None, new: ResultField | None, key: Keys) -> Iterator[JsonChange]:
    """A field without an entry is shown as it is, so its coming and going is read as a change from or to that."""
    plain = ResultField(path=key)
    before, after = old or plain, new or plain
    changes: list[JsonChange] = []
    old_key, new_key = before.name or key[-1], after.name or key[-1]
    if old_key != new_key:
        changes.append(JsonChange("renamed", path, dotted((*key[:-1], old_key)), dotted((*key[:-1], new_key))))
    left, right = before.model_dump(mode="json"), after.model_dump(mode="json")
    for part in ("recode", "conversion", "is_hidden"):
        changes.extend(diff_json(f"{path}.{part}", left[part], right[part], is_whole=True))
    if not changes and (old is None or new is None):
        changes.append(JsonChange("added" if old is None else "removed", path, old and left, new and right))
    elif not changes and left != right:
        changes.append(JsonChange("changed", f"{path}.name", before.name, after.name))
    yield from changes
