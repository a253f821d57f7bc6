"""What a harness can do: which operations its tools reach, with which arguments.

Every case of every binding is a *door* to one operation: for each of its arguments the set of *atoms* the model can supply
through it. An atom is one value (`=` and its canonical JSON), nothing at all (`-`), or all values under some constraints (`*` and
the canonical JSON of the constraints). Two harnesses can do the same if their doors to each operation admit the same calls,
however many tools these are spread over, and show the same fields of the results: what a door hides counts as one more atom.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod

from harnesses.core.caching import cached_by_identity
from harnesses.core.conversions import ValueMappingError, value_inward
from harnesses.core.jsonvalues import JsonObject, JsonValue, canonical_json
from harnesses.core.operations import OperationCatalogue, OperationSpec
from harnesses.core.schemas import is_required, schema_at, schema_problems, shown
from harnesses.core.spec import ArgumentMap, BindingCase, ScaleConversion, Tool

ABSENT = "-"
SHOWN = "(result)"
WHOLE = "(all arguments together)"
_MAX_POINTS = 4_000
_LOWER, _UPPER = (
    ("minimum", "exclusiveMinimum", "minLength", "minItems"),
    (
        "maximum",
        "exclusiveMaximum",
        "maxLength",
        "maxItems",
    ),
)
_NUMERIC = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_CONSTRAINTS = ("type", *_LOWER, *_UPPER, "multipleOf", "pattern", "format", "uniqueItems", "properties", "required")
OPAQUE = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "contains")
_TEXTS = ("description", "title", "examples", "default", "$comment")

Atoms = frozenset[str]


@dataclass(frozen=True)
class Door:
    """One way to one operation: what can be supplied for each argument, by argument name. `is_opaque`: a schema says more."""

    tool_id: str
    operation: str
    atoms: dict[str, Atoms]
    is_opaque: bool


@dataclass(frozen=True)
class Difference:
    """What two sets of doors to one operation differ in. `is_certain` is off where schemas say more than is understood here."""

    is_lost: bool = False
    is_gained: bool = False
    is_certain: bool = True

    @property
    def is_none(self) -> bool:
        return not self.is_lost and not self.is_gained


def tool_doors(tool: Tool | None, catalogue: OperationCatalogue, *, with_closed: bool = False) -> tuple[Door, ...]:
    """The doors of one tool. A case that can never make a valid call, because nothing fills an argument that the operation
    needs, is a closed door and left out unless asked for; a case with an unknown operation is none at all."""
    if tool is None or tool.binding is None:
        return ()
    kept = _kept_doors(tool)
    found = kept.found
    if found is None or found[0] is not catalogue:
        cases = (case for case in tool.binding.cases if case.operation in catalogue)
        kept.found = found = (catalogue, tuple(_door(tool, case, catalogue[case.operation]) for case in cases))
    doors = found[1]
    return doors if with_closed else tuple(door for door in doors if all(door.atoms.values()))


@dataclass
class _KeptDoors:
    """The doors worked out of a tool last, with the catalogue they are of: a comparison asks for them change by change."""

    found: tuple[OperationCatalogue, tuple[Door, ...]] | None = None


@cached_by_identity
def _kept_doors(tool: Tool) -> _KeptDoors:
    return _KeptDoors()


def doors_to(operation: str, tools: Iterable[Tool], catalogue: OperationCatalogue) -> tuple[Door, ...]:
    """All doors of these tools to one operation."""
    return tuple(door for tool in tools for door in tool_doors(tool, catalogue) if door.operation == operation)


def _door(tool: Tool, case: BindingCase, operation: OperationSpec) -> Door:
    maps = {item.argument: item for item in case.arguments}
    atoms: dict[str, Atoms] = {}
    whole = {key: _without_texts(tool.input_schema[key]) for key in OPAQUE if key in tool.input_schema}
    if whole:
        atoms[WHOLE] = frozenset({_open_atom(whole)})
    is_opaque = bool(whole)
    hidden = sorted([list(item.path) for item in case.result.fields if item.is_hidden])
    atoms[SHOWN] = frozenset({_hidden_atom(hidden)})
    for name in dict.fromkeys((*operation.argument_names, *maps, *case.constants)):
        schema = schema_at(operation.input_schema, (name,)) or {}
        is_needed = name in operation.required_arguments
        surface = schema_at(tool.input_schema, maps[name].path) if name in maps else None
        is_opaque = is_opaque or any(key in node for node in (schema, surface or {}) for key in OPAQUE)
        if name in maps:
            found = _mapped_atoms(tool, maps[name], surface, schema, is_needed)
        elif name in case.constants:
            found = {_value_atom(case.constants[name])}
        else:
            found = _omitted(None, schema, is_needed)
        atoms[name] = _reduced(found, schema)
    return Door(tool.id, case.operation, atoms, is_opaque)


def _mapped_atoms(
    tool: Tool, item: ArgumentMap, surface: JsonObject | None, schema: JsonObject, is_needed: bool
) -> set[str]:
    if surface is None:
        return _omitted(item.default, schema, is_needed)
    found = supplied_atoms(item, surface, schema)
    if not is_required(tool.input_schema, item.path):
        found |= _omitted(item.default, schema, is_needed)
    return found


def _omitted(default: JsonValue, schema: JsonObject, is_needed: bool) -> set[str]:
    """What the operation receives when the model supplies nothing: a default, nothing, or (if it needs a value) a refusal."""
    if default is not None:
        return {_value_atom(default)}
    if is_needed:
        return set()
    return {_value_atom(schema["default"])} if "default" in schema else {ABSENT}


def supplied_atoms(item: ArgumentMap, surface: JsonObject, schema: JsonObject) -> set[str]:
    """What the model can supply for an argument, in the operation's terms."""
    if isinstance(surface.get("items"), dict):
        inner = supplied_atoms(item, surface["items"], _object(schema.get("items")))
        return {
            _open_atom(
                _constraints(surface, schema, item) | {"items": sorted(_reduced(inner, _object(schema.get("items"))))}
            )
        }
    values = _listed(surface)
    if item.recode:
        surfaces = None if values is None else {canonical_json(value) for value in values}
        operations = [p.operation for p in item.recode if surfaces is None or canonical_json(p.surface) in surfaces]
        return _allowed(operations, schema)
    if values is not None:
        return _allowed(_converted(values, item), schema)
    allowed = _listed(schema)
    if allowed is not None:
        return {_value_atom(value) for value in allowed}
    return {_open_atom(_constraints(surface, schema, item))}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _listed(schema: JsonObject) -> list[JsonValue] | None:
    """The values that a schema lists, or None where it leaves them open."""
    if "const" in schema:
        return [schema["const"]]
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    return [False, True] if schema.get("type") == "boolean" else None


