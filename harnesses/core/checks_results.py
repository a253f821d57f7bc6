"""Checks of how an operation's result is shown: fields that exist, names that do not collide, values that can be read back."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.checks_values import check_conversion_types, check_recode, element_schema, types_of
from harnesses.core.findings import Finding, Place, listed
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationSpec
from harnesses.core.schemas import dotted, schema_at
from harnesses.core.spec import ResultField, ResultMap


def check_result_map(place: Place, field: str, result: ResultMap, operation: OperationSpec) -> Iterator[Finding]:
    """Everything wrong with a result map of this operation."""
    schema = operation.output_schema
    seen: set[tuple[str, ...]] = set()
    for index, item in enumerate(result.fields):
        where = f"{field}.fields[{index}]"
        if item.path in seen:
            yield place.error(
                "result_field_repeats", where, f'"{dotted(item.path)}" is mapped twice.', "Keep one of the two."
            )
        seen.add(item.path)
        yield from _field(place, where, item, schema, operation.name)
    yield from _collisions(place, field, result, schema)
    for index, key in enumerate(result.wrap):
        if not key.strip():
            yield place.error(
                "empty_text", f"{field}.wrap[{index}]", "The outer key is empty.", "Name it, or remove it."
            )


def _field(place: Place, where: str, item: ResultField, schema: JsonObject, operation: str) -> Iterator[Finding]:
    if item.name is not None and not item.name.strip():
        yield place.error("empty_text", f"{where}.name", "The name of the field is empty.", "Name it, or leave it out.")
    yield from check_recode(place, where, item.recode, item.conversion)
    found = schema_at(schema, item.path, through_lists=True)
    if found is None:
        parent = _declared_keys(schema, item.path[:-1])
        if parent is not None or len(item.path) == 1:
            yield place.error(
                "unknown_result_field",
                f"{where}.path",
                f'The result of {operation} has no field "{dotted(item.path)}".',
                f"Use one of: {listed(parent or ())}.",
            )
    elif item.conversion is not None and not item.recode:
        types = types_of(element_schema(found, schema), schema)
        yield from check_conversion_types(place, where, item.conversion, types, None)


def _declared_keys(schema: JsonObject, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """Keys declared for the object at `path`, or for the elements of the list there; None where nothing is declared."""
    found = schema_at(schema, path, through_lists=True)
    properties = element_schema(found, schema).get("properties") if found is not None else None
    return tuple(properties) if isinstance(properties, dict) and properties else None


def _collisions(place: Place, field: str, result: ResultMap, schema: JsonObject) -> Iterator[Finding]:
    """Two fields of one object that would be shown under the same key."""
    hidden = {item.path for item in result.fields if item.is_hidden}
    renamed = {item.path: item.name for item in result.fields if item.name and not item.is_hidden}
    for parent in sorted({path[:-1] for path in renamed}):
        own = [path[-1] for path in renamed if path[:-1] == parent]
        keys = sorted({*(_declared_keys(schema, parent) or ()), *own})
        shown: set[str] = set()
        for key in keys:
            if (*parent, key) in hidden:
                continue
            name = renamed.get((*parent, key)) or key
            if name in shown:
                yield place.error(
                    "result_name_clash",
                    field,
                    f'Two fields of the result would be named "{dotted((*parent, name))}".',
                    "Give one of them another name.",
                )
            shown.add(name)
