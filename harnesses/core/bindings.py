"""Bindings at work: from what a model writes to the operation it means, and back.

A binding is invertible by construction. `to_operation_call` and `to_surface_call` undo each other on the *normal form* of the
surface arguments (arguments at their default and ignored ones left out); `to_surface_result` and `to_operation_result` undo
each other too. What cannot be mapped exactly is refused with a message in the words of the surface.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from harnesses.core.conversions import COERCERS, ValueMappingError, value_inward, value_outward
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationCall, OperationSpec
from harnesses.core.results import BindingError, to_operation_result, to_surface_result
from harnesses.core.schemas import (
    BrokenSchemaError,
    SchemaProblem,
    choices,
    dotted,
    leaf_paths,
    names_in_line,
    required_keys,
    resolved,
    same_json,
    schema_at,
    schema_problems,
    shown,
)
from harnesses.core.spec import ArgumentMap, BindingCase, HarnessSpec, Tool, ToolBinding

__all__ = [
    "BindingError",
    "BoundCall",
    "SurfaceCall",
    "coerce_arguments",
    "identity_binding",
    "normal_arguments",
    "surface_argument_name",
    "to_operation_call",
    "to_operation_result",
    "to_surface_call",
    "to_surface_result",
]

_MAX_PROBLEMS_TOLD = 3
_MISSING = object()
_PathKeys = tuple[str, ...]


@dataclass(frozen=True)
class BoundCall:
    """A model's call on the canonical side, and the case of the binding that led there (its result map is needed later)."""

    call: OperationCall
    case: BindingCase


@dataclass(frozen=True)
class SurfaceCall:
    """A call as the model has to write it."""

    tool_id: str
    tool_name: str
    arguments: JsonObject


# --- reading and writing paths -----------------------------------------------------------------------------------------


def _get(arguments: JsonObject, path: _PathKeys) -> JsonValue:
    """The value at `path`, or `_MISSING`."""
    node: JsonValue = arguments
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return _MISSING
        node = node[key]
    return node


def _put(arguments: JsonObject, path: _PathKeys, value: JsonValue) -> None:
    node: JsonValue = arguments
    for key in path[:-1]:
        node = node.setdefault(key, {}) if isinstance(node, dict) else None
    if not isinstance(node, dict) or path[-1] in node:
        raise BindingError("broken_binding", f'"{dotted(path)}" overlaps another path of the binding.', path)
    node[path[-1]] = deepcopy(value)


# --- surface → operation -----------------------------------------------------------------------------------------------


def to_operation_call(tool: Tool, arguments: JsonObject) -> BoundCall:
    """The operation call that a model's call means.

    The arguments are checked against the tool's schema (JSON Schema 2020-12) as they are: nothing is coerced here (see
    `coerce_arguments`). Raises BindingError; its codes are `unbound`, `broken_schema`, `missing_argument`,
    `unknown_argument`, `wrong_type`, `wrong_value`.
    """
    binding = _binding_of(tool)
    _check_against_schema(tool, arguments)
    case = _chosen_case(binding, arguments)
    _check_surface_constants(binding, arguments)
    _check_nothing_is_left_over(tool, binding, case, arguments)
    operation_arguments: JsonObject = deepcopy(case.constants)
    for argument in case.arguments:
        value = _get(arguments, argument.path)
        if value is not _MISSING:
            operation_arguments[argument.argument] = _inward(argument, value)
        elif argument.default is not None:
            operation_arguments[argument.argument] = deepcopy(argument.default)
    return BoundCall(call=OperationCall(operation=case.operation, arguments=operation_arguments), case=case)


def _binding_of(tool: Tool) -> ToolBinding:
    if tool.binding is None:
        raise BindingError("unbound", f'The tool "{tool.name}" is not connected to anything yet. Do not call it.')
    return tool.binding


def _inward(argument: ArgumentMap, value: JsonValue) -> JsonValue:
    try:
        return value_inward(value, argument.recode, argument.conversion)
    except ValueMappingError as error:
        raise BindingError("wrong_value", f'"{dotted(argument.path)}" {error}.', argument.path) from error


def _check_against_schema(tool: Tool, arguments: JsonObject) -> None:
    if not isinstance(arguments, dict):
        raise BindingError("wrong_type", f"The arguments must be an object, not {shown(arguments)}.")
    try:
        problems = schema_problems(tool.input_schema, arguments)
    except BrokenSchemaError as error:
        raise BindingError("broken_schema", f'The tool "{tool.name}" cannot be called: {error}.') from error
    if problems:
        _raise_first(problems)


