"""Help with new components: the operations a tool can stand for, a tool made from one, skills to start from."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.drafts import READ
from harnesses.core.editing import tool_from_operation
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationSpec
from harnesses.core.skill_templates import SKILL_TEMPLATES
from harnesses.selectors import catalogue_for
from ledger.api.authentication import calling_user
from ledger.errors import NotFound


class OperationSerializer(serializers.Serializer[Any]):
    """One thing that the harness's platform can do, with the JSON Schemas of its arguments and its result."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    effect = serializers.ChoiceField(("read", "write"))
    input_schema = serializers.DictField()
    output_schema = serializers.DictField()


class ToolSerializer(serializers.Serializer[Any]):
    """A tool as a component of a harness; see the harness format."""

    id = serializers.CharField()
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    input_schema = serializers.DictField()
    output_schema = serializers.DictField(allow_null=True)
    annotations = serializers.DictField()
    parameter_order = serializers.ListField(child=serializers.CharField())
    binding = serializers.DictField(allow_null=True)


class SkillSerializer(serializers.Serializer[Any]):
    """A skill as a component of a harness; see the harness format."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    body = serializers.CharField()
    allowed_tools = serializers.ListField(child=serializers.CharField())
    risk = serializers.ChoiceField(("low", "medium", "high"))
    metadata = serializers.DictField(child=serializers.CharField())


class OperationListView(APIView):
    """What tools of a harness can stand for."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List the operations of a harness's platform", responses=OperationSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        return Response([_operation(operation) for operation in catalogue_for(harness.world).values()])


class OperationToolView(APIView):
    """A tool made from an operation: the same schema, bound argument by argument."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Make a tool from an operation", responses=ToolSerializer)
    def get(self, request: Request, slug: str, name: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        catalogue = catalogue_for(harness.world)
        if name not in catalogue:
            known = ", ".join(catalogue)
            raise NotFound(f"The platform of {slug} has no operation {name[:80]!a}. It has: {known}.")
        return Response(tool_from_operation(catalogue[name]).model_dump(mode="json"))


class SkillTemplateListView(APIView):
    """Skills to start from."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List templates of skills", responses=SkillSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response([template.model_dump(mode="json") for template in SKILL_TEMPLATES])


def _operation(operation: OperationSpec) -> JsonObject:
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "effect": operation.effect,
        "input_schema": operation.input_schema,
        "output_schema": operation.output_schema,
    }
