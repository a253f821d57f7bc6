"""The keys of results as the model sees them: where each stands, what stands beside it, and how it gets another name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCatalogue
from harnesses.core.schemas import resolved
from harnesses.core.spec import BindingCase, HarnessSpec, ResultField, Tool

_MAX_DEPTH: Final = 6
Keys = tuple[str, ...]


@dataclass(frozen=True)
class ResultPlace:
    """One place where a result key is shown: the field of the operation's result, and every name beside it, hidden ones too."""

    tool_id: str
    case_index: int
    path: Keys
    siblings: frozenset[str]


def result_places(spec: HarnessSpec, catalogue: OperationCatalogue) -> dict[str, list[ResultPlace]]:
    """Every result key that some tool shows, by its name on the surface, in the order of the harness."""
    found: dict[str, list[ResultPlace]] = {}
    for tool in spec.tools:
        for index, case in enumerate(tool.binding.cases if tool.binding else ()):
            if case.operation in catalogue:
                for name, path, siblings in _shown(case, catalogue[case.operation].output_schema):
                    found.setdefault(name, []).append(ResultPlace(tool.id, index, path, siblings))
    return found


def _shown(case: BindingCase, output: JsonObject) -> Iterator[tuple[str, Keys, frozenset[str]]]:
    fields = {field.path: field for field in case.result.fields}
    yield from _walk(fields, output, resolved(output, output), ())


def _walk(
    fields: Mapping[Keys, ResultField], root: JsonObject, schema: JsonObject | None, path: Keys
) -> Iterator[tuple[str, Keys, frozenset[str]]]:
    for _ in range(_MAX_DEPTH):
        if schema is None or "items" not in schema or "properties" in schema:
            break
        schema = resolved(schema["items"], root)
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, dict) or len(path) >= _MAX_DEPTH:
        return
    shown = {key: field.name or key for key in properties if (field := fields.get((*path, key), _PLAIN))}
    siblings = frozenset((*properties, *shown.values()))
    for key, inner in properties.items():
        field = fields.get((*path, key), _PLAIN)
        if not field.is_hidden:
            yield shown[key], (*path, key), siblings
            yield from _walk(fields, root, resolved(inner, root), (*path, key))


_PLAIN: Final = ResultField(path=("-",))


def rename_results(
    tools: tuple[Tool, ...], places: Mapping[str, list[ResultPlace]], renames: Mapping[str, str]
) -> tuple[Tool, ...]:
    """The tools with these result keys renamed; a tool that shows none of them stays the very same object."""
    names: dict[str, dict[int, dict[Keys, str]]] = {}
    for old, found in places.items():
        for place in found:
            names.setdefault(place.tool_id, {}).setdefault(place.case_index, {})[place.path] = renames[old]
    return tuple(_renamed(tool, names[tool.id]) if tool.id in names else tool for tool in tools)


def _renamed(tool: Tool, names: Mapping[int, Mapping[Keys, str]]) -> Tool:
    assert tool.binding is not None
    cases = tuple(
        _renamed_case(case, names[index]) if index in names else case for index, case in enumerate(tool.binding.cases)
    )
    return tool.model_copy(update={"binding": tool.binding.model_copy(update={"cases": cases})})


def _renamed_case(case: BindingCase, names: Mapping[Keys, str]) -> BindingCase:
    kept = [
        field.model_copy(update={"name": names[field.path]}) if field.path in names else field
        for field in case.result.fields
    ]
    known = {field.path for field in case.result.fields}
    added = [ResultField(path=path, name=name) for path, name in names.items() if path not in known]
    return case.model_copy(update={"result": case.result.model_copy(update={"fields": (*kept, *added)})})
