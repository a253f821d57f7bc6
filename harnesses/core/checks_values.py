"""Checks of single values on their way through a binding: recodes, conversions, defaults and constants against both schemas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harnesses.core.conversions import ValueMappingError, value_outward
from harnesses.core.findings import Finding, Place
from harnesses.core.jsonvalues import JsonObject, JsonValue, canonical_json
from harnesses.core.schemas import BrokenSchemaError, resolved, schema_problems, shown
from harnesses.core.spec import ArgumentMap, Conversion, RecodePair

SchemaInRoot = tuple[JsonObject, JsonObject]
"""A schema, and the root schema in which its local references are looked up."""

_NUMBERS = frozenset({"integer", "number"})
_TYPES_OF_CONVERSION = {
    "scale": (_NUMBERS, _NUMBERS),
    "text": (_NUMBERS, frozenset({"string"})),
    "epoch": (frozenset({"string"}), _NUMBERS),
}
"""Kind of conversion → types on the operation's side, types on the surface."""


def _closed(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The schema with the definitions of its root, so that its local references still lead somewhere."""
    definitions: JsonObject = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return definitions | schema


def satisfies(value: JsonValue, schema: JsonObject, root: JsonObject) -> bool:
    """Whether a value satisfies a schema that lies within `root`. A schema that cannot be used lets everything pass."""
    try:
        return not schema_problems(_closed(schema, root), value)
    except BrokenSchemaError:
        return True


def check_value(
    place: Place, code: str, field: str, value: JsonValue, schema: JsonObject, root: JsonObject
) -> Iterator[Finding]:
    """A fixed value that the schema at its place would refuse."""
    try:
        problems = schema_problems(_closed(schema, root), value)
    except BrokenSchemaError:
        return
    if problems:
        yield place.error(
            code,
            field,
            f"{shown(value)} does not satisfy the schema: {problems[0].message}",
            "Use a value that the schema allows, or change the schema.",
        )


def element_schema(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The schema of the single values: that of the elements for a list, else the schema itself."""
    for _ in range(4):
        inner = resolved(schema.get("items"), root)
        if inner is None or "array" not in types_of(schema, root):
            return schema
        schema = inner
    return schema


def types_of(schema: JsonObject, root: JsonObject) -> frozenset[str]:
    """The JSON types that a schema names by itself; empty if it does not say."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset({kinds})
    if isinstance(kinds, list):
        return frozenset(str(kind) for kind in kinds)
    names = {str: "string", int: "integer", float: "number", dict: "object", list: "array", type(None): "null"}
    options = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return frozenset("boolean" if isinstance(option, bool) else names.get(type(option), "") for option in options)


def check_argument_values(
    place: Place, field: str, argument: ArgumentMap, surface: SchemaInRoot, inner: SchemaInRoot
) -> Iterator[Finding]:
    """Whether every value that the model may write has a counterpart, and the operation would take it."""
    surface_values = element_schema(*surface), surface[1]
    inner_values = element_schema(*inner), inner[1]
    yield from check_recode(place, field, argument.recode, argument.conversion)
    if argument.recode:
        yield from _recode_and_schemas(place, field, argument.recode, surface_values, inner_values)
    elif argument.conversion is not None:
        yield from check_conversion_types(
            place, field, argument.conversion, types_of(*inner_values), types_of(*surface_values)
        )
    else:
        yield from _unchanged(place, field, surface_values, inner_values)
    if argument.default is not None:
        yield from check_value(place, "default_mismatch", f"{field}.default", argument.default, *inner)
        yield from _default_on_surface(place, field, argument)


def _default_on_surface(place: Place, field: str, argument: ArgumentMap) -> Iterator[Finding]:
    try:
        value_outward(argument.default, argument.recode, argument.conversion)
    except ValueMappingError as error:
        yield place.error(
            "default_mismatch",
            f"{field}.default",
            f"The default has no counterpart that the model could write: it {error}.",
            "Use a default that the recode or conversion covers (it is the operation's own value).",
        )


def check_recode(
    place: Place, field: str, recode: tuple[RecodePair, ...], conversion: Conversion | None
) -> Iterator[Finding]:
    """Whether a recode can be undone: single values, each once on either side, and no conversion beside it."""
    if recode and conversion is not None:
        yield place.error(
            "recode_and_conversion", field, "There is both a recode and a conversion.", "Keep one of the two."
        )
    seen: set[tuple[str, str]] = set()
    for index, pair in enumerate(recode):
        for side, value in (("operation", pair.operation), ("surface", pair.surface)):
            where = f"{field}.recode[{index}].{side}"
            if isinstance(value, dict | list):
                yield place.error(
                    "recode_not_single",
                    where,
                    f"{shown(value)} is not a single value; lists are recoded element by element.",
                    "Use texts, numbers, true, false or null.",
                )
            elif (side, canonical_json(value)) in seen:
                yield place.error(
                    "recode_not_one_to_one",
                    where,
                    f"{shown(value)} stands for two values.",
                    "Give each value a counterpart of its own.",
                )
            seen.add((side, canonical_json(value)))


def _recode_and_schemas(
    place: Place, field: str, recode: tuple[RecodePair, ...], surface: SchemaInRoot, inner: SchemaInRoot
) -> Iterator[Finding]:
    yield from _recode_side(place, "surface", field, [pair.surface for pair in recode], surface)
    yield from _recode_side(place, "operation", field, [pair.operation for pair in recode], inner)
    for option in _without_pair(surface[0].get("enum", ()), [pair.surface for pair in recode]):
        yield place.error(
            "recode_surface_mismatch",
            f"{field}.recode",
            f"The model can write {shown(option)}, but no pair says what it means.",
            "Add a pair for it, or take it out of the schema.",
        )
    for option in _without_pair(inner[0].get("enum", ()), [pair.operation for pair in recode]):
        yield place.warning(
            "recode_incomplete",
            f"{field}.recode",
            f"The operation also takes {shown(option)}, which the model cannot say.",
            "Add a pair for it if the model should be able to say it.",
        )


def _recode_side(
    place: Place, side: str, field: str, values: list[JsonValue], schema: SchemaInRoot
) -> Iterator[Finding]:
    listed = {canonical_json(option) for option in schema[0].get("enum", ())}
    for index, value in enumerate(values):
        if canonical_json(value) not in listed:
            where = f"{field}.recode[{index}].{side}"
            yield from check_value(place, f"recode_{side}_mismatch", where, value, *schema)


def _without_pair(options: Sequence[JsonValue], covered: list[JsonValue]) -> list[JsonValue]:
    known = {canonical_json(value) for value in covered}
    return [option for option in options if canonical_json(option) not in known]


def check_conversion_types(
    place: Place, field: str, conversion: Conversion, inner: frozenset[str], surface: frozenset[str] | None
) -> Iterator[Finding]:
    """Whether a conversion fits the types on both sides (None: the surface has no schema). Null beside them is fine."""
    wanted_inner, wanted_surface = _TYPES_OF_CONVERSION[conversion.kind]
    sides = [("operation", inner, wanted_inner), ("surface", surface or frozenset(), wanted_surface)]
    for side, found, wanted in sides:
        if found and not found & wanted:
            yield place.error(
                "conversion_mismatch",
                f"{field}.conversion",
                f'The conversion "{conversion.kind}" needs {" or ".join(sorted(wanted))} on the {side} side, '
                f"not {' or '.join(sorted(found))}.",
                "Use another conversion, or correct the schema.",
            )


def _unchanged(place: Place, field: str, surface: SchemaInRoot, inner: SchemaInRoot) -> Iterator[Finding]:
    given, taken = types_of(*surface), types_of(*inner)
    widened = taken | ({"integer"} if "number" in taken else frozenset())
    narrowed = given | ({"integer"} if "number" in given else frozenset())
    if given and taken and not narrowed & widened:
        yield place.error(
            "type_mismatch",
            field,
            f"The model writes {' or '.join(sorted(given))}, the operation takes {' or '.join(sorted(taken))}.",
            "Add a conversion or recode, or correct the schema.",
        )
        return
    for option in surface[0].get("enum", ()):
        if not satisfies(option, *inner):
            yield place.error(
                "value_refused",
                field,
                f"The model can write {shown(option)}, which the operation refuses.",
                "Add a recode, or take the value out of the schema.",
            )
