"""Tools from elsewhere (MCP servers, OpenAI tool arrays), taken into a harness without losing what they stand for.

Such lists know names only. A tool keeps id and binding if its name is known; a new name whose parameters equal those of a known
tool that is missing from the list is taken as a rename of it; a new tool named like an operation of the platform is bound to it
if the arguments fit. What was guessed is said in the notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harnesses.core.bindings import identity_binding
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.schemas import same_json
from harnesses.core.spec import SCHEMA_VERSION, HarnessSpec, Tool
from harnesses.formats.assembly import build_spec
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.formats.texts import unique_slug


@dataclass(frozen=True)
class ForeignTool:
    """A tool as another system lists it: `where` in the input it stood, and the fields that were given."""

    where: str
    name: str
    fields: JsonObject = field(default_factory=dict)

    @property
    def input_schema(self) -> JsonValue:
        return self.fields.get("input_schema")


def merge_tools(
    tools: Sequence[ForeignTool],
    base: HarnessSpec | None,
    catalogue: OperationCatalogue,
    *,
    notes: Sequence[str] = (),
    is_partial: bool = False,
) -> ImportResult:
    """The harness with its tools replaced by `tools`; with `is_partial`, tools that the list does not mention stay.

    Fields that the list does not give keep what they were. Raises FormatError.
    """
    spec = base or HarnessSpec()
    said = list(notes)
    _refuse_twins(tools)
    known_by_name = {tool.name: tool for tool in spec.tools}
    known: dict[str, Tool] = {tool.name: known_by_name[tool.name] for tool in tools if tool.name in known_by_name}
    if not is_partial:
        known |= _renames(tools, spec, said)
    used = {tool.id for tool in known.values()}
    others = [tool.name for tool in spec.tools if tool.id not in used]
    if others:
        what = "kept, since the list is partial" if is_partial else "removed, since the list does not hold them"
        said.append(f"Tools that were {what}: {', '.join(others)}.")
    documents: list[JsonObject] = []
    places: dict[str, str] = {}
    if is_partial:
        documents = [tool.model_dump(mode="json") for tool in spec.tools]
    for foreign in tools:
        earlier = known.get(foreign.name)
        taken = {tool.id for tool in spec.tools} | {item["id"] for item in documents}
        merged = _merged(foreign, earlier, taken, catalogue, said)
        index = len(documents)
        if is_partial and earlier is not None:
            index = spec.tools.index(earlier)
        documents[index : index + 1] = [merged]
        places[f"tools.{index}"] = foreign.where
    document = spec.document() | {"schema_version": SCHEMA_VERSION, "tools": documents}
    return ImportResult(build_spec(document, places), tuple(said))


def _refuse_twins(tools: Sequence[ForeignTool]) -> None:
    first: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for tool in tools:
        if tool.name in first:
            problems.append(
                (tool.where, f'The name "{tool.name}" is also used at {first[tool.name]}. Rename one of the two.')
            )
        first.setdefault(tool.name, tool.where)
    if problems:
        raise FormatError(problems)


def _renames(tools: Sequence[ForeignTool], spec: HarnessSpec, notes: list[str]) -> dict[str, Tool]:
    """Known tools by the new name under which the list has them: same parameters, and no second candidate on either side."""
    names = {tool.name for tool in tools}
    missing = [tool for tool in spec.tools if tool.name not in names]
    known_names = {tool.name for tool in spec.tools}
    strangers = [tool for tool in tools if tool.name not in known_names]
    renamed: dict[str, Tool] = {}
    for stranger in strangers:
        candidates = [tool for tool in missing if _has_same_parameters(tool.input_schema, stranger.input_schema)]
        rivals = [other for other in strangers if _has_same_parameters(stranger.input_schema, other.input_schema)]
        if len(candidates) > 1:
            same_text = [tool for tool in candidates if tool.description == stranger.fields.get("description")]
            candidates = same_text if len(same_text) == 1 else candidates
            rivals = [item for item in rivals if item.fields.get("description") == stranger.fields.get("description")]
        if len(candidates) == 1 and len(rivals) == 1:
            renamed[stranger.name] = candidates[0]
            notes.append(
                f'"{stranger.name}" was taken as the new name of "{candidates[0].name}": their parameters are the same.'
            )
        elif candidates:
            options = ", ".join(f'"{tool.name}"' for tool in candidates)
            notes.append(f'"{stranger.name}" could be the new name of {options}; it was taken as a new tool.')
    return renamed


def _has_same_parameters(left: JsonValue, right: JsonValue) -> bool:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    return same_json(left.get("properties") or {}, right.get("properties") or {})


def _merged(
    foreign: ForeignTool, known: Tool | None, taken: set[str], catalogue: OperationCatalogue, notes: list[str]
) -> JsonObject:
    if known is not None:
        if known.binding is not None and not _has_same_parameters(known.input_schema, foreign.input_schema):
            notes.append(
                f'The parameters of "{foreign.name}" changed; its binding was kept. Check that they still fit.'
            )
        return known.model_dump(mode="json") | foreign.fields | {"id": known.id, "name": foreign.name}
    document: JsonObject = foreign.fields | {"id": unique_slug(foreign.name, taken), "name": foreign.name}
    operation = catalogue.get(foreign.name)
    if operation is None:
        notes.append(f'The tool "{foreign.name}" is new and not connected to any operation. Give it a binding.')
        return document
    schema = foreign.input_schema if isinstance(foreign.input_schema, dict) else {}
    properties = schema.get("properties")
    names = set(properties) if isinstance(properties, dict) else set()
    if set(operation.required_arguments) <= names <= set(operation.argument_names):
        full = identity_binding(operation)
        case = full.cases[0]
        arguments = tuple(item for item in case.arguments if item.argument in names)
        binding = full.model_copy(update={"cases": (case.model_copy(update={"arguments": arguments}),)})
        notes.append(f'The tool "{foreign.name}" was connected to the operation of the same name.')
        return document | {"binding": binding.model_dump(mode="json")}
    notes.append(
        f'The tool "{foreign.name}" is named like an operation, but its parameters differ; it is not connected.'
    )
    return document