def _allowed(values: list[JsonValue], schema: JsonObject) -> set[str]:
    allowed = _listed(schema)
    atoms = {_value_atom(value) for value in values}
    return atoms if allowed is None else atoms & {_value_atom(value) for value in allowed}


def _converted(values: list[JsonValue], item: ArgumentMap) -> list[JsonValue]:
    result: list[JsonValue] = []
    for value in values:
        try:
            result.append(value_inward(value, (), item.conversion))
        except ValueMappingError:
            continue
    return result


def _constraints(surface: JsonObject, schema: JsonObject, item: ArgumentMap) -> JsonObject:
    """The operation's constraints, tightened by those of the surface, in the operation's units."""
    result = _own_constraints(schema)
    own = _own_constraints(surface)
    if item.conversion is not None:
        own = {key: own[key] for key in _NUMERIC if key in own and isinstance(item.conversion, ScaleConversion)}
        factor = Decimal(item.conversion.factor) if isinstance(item.conversion, ScaleConversion) else Decimal(1)
        own = {key: float(Decimal(str(value)) / factor) for key, value in own.items() if _is_number(value)}
    for key, value in own.items():
        known = result.get(key)
        if _is_number(value) and _is_number(known) and key in (*_LOWER, *_UPPER):
            result[key] = max(value, known) if key in _LOWER else min(value, known)
        else:
            result[key] = value
    return result


def _own_constraints(schema: JsonObject) -> JsonObject:
    return {key: _without_texts(schema[key]) for key in (*_CONSTRAINTS, *OPAQUE) if key in schema}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_texts(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without_texts(item) for key, item in value.items() if key not in _TEXTS or isinstance(item, dict)}
    return [_without_texts(item) for item in value] if isinstance(value, list) else value


def _value_atom(value: JsonValue) -> str:
    return f"={canonical_json(value)}"


def _open_atom(constraints: JsonObject) -> str:
    return f"*{canonical_json(constraints)}"


def _hidden_atom(hidden: list[list[str]]) -> str:
    return f"*{canonical_json(hidden)}"


def _base(schema: JsonObject) -> str:
    """The atom of everything that the operation itself takes."""
    if isinstance(schema.get("items"), dict):
        plain = ArgumentMap(argument="-", path=("-",))
        return next(iter(supplied_atoms(plain, schema, schema)))
    return _open_atom(_own_constraints(schema))