def _raise_first(problems: tuple[SchemaProblem, ...]) -> None:
    told = " ".join(problem.message for problem in problems[:_MAX_PROBLEMS_TOLD])
    raise BindingError(problems[0].code, told, problems[0].path)


def _chosen_case(binding: ToolBinding, arguments: JsonObject) -> BindingCase:
    if binding.switch is None:
        return binding.cases[0]
    value = _get(arguments, binding.switch)
    name = dotted(binding.switch)
    options = choices(case.when for case in binding.cases)
    if value is _MISSING:
        raise BindingError("missing_argument", f'"{name}" is missing; give one of {options}.', binding.switch)
    for case in binding.cases:
        if same_json(case.when, value):
            return case
    raise BindingError("wrong_value", f'"{name}" must be one of {options}, not {shown(value)}.', binding.switch)


def _check_surface_constants(binding: ToolBinding, arguments: JsonObject) -> None:
    for constant in binding.surface_constants:
        value = _get(arguments, constant.path)
        name, wanted = dotted(constant.path), shown(constant.value)
        if value is _MISSING:
            raise BindingError("missing_argument", f'"{name}" is missing; it must be {wanted}.', constant.path)
        if not same_json(value, constant.value):
            raise BindingError("wrong_value", f'"{name}" must be {wanted}, not {shown(value)}.', constant.path)


def _check_nothing_is_left_over(tool: Tool, binding: ToolBinding, case: BindingCase, arguments: JsonObject) -> None:
    """Refuse arguments that would be dropped without a word: unknown ones, and those of another case of the switch."""
    read = _paths_read(binding, case)
    of_other_cases = {argument.path for other in binding.cases for argument in other.arguments} - read
    for path in _unread_paths(arguments, read | of_other_cases, ()):
        if schema_at(tool.input_schema, path) is None:
            known = names_in_line({dotted(leaf) for leaf in leaf_paths(tool.input_schema)}) or "none"
            raise BindingError("unknown_argument", f'"{dotted(path)}" is not known here; possible are {known}.', path)
    for path in sorted(of_other_cases):
        if _get(arguments, path) is not _MISSING and binding.switch is not None:
            switch = f'"{dotted(binding.switch)}" is {shown(case.when)}'
            raise BindingError("unknown_argument", f'"{dotted(path)}" is not used when {switch}. Leave it out.', path)


def _paths_read(binding: ToolBinding, case: BindingCase) -> set[_PathKeys]:
    read = {argument.path for argument in case.arguments} | {constant.path for constant in binding.surface_constants}
    read.update(binding.ignored)
    if binding.switch is not None:
        read.add(binding.switch)
    return read


def _unread_paths(node: JsonObject, read: set[_PathKeys], prefix: _PathKeys) -> Iterator[_PathKeys]:
    """Paths in `node` that no path in `read` covers, leads to, or passes through."""
    for key in sorted(node):
        path = (*prefix, key)
        if path in read:
            continue
        is_on_the_way = any(other[: len(path)] == path for other in read)
        if is_on_the_way and isinstance(node[key], dict):
            yield from _unread_paths(node[key], read, path)
        else:
            yield path


# --- operation → surface -----------------------------------------------------------------------------------------------


def to_surface_call(spec: HarnessSpec, call: OperationCall) -> SurfaceCall:
    """The call that a model has to write to make `call`, in normal form.

    Of several tools that reach it, the one with the most fixed operation arguments is taken (it was made for this), then the
    first of the harness. Raises BindingError (`unreachable`) if no tool reaches it.
    """
    reasons = []
    for tool, case in _candidates(spec, call):
        try:
            arguments = _surface_arguments(tool, case, call)
            if _means(tool, arguments, call):
                return SurfaceCall(tool_id=tool.id, tool_name=tool.name, arguments=arguments)
        except BindingError as error:
            reasons.append(f"{tool.name}: {error.message}")
    why = f" Tried {'; '.join(reasons)}" if reasons else ""
    raise BindingError("unreachable", f"No tool of this harness reaches {call.operation} with these arguments.{why}")


def _candidates(spec: HarnessSpec, call: OperationCall) -> list[tuple[Tool, BindingCase]]:
    found = [
        (tool, case)
        for tool in spec.tools
        if tool.binding is not None
        for case in tool.binding.cases
        if case.operation == call.operation
        and all(
            name in call.arguments and same_json(call.arguments[name], value) for name, value in case.constants.items()
        )
    ]
    return sorted(found, key=lambda pair: -len(pair[1].constants))


