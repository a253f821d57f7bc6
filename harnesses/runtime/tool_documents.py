"""How tools and skills are described to the model, in the prompt.

Two formats: `json` (one JSON document a line, in the MCP shape) and `lines` (compact, and cheaper in tokens). By default the
description comes before the name: a causal model has then read what a tool does when it meets what it is called. Nothing here
depends on the order of JSON keys: parameters come in the order that `Tool` documents, everything else in a fixed one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.parameters import ordered_properties
from harnesses.core.spec import HarnessSpec, RuntimeSettings, Skill, Tool

SKILL_ARGUMENT: Final = "name"
"""The one argument of the built-in tool that loads a skill."""

_SCHEMA_KEYS: Final = ("type", "description", "enum", "const", "format", "items", "properties", "required")
_MAX_DEPTH: Final = 6


def tool_documents(spec: HarnessSpec) -> str:
    """Documents of all tools, the built-in skill loader included, as one text; empty for a harness without tools."""
    settings = spec.runtime
    tools = list(spec.tools)
    loader = skill_loader(spec)
    if loader is not None:
        tools.append(loader)
    separator = "\n" if settings.tool_document_format == "json" else "\n\n"
    return separator.join(tool_document(tool, settings) for tool in tools)


def tool_document(tool: Tool, settings: RuntimeSettings) -> str:
    """The document of one tool."""
    is_name_first = settings.tool_document_order == "name_first"
    if settings.tool_document_format == "json":
        return _json_document(tool, is_name_first)
    return _lines_document(tool, is_name_first)


def skill_loader(spec: HarnessSpec) -> Tool | None:
    """The built-in tool that shows a skill's body, where skills are disclosed on demand. A tool of the same name hides it."""
    settings = spec.runtime
    if settings.disclosure != "on_demand" or not spec.skills or spec.tool_named(settings.skill_tool_name):
        return None
    return Tool(
        id="built-in.skill-loader",
        name=settings.skill_tool_name,
        description="Shows the full text of one skill. Read a skill before you act on it.",
        input_schema={
            "type": "object",
            "properties": {
                SKILL_ARGUMENT: {
                    "type": "string",
                    "description": "The skill's name.",
                    "enum": [skill.name for skill in spec.skills],
                }
            },
            "required": [SKILL_ARGUMENT],
        },
    )


def skill_index(skills: tuple[Skill, ...]) -> str:
    """Names and descriptions, one skill a line."""
    return "\n".join(f"- {skill.name}: {_one_line(skill.description)}" for skill in skills)


# --- json ------------------------------------------------------------------------------------------------------------


def _json_document(tool: Tool, is_name_first: bool) -> str:
    description = {"description": tool.description or tool.title}
    name = {"name": tool.name}
    head = {**name, **description} if is_name_first else {**description, **name}
    return json.dumps(
        {**head, "inputSchema": _ordered_schema(tool.input_schema, tool.parameter_order)}, ensure_ascii=False
    )


def _ordered_schema(schema: JsonValue, order: tuple[str, ...] = (), depth: int = 0) -> JsonValue:
    if not isinstance(schema, Mapping) or depth > 2 * _MAX_DEPTH:
        return schema
    keys = [key for key in _SCHEMA_KEYS if key in schema] + sorted(key for key in schema if key not in _SCHEMA_KEYS)
    result: JsonObject = {}
    for key in keys:
        value = schema[key]
        if key == "properties" and isinstance(value, Mapping):
            result[key] = {
                name: _ordered_schema(value[name], depth=depth + 1) for name in ordered_properties(schema, order)
            }
        elif key == "required" and isinstance(value, list):
            result[key] = [name for name in ordered_properties(schema, order) if name in value]
        elif isinstance(value, Mapping) and key not in ("default", "const"):
            result[key] = _ordered_schema(value, depth=depth + 1) if key != "$defs" else _ordered_map(value, depth)
        elif key in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            result[key] = [_ordered_schema(item, depth=depth + 1) for item in value]
        else:
            result[key] = value
    return result


def _ordered_map(value: Mapping[str, Any], depth: int) -> JsonObject:
    return {name: _ordered_schema(value[name], depth=depth + 1) for name in sorted(value)}


# --- lines -----------------------------------------------------------------------------------------------------------


def _lines_document(tool: Tool, is_name_first: bool) -> str:
    description = _one_line(tool.description or tool.title)
    name = f"tool: {tool.name}"
    head = [name, description] if is_name_first else [description, name]
    lines = [line for line in head if line != ""]
    lines += _parameter_lines(tool.input_schema, tool.input_schema, tool.parameter_order, 1)
    return "\n".join(lines)


def _parameter_lines(
    schema: Mapping[str, Any], root: Mapping[str, Any], order: tuple[str, ...], depth: int
) -> Iterator[str]:
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    for name in ordered_properties(schema, order):
        parameter = _resolved(schema["properties"][name], root)
        traits = [_kind(parameter, root), "required" if name in required else "optional"]
        if "default" in parameter:
            traits.append(f"default {_value(parameter['default'])}")
        description = _one_line(str(parameter.get("description", "")))
        yield f"{'  ' * depth}{name} ({', '.join(traits)})" + (f": {description}" if description else "")
        if depth < _MAX_DEPTH:
            nested = parameter
            if isinstance(parameter.get("items"), Mapping):
                nested = _resolved(parameter["items"], root)
            yield from _parameter_lines(nested, root, (), depth + 1)


def _resolved(schema: JsonValue, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a local `$ref` points to, its own keys on top; an unresolvable one stands for anything."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target: Any = root if reference.startswith("#") else None
        for key in reference.split("/")[1:]:
            target = target.get(key) if isinstance(target, Mapping) else None
        own = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**(target if isinstance(target, Mapping) else {}), **own}
    return {}


def _kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if "const" in schema:
        return f"always {_value(schema['const'])}"
    if isinstance(schema.get("enum"), list):
        return "one of " + " | ".join(_value(item) for item in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " or ".join(dict.fromkeys(_kind(_resolved(item, root), root) for item in schema[key]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(item) for item in kind)
    if kind == "array":
        return f"list of {_kind(_resolved(schema.get('items', {}), root), root)}"
    text = str(kind) if isinstance(kind, str) else "any"
    return text + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" {_value(low)} to {_value(high)}"
    if low is not None:
        return f" from {_value(low)}"
    return f" up to {_value(high)}" if high is not None else ""


def _value(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())