def _reduced(atoms: set[str], schema: JsonObject) -> Atoms:
    """Without the single values that an atom for everything already covers."""
    return frozenset(atoms - {atom for atom in atoms if atom[0] == "="} if _base(schema) in atoms else atoms)


# --- comparing -----------------------------------------------------------------------------------------------------------


def compare_doors(old: tuple[Door, ...], new: tuple[Door, ...], operation: OperationSpec) -> Difference:
    """Whether the calls that `old` admits are those that `new` admits. All doors lead to `operation`."""
    is_certain = not any(door.is_opaque for door in (*old, *new))
    names = sorted({name for door in (*old, *new) for name in door.atoms})
    before, after = [_box(door, names) for door in old], [_box(door, names) for door in new]
    if set(before) == set(after):
        return Difference()
    varying = [i for i in range(len(names)) if len({box[i] for box in (*before, *after)}) > 1]
    size = max(sum(prod(len(box[i]) for i in varying) for box in boxes) for boxes in (before, after))
    if size > _MAX_POINTS:
        return Difference(is_lost=True, is_gained=True, is_certain=False)
    bases = [_widest(names[i], operation) for i in varying]
    old_points, new_points = _points(before, varying), _points(after, varying)
    return Difference(
        is_lost=not all(_is_covered(point, new_points, bases) for point in old_points),
        is_gained=not all(_is_covered(point, old_points, bases) for point in new_points),
        is_certain=is_certain,
    )


def _widest(name: str, operation: OperationSpec) -> str:
    """The atom that covers every other value of an argument; for the result: nothing hidden."""
    return _hidden_atom([]) if name == SHOWN else _base(schema_at(operation.input_schema, (name,)) or {})


def _box(door: Door, names: list[str]) -> tuple[Atoms, ...]:
    return tuple(door.atoms.get(name, frozenset({ABSENT})) for name in names)


def _points(boxes: list[tuple[Atoms, ...]], varying: list[int]) -> set[tuple[str, ...]]:
    return {point for box in boxes for point in product(*(sorted(box[i]) for i in varying))}


def _is_covered(point: tuple[str, ...], points: set[tuple[str, ...]], bases: list[str]) -> bool:
    if point in points:
        return True
    return any(
        all(a == b or (b == base and a != ABSENT) for a, b, base in zip(point, other, bases, strict=True))
        for other in points
    )


def change_in_words(before: Atoms, after: Atoms) -> str:
    """What became of the values of one argument: "no longer possible: USD", "can now be given"."""
    lost, gained = _not_among(before - after, after), _not_among(after - before, before)
    if after <= {ABSENT} and not before <= {ABSENT}:
        return "can no longer be given"
    if before <= {ABSENT} and not after <= {ABSENT}:
        return "can now be given"
    if lost and gained and all(atom[0] == "*" for atom in lost | gained):
        return f"the limits on its values changed ({_limits(lost, gained)} → {_limits(gained, lost)})"
    parts = [f"no longer possible: {_in_words(lost)}"] if lost else []
    parts += [f"newly possible: {_in_words(gained)}"] if gained else []
    return "; ".join(parts) or "another value is received when it is left out"


def _not_among(atoms: Atoms, others: Atoms) -> Atoms:
    """Without the single values that the constraints of an open atom among the others admit."""
    limits = [json.loads(atom[1:]) for atom in others if atom[0] == "*"]
    return frozenset(
        atom for atom in atoms if atom[0] != "=" or not any(_admits(limit, json.loads(atom[1:])) for limit in limits)
    )


def _admits(constraints: JsonValue, value: JsonValue) -> bool:
    if (
        not isinstance(constraints, dict) or "items" in constraints
    ):  # What a list may hold is told by atoms, not by a schema.
        return False
    return not schema_problems({"properties": {"value": constraints}}, {"value": value})


def _limits(atoms: Atoms, others: Atoms) -> str:
    """The constraints that `others` do not have."""
    known = {item for atom in others for item in _constraint_texts(atom)}
    found = sorted(item for atom in atoms for item in _constraint_texts(atom) if item not in known)
    return ", ".join(found) or "no limit"


def _constraint_texts(atom: str) -> list[str]:
    return [f"{key} {shown(value)}" for key, value in json.loads(atom[1:]).items()]


def _in_words(atoms: Atoms) -> str:
    words = []
    for atom in sorted(atoms):
        if atom == ABSENT:
            words.append("leaving it out")
        else:
            words.append(atom[1:].strip('"') if atom[0] == "=" else "any other value")
    return ", ".join(words)
