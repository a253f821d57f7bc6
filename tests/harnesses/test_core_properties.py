"""What must hold for any harness: bindings undo themselves, documents come back the same, key order never matters."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from harnesses.core.bindings import (
    normal_arguments,
    to_operation_call,
    to_operation_result,
    to_surface_call,
    to_surface_result,
)
from harnesses.core.operations import OperationCatalogue
from harnesses.core.parsing import spec_from_document, spec_from_json
from harnesses.core.schemas import same_json, schema_problems
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.core.validation import Severity, validate
from harnesses.runtime.render import render_prompt
from tests.harnesses.strategies import harness_specs, operation_calls, operation_catalogues, operation_results

modest = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[OperationCatalogue, HarnessSpec]:
    catalogue = draw(operation_catalogues())
    return catalogue, draw(harness_specs(catalogue))


def shuffled_keys(value: Any, seed: random.Random) -> Any:
    """The same JSON with the keys of every object in another order."""
    if isinstance(value, list):
        return [shuffled_keys(item, seed) for item in value]
    if isinstance(value, dict):
        keys = list(value)
        seed.shuffle(keys)
        return {key: shuffled_keys(value[key], seed) for key in keys}
    return value


@modest
@given(st.data(), worlds())
def test_operation_to_surface_to_operation_is_the_identity(data: st.DataObject, world) -> None:
    catalogue, spec = world
    call = data.draw(operation_calls(spec, catalogue))
    surface = to_surface_call(spec, call)
    note(f"{surface}")
    tool = spec.tool(surface.tool_id)
    assert tool is not None
    assert tool.name == surface.tool_name
    back = to_operation_call(tool, surface.arguments).call
    assert back.operation == call.operation
    assert same_json(back.arguments, call.arguments)


@modest
@given(st.data(), worlds())
def test_surface_to_operation_to_surface_is_the_identity_on_normal_forms(data: st.DataObject, world) -> None:
    catalogue, spec = world
    surface = to_surface_call(spec, data.draw(operation_calls(spec, catalogue)))
    tool = spec.tool(surface.tool_id)
    assert tool is not None
    assert tool.binding is not None
    again = to_surface_call(HarnessSpec(tools=(tool,)), to_operation_call(tool, surface.arguments).call)
    assert same_json(again.arguments, surface.arguments)
    assert same_json(normal_arguments(tool, surface.arguments), surface.arguments)
    for path in tool.binding.ignored:
        chatty = {**surface.arguments, path[0]: "whatever"}
        assert same_json(normal_arguments(tool, chatty), surface.arguments)


@modest
@given(st.data(), worlds())
def test_arguments_of_a_surface_call_satisfy_the_tools_schema(data: st.DataObject, world) -> None:
    catalogue, spec = world
    surface = to_surface_call(spec, data.draw(operation_calls(spec, catalogue)))
    tool = spec.tool(surface.tool_id)
    assert tool is not None
    assert schema_problems(tool.input_schema, surface.arguments) == ()


@modest
@given(st.data(), worlds())
def test_a_result_shown_and_read_back_is_the_same(data: st.DataObject, world) -> None:
    catalogue, spec = world
    tool = data.draw(st.sampled_from(spec.tools))
    assert tool.binding is not None
    case = data.draw(st.sampled_from(tool.binding.cases))
    result = data.draw(operation_results(catalogue[case.operation]))
    assert same_json(to_operation_result(case, to_surface_result(case, result)), result)


@modest
@given(worlds())
def test_a_spec_written_and_read_is_the_same_spec(world) -> None:
    _, spec = world
    for again in (spec_from_document(spec.document()), spec_from_json(json.dumps(spec.document()))):
        assert again == spec
        assert again.spec_hash == spec.spec_hash


@modest
@given(worlds(), st.integers(0, 2**32))
def test_key_order_never_changes_the_hash_the_findings_or_the_prompt(world, seed: int) -> None:
    catalogue, generated = world
    spec = spec_from_document(generated.document())  # documents hold 0, never 0.0
    other = spec_from_document(shuffled_keys(spec.document(), random.Random(seed)))
    assert other.spec_hash == spec.spec_hash
    assert validate(other, catalogue) == validate(spec, catalogue)
    assert render_prompt(other, SAMPLE_CONTEXT) == render_prompt(spec, SAMPLE_CONTEXT)


@modest
@given(worlds())
def test_generated_harnesses_have_no_errors(world) -> None:
    catalogue, spec = world
    errors = [finding for finding in validate(spec, catalogue) if finding.severity is Severity.ERROR]
    assert errors == []
