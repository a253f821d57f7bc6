"""Mends of a tool's schema and of how it is bound."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from harnesses.core.bindings import identity_binding
from harnesses.core.checks_bindings import used_paths
from harnesses.core.editing.copies import tool_from_operation
from harnesses.core.fieldpaths import FieldPath, format_path
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.mends.basis import Case, Mend, close, free, short
from harnesses.core.operations import OperationSpec
from harnesses.core.schemas import dotted, leaf_paths, required_keys, resolved, schema_at, shown
from harnesses.core.spec import Tool


def without_type(case: Case) -> Iterator[Mend]:
    tool = case.tool()
    if tool is not None and case.finding.field == "input_schema" and "type" not in tool.input_schema:
        yield Mend('Add "type": "object"', (case.put({"input_schema.type": "object"}),))


def entry(case: Case) -> Iterator[Mend]:
    """The entry of a list that the finding names is taken out."""
    if case.component() is not None:
        value = case.value()
        what = shown(value) if isinstance(value, str) else "it"
        yield Mend(f"Take {short(what)} out", (case.drop(case.finding.field),))


def required_unknown(case: Case) -> Iterator[Mend]:
    tool = case.tool()
    if tool is None or not isinstance(tool.input_schema.get("required"), list):
        return
    known = tool.input_schema.get("properties", {})
    kept = [name for name in tool.input_schema["required"] if name in known]
    yield Mend("Require only what is described", (case.put({"input_schema.required": kept}),))


def unbound(case: Case) -> Iterator[Mend]:
    """Connect a tool to the operation of its name, where its parameters are that operation's arguments."""
    tool = case.tool()
    if tool is None:
        return
    plain = {name.replace(".", "_").casefold(): name for name in case.catalogue}
    name = plain.get(tool.name.casefold()) or plain.get(tool.id.replace("-", "_").casefold())
    parameters = set(tool.input_schema.get("properties", {}))
    operation = case.catalogue.get(name) if name else None
    if operation is None or not parameters <= set(operation.argument_names):
        return
    binding = identity_binding(operation).model_dump(mode="json")
    arguments = binding["cases"][0]["arguments"]
    binding["cases"][0]["arguments"] = [item for item in arguments if item["argument"] in parameters]
    yield Mend(f"Connect it to {short(operation.name)}", (case.set(binding=binding),))


def unreached(case: Case) -> Iterator[Mend]:
    told = case.finding.message
    operation = next((item for item in case.catalogue.values() if told.endswith(f" {item.name}.")), None)
    if operation is not None:
        tool = tool_from_operation(operation, case.spec)
        edit = {"op": "add", "kind": "tool", "component": tool.model_dump(mode="json")}
        yield Mend(f"Add a tool for {short(operation.name)}", (edit,))


def unused(case: Case) -> Iterator[Mend]:
    """A parameter that reaches nothing is said to be ignored: nothing changes for the model."""
    tool = case.tool()
    path = _surface_path(tool, case.finding.field)
    if tool is not None and tool.binding is not None and path:
        ignored = [list(item) for item in tool.binding.ignored]
        yield Mend("Say that it is ignored", (case.put({"binding.ignored": [*ignored, list(path)]}),))


def _surface_path(tool: Tool | None, field: str) -> tuple[str, ...]:
    """The parameter that a field such as `input_schema.group.note` means."""
    wanted = field.removeprefix("input_schema.")
    paths = leaf_paths(tool.input_schema) if tool is not None else ()
    return next((path for path in paths if dotted(path) == wanted), ())


