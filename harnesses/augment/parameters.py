"""The parameters of a tool that can be changed safely: those reached through plain `properties`, and nothing else.

A schema that also speaks of its parameters elsewhere (`$ref`, `oneOf`, `dependentRequired`, a default for the whole object) is left
as it is: every family that changes parameters says that it does not apply there, rather than change one place of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from harnesses.core.caching import cached_by_identity
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.reach import OPAQUE
from harnesses.core.spec import HarnessSpec, Tool, ToolBinding

_SPEAKS_ELSEWHERE: Final = frozenset({
    *OPAQUE, "$ref", "$dynamicRef", "$defs", "definitions", "dependentRequired", "dependencies", "propertyNames",
    "unevaluatedProperties",
})  # fmt: skip
_WHOLE_VALUES: Final = ("default", "const", "enum", "examples")
_MAX_DEPTH: Final = 8
Keys = tuple[str, ...]


@cached_by_identity
def is_plain(tool: Tool) -> bool:
    """Whether the parameters of a tool are spoken of in plain `properties` alone."""
    return _is_plain(tool.input_schema, 0)


def _is_plain(schema: JsonObject, depth: int) -> bool:
    if depth > _MAX_DEPTH or any(key in schema for key in _SPEAKS_ELSEWHERE):
        return False
    properties = schema.get("properties")
    if properties is None:
        return True
    if not isinstance(properties, dict) or any(key in schema for key in _WHOLE_VALUES):
        return False
    return all(isinstance(inner, dict) and _is_plain(inner, depth + 1) for inner in properties.values())


@cached_by_identity
def parameter_paths(tool: Tool) -> tuple[tuple[Keys, JsonObject], ...]:
    """Path and schema of every parameter, groups before what they hold, in the order of the schema by name; none if not plain."""
    return tuple(_walk(tool.input_schema, ())) if is_plain(tool) else ()


def _walk(schema: JsonObject, path: Keys) -> Iterator[tuple[Keys, JsonObject]]:
    for name, inner in sorted(schema.get("properties", {}).items()):
        yield (*path, name), inner
        yield from _walk(inner, (*path, name))


def plain_names(tool: Tool) -> tuple[str, ...]:
    """The names of a tool's parameters at any depth; none of a tool whose schema is not plain."""
    return tuple(dict.fromkeys(path[-1] for path, _ in parameter_paths(tool)))


@cached_by_identity
def _property_names(tool: Tool) -> frozenset[str]:
    found: set[str] = set()

    def collect(value: JsonValue) -> None:
        if isinstance(value, dict):
            properties = value.get("properties")
            found.update(properties if isinstance(properties, dict) else ())
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            collect(inner)

    collect(tool.input_schema)
    return frozenset(found)


def strange_names(spec: HarnessSpec) -> set[str]:
    """Names of parameters that stand, somewhere in the harness, where they cannot be renamed: in lists, in odd schemas."""
    return {
        name for tool in spec.tools for name in _property_names(tool) if not is_plain(tool) or _is_inside(tool, name)
    }


def _is_inside(tool: Tool, name: str) -> bool:
    return name not in plain_names(tool) or any(
        name in _property_names(Tool(id="x", name="x", input_schema={"items": schema.get("items")}))
        for _, schema in parameter_paths(tool)
        if "items" in schema
    )


def is_described(tool: Tool, name: str) -> bool:
    """Whether every parameter of that name in a tool has a description."""
    return all(str(schema.get("description", "")).strip() for path, schema in parameter_paths(tool) if path[-1] == name)


def rename_parameters(tool: Tool, renames: Mapping[str, str]) -> Tool:
    """The tool with its plain parameters renamed; the very same object where it has none of these names."""
    if not any(name in renames for name in plain_names(tool)):
        return tool
    update = {
        "input_schema": _renamed_schema(tool.input_schema, renames),
        "parameter_order": tuple(renames.get(name, name) for name in tool.parameter_order),
        "binding": tool.binding and with_paths(tool.binding, lambda path: tuple(renames.get(key, key) for key in path)),
    }
    return tool.model_copy(update=update)


def _renamed_schema(schema: JsonObject, renames: Mapping[str, str]) -> JsonObject:
    result = dict(schema)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        result["properties"] = {
            renames.get(name, name): _renamed_schema(inner, renames) for name, inner in properties.items()
        }
        if isinstance(schema.get("required"), list):
            result["required"] = [renames.get(name, name) for name in schema["required"]]
    return result


def with_paths(binding: ToolBinding, changed: Callable[[Keys], Keys]) -> ToolBinding:
    """The binding with every path of the tool's arguments passed through `changed`."""
    cases = tuple(
        case.model_copy(
            update={"arguments": tuple(item.model_copy(update={"path": changed(item.path)}) for item in case.arguments)}
        )
        for case in binding.cases
    )
    constants = tuple(item.model_copy(update={"path": changed(item.path)}) for item in binding.surface_constants)
    return binding.model_copy(
        update={
            "cases": cases,
            "switch": binding.switch and changed(binding.switch),
            "surface_constants": constants,
            "ignored": tuple(changed(path) for path in binding.ignored),
        }
    )


def with_schema(schema: JsonObject, path: Keys, changed: JsonObject) -> JsonObject:
    """A copy of a plain schema in which the parameter at `path` has another schema."""
    if not path:
        return changed
    properties = schema["properties"]
    return {**schema, "properties": {**properties, path[0]: with_schema(properties[path[0]], path[1:], changed)}}
