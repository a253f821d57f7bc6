"""Worked examples of a harness as the chat messages that stand between the system prompt and the conversation."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.bindings import BindingError, to_operation_call, to_surface_call
from harnesses.core.caching import cached_by_identity
from harnesses.core.call_writing import write_call
from harnesses.core.operations import OperationCall
from harnesses.core.parameters import ordered_arguments
from harnesses.core.spec import Example, ExampleCall, HarnessSpec
from harnesses.core.templates import TemplateError
from harnesses.runtime.ports import Message
from harnesses.runtime.results import shown_result, write_response


@cached_by_identity
def example_messages(spec: HarnessSpec) -> tuple[Message, ...]:
    """All examples in order: comment, then a call and its result for each call, then the reply.

    Calls and results pass the bindings, so they read as real ones do. Raises TemplateError for an example whose operation no
    tool of the harness reaches.
    """
    return tuple(message for example in spec.examples for message in _messages(spec, example))


def _messages(spec: HarnessSpec, example: Example) -> Iterator[Message]:
    yield Message(role="user", content=example.comment)
    for call in example.calls:
        try:
            yield from _call_messages(spec, call)
        except BindingError as error:
            raise TemplateError(
                f'Example "{example.id}" cannot be shown: {error.message}',
                "Change its calls, or bind a tool that reaches them.",
                "example_unreachable",
            ) from error
    yield Message(role="assistant", content=example.reply)


def _call_messages(spec: HarnessSpec, call: ExampleCall) -> Iterator[Message]:
    surface = to_surface_call(spec, OperationCall(call.operation, call.arguments))
    tool = spec.tool(surface.tool_id)
    assert tool is not None
    bound = to_operation_call(tool, surface.arguments)
    call_format = spec.runtime.call_format
    written = write_call(call_format, tool.name, ordered_arguments(tool, surface.arguments))
    yield Message(role="assistant", content=written)
    shown = shown_result(bound.case, call.result)
    yield Message(role="user", content=write_response(call_format, tool.name, shown))