def unknown_path(case: Case) -> Iterator[Mend]:
    """The parameter that was meant: one that nothing uses; else the mapping goes, or the parameter comes."""
    tool = case.tool()
    if tool is None or tool.binding is None:
        return
    path, value = case.path, case.value()
    wanted = tuple(str(step) for step in value) if isinstance(value, list) else ()
    used = used_paths(tool.binding)
    idle = [leaf for leaf in leaf_paths(tool.input_schema) if not any(leaf[: len(item)] == item for item in used)]
    names = {dotted(leaf): leaf for leaf in idle}
    match = close(dotted(wanted), names) or (dotted(idle[0]) if len(idle) == 1 else None)
    if match:
        yield Mend(f"Use the parameter {short(match)}", (case.put({case.finding.field: list(names[match])}),))
    if path[1] in ("ignored", "surface_constants"):
        yield Mend("Take it out of the binding", (case.drop(format_path(path[:3])),))
    elif path[1] == "cases":
        found = case.binding_case()
        operation = found[2] if found else None
        argument = case.value((*path[:5], "argument"))
        if operation is not None and isinstance(argument, str):
            if argument not in operation.required_arguments:
                yield Mend(f"Do not supply {short(argument)}", (case.drop(format_path(path[:5])),))
            if len(wanted) == 1:
                fields = _new_parameter(tool, wanted[0], operation, argument)
                yield Mend(f"Add the parameter {short(wanted[0])}", (case.put(fields),))


def _new_parameter(tool: Tool, name: str, operation: OperationSpec, argument: str) -> JsonObject:
    """Fields that describe a new top-level parameter as the operation describes its argument."""
    schema = resolved(operation.input_schema.get("properties", {}).get(argument), operation.input_schema) or {}
    fields: JsonObject = {format_path(("input_schema", "properties", name)): deepcopy(schema)}
    is_single = tool.binding is None or len(tool.binding.cases) == 1
    if argument in operation.required_arguments and is_single:
        fields["input_schema.required"] = [*required_keys(tool.input_schema), name]
    if tool.parameter_order:
        fields["parameter_order"] = [*tool.parameter_order, name]
    return fields


def missing_argument(case: Case) -> Iterator[Mend]:
    """A parameter for an operation argument that nobody supplies: one that nothing uses yet, else a new one."""
    tool, found = case.tool(), case.binding_case()
    if tool is None or tool.binding is None or found is None:
        return
    index, binding_case, operation = found
    supplied = {*binding_case.constants, *(item.argument for item in binding_case.arguments)}
    argument = next(
        (name for name in operation.required_arguments if name not in supplied and f'"{name}"' in case.finding.message),
        None,
    )
    if argument is None:
        return
    place = format_path(("binding", "cases", index, "arguments", len(binding_case.arguments)))
    properties = tool.input_schema.get("properties", {})
    if argument in properties and (argument,) not in used_paths(tool.binding):
        edit = case.put({place: {"argument": argument, "path": [argument]}})
        fields = _required(tool, (argument,))
        yield Mend(f"Supply it from {short(argument)}", (case.put({**edit["fields"], **fields}),))
    name = free(argument, properties)
    fields = _new_parameter(tool, name, operation, argument)
    fields[place] = {"argument": argument, "path": [name]}
    yield Mend(f"Add the parameter {short(name)}", (case.put(fields),))


def not_required(case: Case) -> Iterator[Mend]:
    """What may be left out, but must not be, is put under "required"."""
    tool = case.tool()
    path = _surface_path(tool, case.finding.field)
    if tool is not None and path:
        yield Mend(f"Require {short(dotted(path))}", (case.put(_required(tool, path)),))


def _required(tool: Tool, path: tuple[str, ...]) -> JsonObject:
    """Fields that make every key on the way to a parameter required."""
    fields: JsonObject = {}
    for depth, key in enumerate(path):
        steps: FieldPath = ("input_schema", *(step for outer in path[:depth] for step in ("properties", outer)))
        keys = required_keys(schema_at(tool.input_schema, path[:depth]))
        if key not in keys:
            fields[format_path((*steps, "required"))] = [*keys, key]
    return fields


def unknown_operation(case: Case) -> Iterator[Mend]:
    if case.component() is not None and (match := close(str(case.value()), case.catalogue)):
        yield Mend(f"Use {short(match)}", (case.put({case.finding.field: match}),))


