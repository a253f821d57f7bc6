"""Mends of values on their way through a binding: fixed values, recodes, conversions, results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harnesses.core.checks_values import element_schema, satisfies, types_of
from harnesses.core.fieldpaths import FieldPath, format_path
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.mends.basis import Case, Mend, close, short
from harnesses.core.mends.tools import take_out_option
from harnesses.core.schemas import resolved, schema_at, shown
from harnesses.core.spec import ArgumentMap


def fitting(value: JsonValue, schema: JsonObject, root: JsonObject) -> list[JsonValue]:
    """Values that a schema allows and that somebody who wrote `value` may well have meant."""
    options: list[JsonValue] = []
    if "const" in schema:
        options.append(schema["const"])
    enum = schema.get("enum")
    if isinstance(enum, list) and isinstance(value, str):
        texts = [option for option in enum if isinstance(option, str)]
        options += [option for option in texts if option.casefold() == value.casefold()]
        options += [match] if (match := close(value, texts)) else []
    if isinstance(value, str):
        for reader in (int, float):
            try:
                options.append(reader(value))
            except ValueError:
                continue
        options += [{"true": True, "false": False}[value.casefold()]] if value.casefold() in ("true", "false") else []
    elif isinstance(value, bool | int | float) and not isinstance(value, bool):
        options += [str(value), *([bool(value)] if value in (0, 1) else [])]
    return [option for option in options if satisfies(option, schema, root)]


def fixed_value(case: Case) -> Iterator[Mend]:
    """A constant, a dictated value or a default becomes the value that was meant, if that can be told."""
    tool = case.tool()
    if tool is None or tool.binding is None:
        return
    path, value = case.path, case.value()
    schema = _schema_of_value(case, path)
    for option in fitting(value, *schema) if schema else ():
        yield Mend(f"Use {short(shown(option))}", (case.put({case.finding.field: option}),))
    if path[-1] == "default":
        yield Mend("Remove the default", (case.drop(case.finding.field),))


def _schema_of_value(case: Case, path: FieldPath) -> tuple[JsonObject, JsonObject] | None:
    tool = case.tool()
    assert tool is not None
    if path[1] == "surface_constants":
        keys = case.value((*path[:3], "path"))
        schema = schema_at(tool.input_schema, tuple(keys)) if isinstance(keys, list) else None
        return (schema, tool.input_schema) if schema else None
    found = case.binding_case()
    name = path[4] if path[3] == "constants" else case.value((*path[:5], "argument"))
    root = found[2].input_schema if found else {}
    schema = resolved(root.get("properties", {}).get(name), root)
    return (schema, root) if schema else None


def two_ways(case: Case) -> Iterator[Mend]:
    if case.component() is not None:
        yield Mend("Keep the recode", (case.drop(f"{case.finding.field}.conversion"),))


def pair(case: Case) -> Iterator[Mend]:
    """A pair of a recode that cannot be is taken out."""
    if case.component() is not None and len(case.path) > 1 and isinstance(case.path[-2], int):
        yield Mend("Remove this pair", (case.drop(format_path(case.path[:-1])),))


def recode_gap(case: Case) -> Iterator[Mend]:
    """A choice without a pair gets the one operation value that has none, or is taken out; and the other way round."""
    sides = _argument(case)
    if sides is None:
        return
    argument, surface_steps, surface, inner = sides
    path = case.path
    if path[-1] != "recode":
        value = case.value()
        if isinstance(value, list) and len(value) == 1:
            yield Mend(f"Use {short(shown(value[0]))}", (case.put({case.finding.field: value[0]}),))
        yield from _pair_value(case, argument, surface_steps, surface, inner)
        yield from pair(case)
        return
    choices, meanings = surface.get("enum"), inner.get("enum")
    if not isinstance(choices, list):
        return
    spoken = [shown(item.surface) for item in argument.recode]
    meant = [shown(item.operation) for item in argument.recode]
    idle = [option for option in choices if shown(option) not in spoken]
    unsaid = [option for option in meanings if shown(option) not in meant] if isinstance(meanings, list) else []
    pairs = [item.model_dump(mode="json") for item in argument.recode]
    if len(idle) == 1 and len(unsaid) == 1:
        added = {"operation": unsaid[0], "surface": idle[0]}
        label = f"Let {short(shown(idle[0]))} mean {short(shown(unsaid[0]))}"
        yield Mend(label, (case.put({case.finding.field: [*pairs, added]}),))
    if case.finding.code == "recode_surface_mismatch":
        yield from take_out_option(case, (*surface_steps, "enum"), choices)
        return
    for option in unsaid:
        if f" {shown(option)}, " in case.finding.message and shown(option) not in {*spoken, *map(shown, choices)}:
            fields = {
                case.finding.field: [*pairs, {"operation": option, "surface": option}],
                format_path((*surface_steps, "enum")): [*choices, option],
            }
            yield Mend(f"Let the model say {short(shown(option))}", (case.put(fields),))


def _pair_value(
    case: Case, argument: ArgumentMap, steps: FieldPath, surface: JsonObject, inner: JsonObject
) -> Iterator[Mend]:
    """One side of a pair that its schema does not know: the only value without a pair is meant."""
    side = str(case.path[-1])
    options = (surface if side == "surface" else inner).get("enum")
    if isinstance(options, list):
        covered = {shown(getattr(item, side)) for item in argument.recode}
        idle = [option for option in options if shown(option) not in covered]
        if len(idle) == 1:
            yield Mend(f"Use {short(shown(idle[0]))}", (case.put({case.finding.field: idle[0]}),))
        elif side == "surface":
            yield Mend("Add it to the choices", (case.put({format_path((*steps, "enum")): [*options, case.value()]}),))


def _argument(case: Case) -> tuple[ArgumentMap, FieldPath, JsonObject, JsonObject] | None:
    """The mapping a finding lies in, where its parameter's values are described, and the schemas of values on both sides."""
    tool, found = case.tool(), case.binding_case()
    path = case.path
    if tool is None or found is None or len(path) < 5 or path[3] != "arguments" or not isinstance(path[4], int):
        return None
    argument, operation = found[1].arguments[path[4]], found[2]
    surface = schema_at(tool.input_schema, argument.path)
    inner = resolved(operation.input_schema.get("properties", {}).get(argument.argument), operation.input_schema)
    if surface is None or inner is None:
        return None
    steps: FieldPath = ("input_schema", *(step for key in argument.path for step in ("properties", key)))
    values = element_schema(surface, tool.input_schema)
    if values is not surface:
        steps = (*steps, "items")
    return argument, steps, values, element_schema(inner, operation.input_schema)