def _means(tool: Tool, arguments: JsonObject, call: OperationCall) -> bool:
    bound = to_operation_call(tool, arguments).call
    return bound.operation == call.operation and same_json(bound.arguments, call.arguments)


def _surface_arguments(tool: Tool, case: BindingCase, call: OperationCall) -> JsonObject:
    """Surface arguments, in normal form, for a call that this case of this tool covers. Raises BindingError if it does not."""
    binding = _binding_of(tool)
    mapped = {argument.argument: argument for argument in case.arguments}
    for name in sorted(call.arguments):
        if name not in mapped and name not in case.constants:
            raise BindingError("unreachable", f'it has no argument for "{name}".', (name,))
    arguments: JsonObject = {}
    defaults: list[ArgumentMap] = []
    for argument in case.arguments:
        if argument.argument not in call.arguments:
            continue
        if argument.default is not None and same_json(call.arguments[argument.argument], argument.default):
            defaults.append(argument)
        else:
            _put(arguments, argument.path, _outward(argument, call.arguments[argument.argument]))
    if binding.switch is not None:
        _put(arguments, binding.switch, case.when)
    for constant in binding.surface_constants:
        _put(arguments, constant.path, constant.value)
    _give_what_is_required(tool.input_schema, (), arguments, {argument.path: argument for argument in defaults})
    return arguments


def _outward(argument: ArgumentMap, value: JsonValue) -> JsonValue:
    try:
        return value_outward(value, argument.recode, argument.conversion)
    except ValueMappingError as error:
        raise BindingError("unreachable", f'"{argument.argument}" {error}.', argument.path) from error


def _give_what_is_required(
    root: JsonObject, path: _PathKeys, node: JsonObject, defaults: dict[_PathKeys, ArgumentMap]
) -> None:
    """Add arguments at their default where the schema insists on them, and the objects that must hold them."""
    schema = schema_at(root, path)
    for key in required_keys(schema):
        inner = (*path, key)
        if key in node:
            continue
        if inner in defaults:
            node[key] = _outward(defaults[inner], defaults[inner].default)
        elif any(other[: len(inner)] == inner for other in defaults):
            node[key] = {}
    for key, value in node.items():
        if isinstance(value, dict) and any(other[: len(path) + 1] == (*path, key) for other in defaults):
            _give_what_is_required(root, (*path, key), value, defaults)


def normal_arguments(tool: Tool, arguments: JsonObject) -> JsonObject:
    """The normal form of a model's arguments: defaults and ignored ones left out, values in the one spelling that bindings give.

    Two calls mean the same if their normal forms are equal. Raises BindingError if the call cannot be mapped.
    """
    bound = to_operation_call(tool, arguments)
    return _surface_arguments(tool, bound.case, bound.call)


# --- helpers for the runtime -------------------------------------------------------------------------------------------


def surface_argument_name(case: BindingCase, argument: str) -> str:
    """The dotted surface path by which the model knows an operation argument (or a field within one: "lines.0.quantity").

    Empty if the model has no such argument (it is a constant, or unknown): then say nothing about it.
    """
    head, _, rest = argument.partition(".")
    for known in case.arguments:
        if known.argument == argument:
            return dotted(known.path)
        if known.argument == head:
            return dotted((*known.path, rest))
    return ""


def identity_binding(operation: OperationSpec) -> ToolBinding:
    """The binding of a tool that looks just like the operation."""
    arguments = tuple(ArgumentMap(argument=name, path=(name,)) for name in sorted(operation.argument_names))
    return ToolBinding(cases=(BindingCase(operation=operation.name, arguments=arguments),))


def coerce_arguments(tool: Tool, arguments: JsonObject) -> JsonObject:
    """Turn texts into integers, numbers and booleans where the tool's schema says exactly that type, and nothing else.

    For call formats in which every value is text. A text that spells no such value is left for `to_operation_call` to refuse.
    """
    coerced = _coerced(tool.input_schema, tool.input_schema, arguments)
    assert isinstance(coerced, dict)
    return coerced


def _coerced(schema: JsonValue, root: JsonObject, value: JsonValue) -> JsonValue:
    node = resolved(schema, root)
    if node is None:
        return value
    if isinstance(value, str):
        coercer = COERCERS.get(node["type"]) if isinstance(node.get("type"), str) else None
        result = coercer(value) if coercer else None
        return value if result is None else result
    properties = node.get("properties")
    if isinstance(value, dict) and isinstance(properties, dict):
        return {key: _coerced(properties.get(key), root, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_coerced(node.get("items"), root, item) for item in value]
    return value
