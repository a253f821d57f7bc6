"""How an operation's result would stand before the model: the live example beside the binding in the editor. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from harnesses import ports
from harnesses.api.drafts import READ, DraftAPIView, read
from harnesses.core.bindings import BindingError, to_surface_result
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationSpec
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.sample_values import sample_value
from harnesses.core.schemas import BrokenSchemaError, dotted, schema_problems
from harnesses.core.spec import SCHEMA_VERSION, BindingCase, Tool
from harnesses.runtime.results import shown_result
from harnesses.selectors import catalogue_for
from ledger.api.fields import StrictSerializer, WholeNumberField
from ledger.errors import FieldError, Invalid

GIVEN = "Yours."
MADE = "Made from what the operation says of its result. Write your own to see how it reads."


class ExampleResultRequestSerializer(StrictSerializer):
    """A tool as it stands in the editor, which of its cases, and a result in the operation's own terms (left out: one is made)."""

    tool = serializers.DictField()
    case = WholeNumberField(min_value=0, max_value=1_000, default=0)
    result = serializers.DictField(required=False)


class ExampleErrorSerializer(serializers.Serializer[Any]):
    """Why the binding cannot show this result."""

    code = serializers.CharField()
    message = serializers.CharField()
    path = serializers.ListField(child=serializers.CharField())


class ExampleResultSerializer(serializers.Serializer[Any]):
    """A result on both sides of a binding; `text` is what the model reads, empty where there is an `error`."""

    operation = serializers.CharField()
    result = serializers.DictField(help_text="In the operation's own terms.")
    origin = serializers.CharField(help_text="Where the result comes from, in words.")
    mismatch = serializers.CharField(help_text="Why the operation would never give this; empty where it could.")
    surface = serializers.JSONField(help_text="In the tool's terms.")
    text = serializers.CharField()
    tokens = serializers.IntegerField()
    error = ExampleErrorSerializer(allow_null=True)


@dataclass(frozen=True)
class _Example:
    case: BindingCase
    operation: OperationSpec | None
    result: JsonObject
    origin: str


class ExampleResultView(DraftAPIView):
    """What the model reads of a result, by a tool that nobody has saved yet."""

    required_scopes = {"POST": READ}

    @extend_schema(
        summary="Show a result through an unsaved tool",
        request=ExampleResultRequestSerializer,
        responses=ExampleResultSerializer,
    )
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request)
        values = read(ExampleResultRequestSerializer, request)
        binding = _read_tool(values["tool"]).binding
        if binding is None:
            raise Invalid.field("tool", "The tool is not connected.", "Choose an operation first.", code="unbound")
        if values["case"] >= len(binding.cases):
            found = f"The tool has {len(binding.cases)} cases."
            raise Invalid.field("case", found, "Count from 0.", code="unknown_case")
        case = binding.cases[values["case"]]
        operation = catalogue_for(draft.harness.world).get(case.operation)
        return Response(_shown(_example(case, operation, values.get("result"))))


def _read_tool(document: JsonObject) -> Tool:
    """A tool that stands alone. Raises Invalid with every field that is wrong."""
    try:
        return spec_from_document({"schema_version": SCHEMA_VERSION, "tools": [document]}).tools[0]
    except SpecInputError as error:
        errors = [
            FieldError(f"tool{problem.path.removeprefix('tools[0]')}", problem.message, code="bad_tool")
            for problem in error.problems
        ]
        raise Invalid(f"This is no tool: {error}", code="bad_tool", field_errors=errors) from error


def _example(case: BindingCase, operation: OperationSpec | None, given: JsonObject | None) -> _Example:
    if given is not None:
        return _Example(case, operation, given, GIVEN)
    made = sample_value(operation.output_schema) if operation else {}
    return _Example(case, operation, made if isinstance(made, dict) else {}, MADE)


def _shown(example: _Example) -> JsonObject:
    surface: JsonObject | None = None
    text, error = "", None
    try:
        surface = to_surface_result(example.case, example.result)
        text = shown_result(example.case, example.result)
    except BindingError as problem:
        error = {"code": problem.code, "message": problem.message, "path": list(problem.path)}
    return {
        "operation": example.case.operation,
        "result": example.result,
        "origin": example.origin,
        "mismatch": _mismatch(example),
        "surface": surface,
        "text": text,
        "tokens": ports.token_counter()(text) if text else 0,
        "error": error,
    }


def _mismatch(example: _Example) -> str:
    if example.operation is None:
        return f'There is no operation "{example.case.operation}" here.'
    try:
        problems = schema_problems(example.operation.output_schema, example.result)
    except BrokenSchemaError as error:
        return str(error)
    place = f" (at {dotted(problems[0].path)})" if problems and problems[0].path else ""
    return f"The operation would not give this: {problems[0].message}{place}" if problems else ""
