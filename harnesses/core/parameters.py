"""In which order a model reads a tool's parameters, and writes them: never the accidental order of JSON keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.spec import Tool


def parameter_names(tool: Tool) -> tuple[str, ...]:
    """The tool's parameters in the order that `Tool` documents: `parameter_order`, the required ones, the rest by name."""
    return tuple(ordered_properties(tool.input_schema, tool.parameter_order))


def ordered_properties(schema: Mapping[str, Any], order: tuple[str, ...] = ()) -> list[str]:
    """Property names of an object schema: those of `order`, then the required ones as `required` lists them, then by name."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required")
    wanted = [*order, *(name for name in (required if isinstance(required, list) else ()) if isinstance(name, str))]
    names = dict.fromkeys(name for name in wanted if name in properties)
    return [*names, *sorted(name for name in properties if name not in names)]


def ordered_arguments(tool: Tool, arguments: JsonObject) -> JsonObject:
    """The same arguments, keys in the order of the tool's parameters, nested ones too; unknown keys last, by name."""
    result = _ordered(tool.input_schema, tool.parameter_order, arguments)
    assert isinstance(result, dict)
    return result


def _ordered(schema: Any, order: tuple[str, ...], value: JsonValue) -> JsonValue:
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, list):
        return [_ordered(schema.get("items"), (), item) for item in value]
    if not isinstance(value, dict):
        return value
    known = ordered_properties(schema, order)
    names = [name for name in known if name in value] + sorted(name for name in value if name not in known)
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    return {name: _ordered(properties.get(name), (), value[name]) for name in names}
