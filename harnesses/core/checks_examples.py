"""Checks of worked examples: calls that the harness can show, values that the operations know, texts that are there."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.bindings import BindingError, to_operation_call, to_surface_call, to_surface_result
from harnesses.core.checks_values import check_value
from harnesses.core.findings import Finding, Place, listed
from harnesses.core.operations import OperationCall, OperationCatalogue, OperationSpec
from harnesses.core.spec import ExampleCall, HarnessSpec

_UNREACHABLE_MEND = "Change the arguments, or bind a tool that can make this call."


def check_examples(spec: HarnessSpec, catalogue: OperationCatalogue) -> Iterator[Finding]:
    """Every example: its texts, and each of its calls through the bindings and against the operation."""
    for example in spec.examples:
        place = Place("example", example.id)
        for field, text in (("comment", example.comment), ("reply", example.reply)):
            if not text.strip():
                yield place.error("empty_text", field, f"The {field} of the example is empty.", "Write it.")
        for index, call in enumerate(example.calls):
            yield from _call(place, f"calls[{index}]", spec, call, catalogue.get(call.operation), catalogue)


def _call(
    place: Place,
    field: str,
    spec: HarnessSpec,
    call: ExampleCall,
    operation: OperationSpec | None,
    catalogue: OperationCatalogue,
) -> Iterator[Finding]:
    if operation is None:
        yield place.error(
            "unknown_operation",
            f"{field}.operation",
            f'There is no operation "{call.operation}".',
            f"Use one of: {listed(set(catalogue))}.",
        )
        return
    schema, output = operation.input_schema, operation.output_schema
    yield from check_value(place, "example_argument_mismatch", f"{field}.arguments", call.arguments, schema, schema)
    yield from check_value(place, "example_result_mismatch", f"{field}.result", call.result, output, output)
    try:
        surface = to_surface_call(spec, OperationCall(call.operation, call.arguments))
        tool = spec.tool(surface.tool_id)
        assert tool is not None
        to_surface_result(to_operation_call(tool, surface.arguments).case, call.result)
    except BindingError as error:
        yield place.error("example_unreachable", field, error.message, _UNREACHABLE_MEND)
