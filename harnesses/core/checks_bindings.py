"""Checks of a binding against the tool's schema on one side and the operation's on the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harnesses.core.checks_results import check_result_map
from harnesses.core.checks_values import check_argument_values, check_value
from harnesses.core.findings import Finding, Place, listed
from harnesses.core.operations import OperationCatalogue, OperationSpec
from harnesses.core.schemas import dotted, is_required, resolved, same_json, schema_at, shown
from harnesses.core.spec import ArgumentMap, BindingCase, Tool, ToolBinding

_PathKeys = tuple[str, ...]


def used_paths(binding: ToolBinding) -> set[_PathKeys]:
    """Every path of the tool's arguments that the binding knows, in whatever case."""
    used = {argument.path for case in binding.cases for argument in case.arguments} | set(binding.ignored)
    used.update(constant.path for constant in binding.surface_constants)
    return used | ({binding.switch} if binding.switch else set())


def check_binding(place: Place, tool: Tool, binding: ToolBinding, catalogue: OperationCatalogue) -> Iterator[Finding]:
    """Everything wrong with how a tool is bound. The tool's own schema must be usable."""
    yield from _switch(place, tool, binding)
    yield from _surface_constants(place, tool, binding)
    for index, path in enumerate(binding.ignored):
        yield from _known_path(place, tool, f"binding.ignored[{index}]", path)
    for index, case in enumerate(binding.cases):
        field = f"binding.cases[{index}]"
        yield from _overlaps(place, field, binding, case)
        operation = catalogue.get(case.operation)
        if operation is None:
            yield place.error(
                "unknown_operation",
                f"{field}.operation",
                f'There is no operation "{case.operation}".',
                f"Use one of: {listed(set(catalogue))}.",
            )
            continue
        yield from _case(place, field, tool, case, operation)
        yield from _suppliers(place, field, tool, binding, case, operation)
        yield from check_result_map(place, f"{field}.result", case.result, operation)


def _known_path(place: Place, tool: Tool, field: str, path: _PathKeys) -> Iterator[Finding]:
    if schema_at(tool.input_schema, path) is None:
        yield place.error(
            "unknown_path",
            field,
            f'The input schema has no parameter "{dotted(path)}".',
            "Describe it in the input schema, or correct the path.",
        )


def _switch(place: Place, tool: Tool, binding: ToolBinding) -> Iterator[Finding]:
    if binding.switch is None:
        if len(binding.cases) > 1:
            yield place.error(
                "switch_missing",
                "binding.switch",
                f"The binding has {len(binding.cases)} cases and no switch to choose between them; only the first is used.",
                "Name the parameter that chooses, or keep one case.",
            )
        elif binding.cases[0].when is not None:
            yield place.warning(
                "switch_missing",
                "binding.switch",
                'The only case has a "when", but there is no switch.',
                'Name the switch, or remove "when".',
            )
        return
    yield from _known_path(place, tool, "binding.switch", binding.switch)
    schema = schema_at(tool.input_schema, binding.switch)
    if schema is None:
        return
    for index, case in enumerate(binding.cases):
        field = f"binding.cases[{index}].when"
        if case.when is None:
            yield place.error("switch_value_missing", field, 'The case has no "when".', "Say which value chooses it.")
            continue
        if any(same_json(case.when, other.when) for other in binding.cases[:index]):
            yield place.error(
                "switch_value_repeats",
                field,
                f"Two cases are chosen by {shown(case.when)}.",
                "Give each case a value of its own.",
            )
        yield from check_value(place, "switch_value_mismatch", field, case.when, schema, tool.input_schema)
    for option in schema.get("enum", ()):
        if not any(same_json(option, case.when) for case in binding.cases):
            yield place.error(
                "switch_value_mismatch",
                f"input_schema.{dotted(binding.switch)}.enum",
                f"The model can choose {shown(option)}, but no case answers to it.",
                "Add a case for it, or take it out of the schema.",
            )
    if not is_required(tool.input_schema, binding.switch):
        yield place.warning(
            "switch_optional",
            f"input_schema.{dotted(binding.switch)}",
            f'"{dotted(binding.switch)}" chooses what the tool does, but the schema does not require it.',
            'Put it under "required".',
        )


