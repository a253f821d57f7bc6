"""OpenAI tool arrays, taken into a harness: the nested form of chat completions and the flat one of the Responses API."""

from __future__ import annotations

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.formats.tool_merge import ForeignTool, merge_tools

_EXPECTED = 'Expected a list of {"type": "function", …} objects, or a request with it under "tools".'
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def is_tool_array(document: JsonValue) -> bool:
    """Whether this looks like a tool array, alone or in a request."""
    tools = document.get("tools") if isinstance(document, dict) else document
    return isinstance(tools, list) and any(
        isinstance(tool, dict) and isinstance(tool.get("type"), str) for tool in tools
    )


def import_openai_document(
    document: JsonValue, base: HarnessSpec | None, catalogue: OperationCatalogue
) -> ImportResult:
    """Read a tool array, as JSON, into `base` (or an empty harness). Raises FormatError."""
    items = document.get("tools") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise FormatError([("", _EXPECTED)])
    problems: list[tuple[str, str]] = []
    notes: list[str] = []
    tools: list[ForeignTool] = []
    for index, item in enumerate(items):
        place = f"tools[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            problems.append((place, _EXPECTED))
        elif item["type"] != "function":
            notes.append(f"{place} is of the type {item['type']}, which only its vendor can run; it was left out.")
        else:
            tool = _function(item, place, problems)
            if tool is not None:
                tools.append(tool)
    if problems:
        raise FormatError(problems)
    return merge_tools(tools, base, catalogue, notes=notes)


def _function(item: JsonObject, place: str, problems: list[tuple[str, str]]) -> ForeignTool | None:
    function = item.get("function", item)
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
        problems.append((place, "The function has no name. Give it one."))
        return None
    schema = function.get("parameters")
    if schema is not None and not isinstance(schema, dict):
        problems.append((f"{place}.parameters", "Expected a JSON Schema object."))
        return None
    fields: JsonObject = {"input_schema": schema or _NO_PARAMETERS}
    if function.get("description") is not None:
        fields["description"] = function["description"]
    return ForeignTool(place, function["name"], fields)
