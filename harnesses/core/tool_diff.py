"""What differs between two versions of one tool: names, texts, parameters one by one, and the binding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harnesses.core.binding_diff import Keys, ParameterMap, diff_bindings, parameter_pairs
from harnesses.core.changes import Change, JsonChange, diff_json, kept_order
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.parameters import parameter_names
from harnesses.core.schemas import dotted, required_keys, same_json
from harnesses.core.spec import Tool, ToolBinding

_STRUCTURE = ("properties", "required")


def diff_tools(old: Tool, new: Tool) -> list[Change]:
    """Every change from `old` to `new`, which have the same id."""
    parameters = match_parameters(old, new)
    found: list[JsonChange] = []
    if old.name != new.name:
        found.append(JsonChange("renamed", "name", old.name, new.name))
    for field in ("title", "description", "output_schema", "annotations"):
        found.extend(diff_json(field, getattr(old, field), getattr(new, field)))
    found.extend(_SchemaDiff(old, new, parameters).changes())
    told = {(change.action, change.path) for change in found}
    for change in diff_bindings(old.binding, new.binding, parameters):
        ignored = change.path.removeprefix("binding.ignored.")
        if ignored == change.path or (change.action, parameter_field(tuple(ignored.split(".")))) not in told:
            found.append(change)
    if not found:
        before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
        for field in before:
            found.extend(diff_json(field, before[field], after[field], is_whole=True))
    return [Change(action, "tool", new.id, old.name, new.name, path, b, a) for action, path, b, a in found]


def parameter_field(path: Keys) -> str:
    """How a parameter is called in `Change.field`."""
    return "input_schema.properties." + ".properties.".join(path)


# --- which parameter is which ------------------------------------------------------------------------------------------


def match_parameters(old: Tool, new: Tool) -> ParameterMap:
    """Where the old tool's parameters are in the new one: by binding, else by being the only one with the same schema."""
    old_nodes, new_nodes = _nodes(old.input_schema), _nodes(new.input_schema)
    pairs = parameter_pairs(old.binding, new.binding) if old.binding and new.binding else []
    moves: dict[Keys, Keys] = {}
    for before, after in sorted(pairs, key=lambda pair: pair[0] != pair[1]):
        if before not in moves and after not in moves.values():
            moves[before] = after
    for before, after in list(moves.items()):
        for depth in range(1, min(len(before), len(after))):
            left, right = before[:depth], after[:depth]
            is_renamed = left in old_nodes and right in new_nodes and left not in new_nodes and right not in old_nodes
            if is_renamed and len(before) == len(after) and right not in moves.values():
                moves.setdefault(left, right)
    targets = set(moves.values())
    bound = _bound_paths(old.binding) | _bound_paths(new.binding)
    gone = [path for path in old_nodes if path not in new_nodes and path not in moves and path not in bound]
    come = [path for path in new_nodes if path not in old_nodes and path not in targets and path not in bound]
    if (
        len(gone) == len(come) == 1
        and gone[0][:-1] == come[0][:-1]
        and same_json(old_nodes[gone[0]], new_nodes[come[0]])
    ):
        moves[gone[0]] = come[0]
    return ParameterMap(moves)


def _bound_paths(binding: ToolBinding | None) -> set[Keys]:
    return {item.path for case in binding.cases for item in case.arguments} if binding else set()


def _nodes(schema: JsonValue, path: Keys = ()) -> dict[Keys, JsonValue]:
    """Schemas of all declared parameters by path, nested ones too; a list counts as its elements."""
    found: dict[Keys, JsonValue] = {}
    for key, child in _properties(schema).items():
        found[(*path, key)] = child
        found |= _nodes(child, (*path, key))
    return found


def _properties(schema: JsonValue) -> JsonObject:
    if not isinstance(schema, dict):
        return {}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return properties
    return _properties(schema.get("items"))


def _own(schema: JsonValue) -> JsonObject:
    """A schema without the parameters inside it."""
    if not isinstance(schema, dict):
        return {"": schema}
    own = {key: value for key, value in schema.items() if key not in _STRUCTURE}
    own |= {key: schema[key] for key, kind in (("properties", dict), ("required", list)) if not _is(schema, key, kind)}
    if "properties" not in schema and _properties(schema.get("items")):
        own["items"] = _own(schema["items"])
    return own


def _is(schema: JsonObject, key: str, kind: type) -> bool:
    return key not in schema or isinstance(schema[key], kind)


def _required(schema: JsonValue) -> tuple[str, ...]:
    if isinstance(schema, dict) and "properties" not in schema and "items" in schema:
        return _required(schema["items"])
    return required_keys(schema) if isinstance(schema, dict) else ()