def _surface_constants(place: Place, tool: Tool, binding: ToolBinding) -> Iterator[Finding]:
    for index, constant in enumerate(binding.surface_constants):
        field = f"binding.surface_constants[{index}]"
        schema = schema_at(tool.input_schema, constant.path)
        if schema is None:
            yield from _known_path(place, tool, f"{field}.path", constant.path)
            continue
        yield from check_value(
            place, "surface_constant_mismatch", f"{field}.value", constant.value, schema, tool.input_schema
        )
        if not is_required(tool.input_schema, constant.path):
            yield place.warning(
                "surface_constant_optional",
                f"input_schema.{dotted(constant.path)}",
                f'"{dotted(constant.path)}" must be {shown(constant.value)}, but the schema does not require it.',
                'Put it under "required" and describe the value with "const".',
            )


def _overlaps(place: Place, field: str, binding: ToolBinding, case: BindingCase) -> Iterator[Finding]:
    paths = [argument.path for argument in case.arguments] + [item.path for item in binding.surface_constants]
    paths += [*binding.ignored, *([binding.switch] if binding.switch else [])]
    for one, other in pairwise(sorted(paths)):  # a path that starts others starts the next one
        if other[: len(one)] == one:
            yield place.error(
                "paths_overlap",
                field,
                f'"{dotted(other)}" lies at or within "{dotted(one)}": one value would be used twice.',
                "Give each operation argument a path of its own.",
            )


def _case(place: Place, field: str, tool: Tool, case: BindingCase, operation: OperationSpec) -> Iterator[Finding]:
    known = operation.input_schema.get("properties", {})
    seen = set(case.constants)
    for name, value in sorted(case.constants.items()):
        where = f"{field}.constants.{name}"
        if name not in known:
            yield _unknown_argument(place, where, name, operation)
        else:
            yield from check_value(place, "constant_mismatch", where, value, known[name], operation.input_schema)
    for index, argument in enumerate(case.arguments):
        where = f"{field}.arguments[{index}]"
        if argument.argument in seen:
            yield place.error(
                "argument_supplied_twice",
                f"{where}.argument",
                f'The operation argument "{argument.argument}" is supplied twice.',
                "Keep one of the two.",
            )
        seen.add(argument.argument)
        yield from _known_path(place, tool, f"{where}.path", argument.path)
        surface = schema_at(tool.input_schema, argument.path)
        inner = resolved(known.get(argument.argument), operation.input_schema)
        if argument.argument not in known:
            yield _unknown_argument(place, f"{where}.argument", argument.argument, operation)
        elif surface is not None and inner is not None:
            yield from check_argument_values(
                place, where, argument, (surface, tool.input_schema), (inner, operation.input_schema)
            )


def _unknown_argument(place: Place, field: str, name: str, operation: OperationSpec) -> Finding:
    return place.error(
        "unknown_operation_argument",
        field,
        f'The operation {operation.name} has no argument "{name}".',
        f"Use one of: {listed(operation.argument_names)}.",
    )


def _suppliers(
    place: Place, field: str, tool: Tool, binding: ToolBinding, case: BindingCase, operation: OperationSpec
) -> Iterator[Finding]:
    """Required operation arguments that nobody supplies, or that the model may leave out.

    A tool with several cases cannot say in its schema what one case requires, so there the operation itself will ask.
    """
    mapped: dict[str, ArgumentMap] = {argument.argument: argument for argument in case.arguments}
    for name in operation.required_arguments:
        if name in case.constants:
            continue
        argument = mapped.get(name)
        if argument is None:
            yield place.error(
                "missing_operation_argument",
                field,
                f'Nobody supplies "{name}", which the operation {operation.name} requires.',
                "Map a parameter to it, or fix it as a constant.",
            )
        elif (
            argument.default is None
            and len(binding.cases) == 1
            and schema_at(tool.input_schema, argument.path) is not None
            and not is_required(tool.input_schema, argument.path)
        ):
            yield place.error(
                "optional_feeds_required",
                f"input_schema.{dotted(argument.path)}",
                f'"{dotted(argument.path)}" may be left out, but the operation {operation.name} requires "{name}".',
                'Put the parameter under "required", or give the argument a default in the binding.',
            )