def conversion(case: Case) -> Iterator[Mend]:
    """The conversion that fits both sides, or none."""
    if case.component() is not None:
        yield Mend("Remove the conversion", (case.drop(case.finding.field),))
        for kind, words in (("text", "Write the number as a text"), ("epoch", "Write the time in seconds")):
            yield Mend(words, (case.put({case.finding.field: {"kind": kind}}),))


def other_type(case: Case) -> Iterator[Mend]:
    """Number and text, time and seconds: the conversion between the two; else the model writes what the operation takes."""
    sides = _argument(case)
    if sides is None:
        return
    _, steps, surface, inner = sides
    here, there = types_of(surface, surface), types_of(inner, inner)
    if there & {"integer", "number"} and here == {"string"}:
        yield Mend("Write the number as a text", (case.put({f"{case.finding.field}.conversion": {"kind": "text"}}),))
    yield Mend("Describe it as the operation does", (case.put({format_path(steps): dict(inner)}),))


def refused(case: Case) -> Iterator[Mend]:
    sides = _argument(case)
    if sides is None:
        return
    _, steps, surface, inner = sides
    options = surface.get("enum")
    if isinstance(options, list):
        yield from take_out_option(case, (*steps, "enum"), options)
    if isinstance(inner.get("enum"), list):
        yield Mend("Offer what the operation takes", (case.put({format_path(steps): dict(inner)}),))


def unknown_result(case: Case) -> Iterator[Mend]:
    """The result field that was meant, or no mapping for it."""
    found = case.binding_case()
    value = case.value()
    if found is None or not isinstance(value, list) or not value:
        return
    schema = found[2].output_schema
    parent = schema_at(schema, tuple(value[:-1]), through_lists=True) if value[:-1] else schema
    keys = element_schema(parent, schema).get("properties", {}) if parent is not None else {}
    mapped = {tuple(item.path) for item in found[1].result.fields}
    match = close(str(value[-1]), [key for key in keys if (*value[:-1], key) not in mapped])
    if match:
        yield Mend(f"Use {short(match)}", (case.put({case.finding.field: [*value[:-1], match]}),))
    yield Mend("Remove this field", (case.drop(format_path(case.path[:-1])),))


def name_clash(case: Case) -> Iterator[Mend]:
    """A renamed field keeps its own name again: the first for which that settles the clash."""
    found = case.binding_case()
    if found is None:
        return
    for index, item in enumerate(found[1].result.fields):
        if item.name is not None:
            label = f"Leave {short('.'.join(item.path))} its own name"
            yield Mend(label, (case.drop(f"{case.finding.field}.fields[{index}].name"),))


def example_value(case: Case) -> Iterator[Mend]:
    """A single value of an example's call in the type that the operation takes."""
    component: Any = case.component()
    path = case.path
    if component is None or len(path) < 3 or not isinstance(path[1], int):
        return
    operation = case.catalogue.get(component.calls[path[1]].operation)
    if operation is None:
        return
    root = operation.input_schema if path[2] == "arguments" else operation.output_schema
    values = case.value()
    for name, value in values.items() if isinstance(values, dict) else ():
        schema = resolved(root.get("properties", {}).get(name), root)
        if schema is None or satisfies(value, schema, root):
            continue
        for option in fitting(value, schema, root):
            fixed = {**values, name: option}
            if satisfies(fixed, root, root):
                yield Mend(f"Use {short(shown(option))} for {short(name)}", (case.put({case.finding.field: fixed}),))