# --- schemas -----------------------------------------------------------------------------------------------------------


@dataclass
class _SchemaDiff:
    """The comparison of two input schemas, parameter by parameter."""

    old: Tool
    new: Tool
    parameters: ParameterMap

    def __post_init__(self) -> None:
        self.old_nodes = {(): self.old.input_schema} | _nodes(self.old.input_schema)
        self.new_nodes = {(): self.new.input_schema} | _nodes(self.new.input_schema)
        self.kept: dict[Keys, Keys] = {}
        taken: set[Keys] = set()
        moved_first = sorted(self.old_nodes, key=lambda path: (self.parameters.new_path(path) == path, path))
        for path in moved_first:
            target = self.parameters.new_path(path)
            if target in self.new_nodes and target not in taken:
                self.kept[path] = target
                taken.add(target)

    def changes(self) -> Iterator[JsonChange]:
        yield from self._renamed()
        yield from self._removed_and_added()
        for before, after in self.kept.items():
            yield from self._changed(before, after)
        yield from self._order()

    def _renamed(self) -> Iterator[JsonChange]:
        for before, after in self.parameters.moves.items():
            follows_parent = (*self.parameters.new_path(before[:-1]), before[-1]) == after
            if not follows_parent:
                yield JsonChange("renamed", parameter_field(after), dotted(before), dotted(after))

    def _removed_and_added(self) -> Iterator[JsonChange]:
        gone = set(self.old_nodes) - set(self.kept)
        for path in _outermost(gone, set(self.kept)):
            yield JsonChange("removed", parameter_field(path), self.old_nodes[path], None)
        targets = set(self.kept.values())
        for path in _outermost(set(self.new_nodes) - targets, targets):
            yield JsonChange("added", parameter_field(path), None, self.new_nodes[path])

    def _changed(self, before: Keys, after: Keys) -> Iterator[JsonChange]:
        old, new = _own(self.old_nodes[before]), _own(self.new_nodes[after])
        prefix = parameter_field(after) if after else "input_schema"
        for key in sorted(old.keys() | new.keys()):
            left, right = old.get(key), new.get(key)
            if key in old and key in new and same_json(left, right):
                continue
            is_permuted = key == "enum" and _is_permutation(left, right)
            yield JsonChange("reordered" if is_permuted else "changed", f"{prefix}.{key}".rstrip("."), left, right)
        if not after:
            left, right = _undeclared_required(self.old.input_schema), _undeclared_required(self.new.input_schema)
            if left != right:
                yield JsonChange("changed", "input_schema.required", left, right)
            return
        was = before[-1] in _required(self.old_nodes[before[:-1]])
        is_now = after[-1] in _required(self.new_nodes[after[:-1]])
        if was != is_now:
            yield JsonChange("changed", f"{prefix}.required", was, is_now)
        mapped = [self.parameters.new_path((*before, key))[-1] for key in _required(self.old_nodes[before])]
        first, second = kept_order(mapped, _required(self.new_nodes[after]))
        if first != second:
            yield JsonChange("reordered", f"{prefix}.required", first, second)

    def _order(self) -> Iterator[JsonChange]:
        def mapped(names: tuple[str, ...]) -> list[str]:
            return [dotted(self.parameters.new_path((name,))) for name in names]

        common = {dotted(path) for path in self.kept.values() if len(path) == 1}
        old_declared = [name for name in mapped(self.old.parameter_order) if name in common]
        new_declared = [name for name in self.new.parameter_order if name in common]
        required = kept_order(mapped(_required(self.old.input_schema)), _required(self.new.input_schema))
        if old_declared == new_declared and required[0] == required[1]:
            return
        before, after = kept_order(mapped(parameter_names(self.old)), parameter_names(self.new))
        if before != after:
            yield JsonChange("reordered", "parameter_order", before, after)
        elif old_declared != new_declared:
            yield JsonChange("changed", "parameter_order", old_declared, new_declared)


def _outermost(paths: set[Keys], kept: set[Keys]) -> list[Keys]:
    """The paths that lie in no other of them; an object some of whose parameters moved elsewhere counts as its remains."""
    whole = paths - {other[:depth] for other in kept for depth in range(len(other) + 1)}
    return sorted(path for path in whole if not any(path[:depth] in whole for depth in range(1, len(path))))


def _is_permutation(left: JsonValue, right: JsonValue) -> bool:
    if not isinstance(left, list) or not isinstance(right, list) or len(left) != len(right):
        return False
    return all(any(same_json(item, other) for other in right) for item in left)


def _undeclared_required(schema: JsonObject) -> list[str]:
    return sorted(set(_required(schema)) - set(_properties(schema)))
