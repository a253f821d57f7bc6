"""The result of an MCP `tools/list`, bare or in its JSON-RPC envelope, taken into a harness."""

from __future__ import annotations

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.formats.tool_merge import ForeignTool, merge_tools

_FIELDS = {
    "title": "title",
    "description": "description",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "annotations": "annotations",
}


def is_tools_list(document: JsonValue) -> bool:
    """Whether this looks like a `tools/list` result (and not like a harness or an OpenAI request)."""
    if not isinstance(document, dict):
        return False
    if "jsonrpc" in document:
        return True
    tools = document.get("tools")
    return isinstance(tools, list) and "schema_version" not in document and not any(_is_openai(tool) for tool in tools)


def _is_openai(tool: JsonValue) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "function"


def import_mcp_document(document: JsonValue, base: HarnessSpec | None, catalogue: OperationCatalogue) -> ImportResult:
    """Read a `tools/list` result, as JSON, into `base` (or an empty harness). Raises FormatError."""
    result, where = _result_of(document)
    problems: list[tuple[str, str]] = []
    tools: list[ForeignTool] = []
    for index, item in enumerate(result["tools"]):
        place = f"{where}tools[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
            problems.append((place, "Expected an object with a name."))
        elif not isinstance(item.get("inputSchema"), dict):
            problems.append((f"{place}.inputSchema", "Expected a JSON Schema object, as every MCP tool has one."))
        else:
            given = {ours: item[theirs] for theirs, ours in _FIELDS.items() if item.get(theirs) is not None}
            tools.append(ForeignTool(place, item["name"], given))
    if problems:
        raise FormatError(problems)
    notes, is_partial = [], bool(result.get("nextCursor"))
    if is_partial:
        notes.append("The list is partial (it has a nextCursor). Import the remaining pages too.")
    return merge_tools(tools, base, catalogue, notes=notes, is_partial=is_partial)


def _result_of(document: JsonValue) -> tuple[JsonObject, str]:
    expected = 'Expected {"tools": […]}, or a JSON-RPC answer with it under "result".'
    if not isinstance(document, dict):
        raise FormatError([("", expected)])
    result, where = (document.get("result"), "result.") if "jsonrpc" in document else (document, "")
    if isinstance(document.get("error"), dict) and "jsonrpc" in document:
        message = str(document["error"].get("message", "no message"))
        raise FormatError([("error", f"The server answered with an error ({message}). Ask it again.")])
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        raise FormatError([(f"{where}tools", expected)])
    return result, where
