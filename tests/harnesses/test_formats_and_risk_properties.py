"""What must hold of diff, risk and formats for any valid harness over any catalogue."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harnesses.core.operations import OperationCatalogue
from harnesses.core.reach import compare_doors, doors_to
from harnesses.core.risk import assess
from harnesses.core.spec import HarnessSpec, Tool, ToolBinding
from harnesses.formats.archive import export_zip, read_zip
from harnesses.formats.folder import import_folder
from harnesses.formats.mcp import import_mcp_document
from tests.harnesses.strategies import harness_specs, operation_catalogues

modest = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[OperationCatalogue, HarnessSpec]:
    catalogue = draw(operation_catalogues())
    return catalogue, draw(harness_specs(catalogue))


def new_name(name: str) -> str:
    return f"{name}_renamed"


def with_renamed_parameters(tool: Tool) -> Tool:
    """Every top-level parameter under another name, the binding rewritten along, as an HSA transform does it."""
    document: dict[str, Any] = tool.model_dump(mode="json")
    schema = document["input_schema"]
    schema["properties"] = {new_name(name): value for name, value in schema.get("properties", {}).items()}
    if "required" in schema:
        schema["required"] = [new_name(name) for name in schema["required"]]
    document["parameter_order"] = [new_name(name) for name in document["parameter_order"]]
    binding = document["binding"]
    if binding is not None:
        paths = [argument["path"] for case in binding["cases"] for argument in case["arguments"]]
        paths += [constant["path"] for constant in binding["surface_constants"]] + binding["ignored"]
        for path in [*paths, *([binding["switch"]] if binding["switch"] else [])]:
            path[0] = new_name(path[0])
    return Tool.model_validate(document)


@modest
@given(worlds())
def test_export_and_import_keep_hash_and_bytes(world: tuple[OperationCatalogue, HarnessSpec]) -> None:
    _, spec = world
    data = export_zip(spec)
    assert import_folder(read_zip(data)).spec_hash == spec.spec_hash
    assert export_zip(import_folder(read_zip(data))) == data


@modest
@given(worlds())
def test_the_list_of_its_own_tools_leaves_a_harness_as_it_is(world: tuple[OperationCatalogue, HarnessSpec]) -> None:
    catalogue, spec = world
    tools = [
        {"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in spec.tools
    ]
    assert import_mcp_document({"tools": tools}, spec, catalogue).spec.spec_hash == spec.spec_hash


@modest
@given(worlds(), st.data())
def test_tools_and_parameters_renamed_and_tools_reordered_keep_the_task(
    world: tuple[OperationCatalogue, HarnessSpec], data: st.DataObject
) -> None:
    catalogue, spec = world
    tools = [
        with_renamed_parameters(tool).model_copy(update={"name": new_name(tool.name)})
        for tool in data.draw(st.permutations(spec.tools))
    ]
    report = assess(spec, spec.model_copy(update={"tools": tuple(tools)}), catalogue)
    assert report.verdict == "preserving", [item.headline for item in report.changes]
    assert {item.family for item in report.changes} <= {"T1", "T3", "T4"}, [item.headline for item in report.changes]


@modest
@given(worlds(), st.data())
def test_a_tool_taken_away_is_a_capability_exactly_if_nothing_else_does_the_same(
    world: tuple[OperationCatalogue, HarnessSpec], data: st.DataObject
) -> None:
    catalogue, spec = world
    gone = data.draw(st.sampled_from(spec.tools))
    new = spec.model_copy(update={"tools": tuple(tool for tool in spec.tools if tool != gone)})
    (item,) = [item for item in assess(spec, new, catalogue).changes if item.change.kind == "tool"]
    is_same = all(
        compare_doors(doors_to(name, spec.tools, catalogue), doors_to(name, new.tools, catalogue), operation).is_none
        for name, operation in catalogue.items()
    )
    assert (item.preserving == "preserving") == is_same
    assert (item.family == "capability") == (not is_same)


@modest
@given(worlds())
def test_a_tool_disconnected_loses_what_it_reached(world: tuple[OperationCatalogue, HarnessSpec]) -> None:
    catalogue, spec = world
    bindings: list[ToolBinding | None] = [tool.binding for tool in spec.tools]
    new = spec.model_copy(update={"tools": tuple(tool.model_copy(update={"binding": None}) for tool in spec.tools)})
    lost = [name for name in catalogue if doors_to(name, spec.tools, catalogue)]
    report = assess(spec, new, catalogue)
    assert (report.verdict == "not_preserving") == bool(lost)
    assert len(report.changes) == sum(binding is not None for binding in bindings)