def unknown_argument(case: Case) -> Iterator[Mend]:
    """The argument that was meant, if it is free; else the mapping goes."""
    found = case.binding_case()
    if found is None:
        return
    index, binding_case, operation = found
    path = case.path
    supplied = {*binding_case.constants, *(item.argument for item in binding_case.arguments)}
    is_constant = path[3] == "constants"
    name = str(path[4] if is_constant else case.value())
    open_names = [item for item in operation.argument_names if item not in supplied]
    needed = [item for item in open_names if item in operation.required_arguments]
    match = close(name, open_names) or (needed[0] if len(needed) == 1 else None)
    if match and is_constant:
        constants = {match if key == name else key: value for key, value in binding_case.constants.items()}
        place = format_path(("binding", "cases", index, "constants"))
        yield Mend(f"Use {short(match)}", (case.put({place: constants}),))
    elif match:
        yield Mend(f"Use {short(match)}", (case.put({case.finding.field: match}),))
    yield Mend("Take it out of the binding", (case.drop(format_path(path[:5])),))


def supplied_twice(case: Case) -> Iterator[Mend]:
    """One supply stays: the mapping, which the model can use, rather than a fixed value; of two mappings the first."""
    tool, found = case.tool(), case.binding_case()
    if tool is None or tool.binding is None or found is None:
        return
    index, binding_case, _ = found
    steps, name = case.path[:5], str(case.value())
    if name in binding_case.constants:
        place = format_path(("binding", "cases", index, "constants", name))
        yield Mend(f"Remove the fixed value of {short(name)}", (case.drop(place),))
    ignored = [list(item) for item in tool.binding.ignored]
    drop = case.drop(format_path(steps))
    yield Mend(
        "Keep the first of the two", (drop, case.put({"binding.ignored": [*ignored, case.value((*steps, "path"))]}))
    )
    yield Mend("Keep the first of the two", (drop,))


def overlap(case: Case) -> Iterator[Mend]:
    """What is mapped needs not be ignored as well."""
    tool = case.tool()
    if tool is None or tool.binding is None:
        return
    paths = [item.path for binding_case in tool.binding.cases for item in binding_case.arguments]
    paths += [item.path for item in tool.binding.surface_constants] + (
        [tool.binding.switch] if tool.binding.switch else []
    )
    kept = [list(item) for item in tool.binding.ignored if not any(_touch(item, path) for path in paths)]
    if len(kept) < len(tool.binding.ignored):
        yield Mend("Do not ignore what is used", (case.put({"binding.ignored": kept}),))


def _touch(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return one[: len(other)] == other or other[: len(one)] == one


# --- the switch --------------------------------------------------------------------------------------------------------


def no_switch(case: Case) -> Iterator[Mend]:
    tool = case.tool()
    if tool is not None and tool.binding is not None and len(tool.binding.cases) == 1:
        yield Mend('Remove "when"', (case.drop("binding.cases[0].when"),))


def switch_value(case: Case) -> Iterator[Mend]:
    """The one value that no case answers to; or a value that no case answers to is taken out of the choices."""
    tool = case.tool()
    if tool is None or tool.binding is None or tool.binding.switch is None:
        return
    steps: FieldPath = ("input_schema", *(step for key in tool.binding.switch for step in ("properties", key)), "enum")
    options = case.value(steps)
    if not isinstance(options, list):
        return
    answered = [item.when for item in tool.binding.cases]
    idle = [option for option in options if not any(shown(option) == shown(value) for value in answered)]
    if case.finding.field.endswith(".when") and len(idle) == 1:
        yield Mend(f"Choose it by {short(shown(idle[0]))}", (case.put({case.finding.field: idle[0]}),))
    elif case.finding.field.endswith(".enum"):
        yield from take_out_option(case, steps, options)


def take_out_option(case: Case, steps: FieldPath, options: list[JsonValue]) -> Iterator[Mend]:
    """The option that the finding names is taken out of what the model can write."""
    named = [option for option in options if f" {shown(option)}, " in case.finding.message]
    for option in named[:1]:
        kept = [item for item in options if shown(item) != shown(option)]
        if kept:
            yield Mend(f"Take {short(shown(option))} out of the choices", (case.put({format_path(steps): kept}),))
