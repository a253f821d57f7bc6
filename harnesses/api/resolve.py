"""`GET …/resolve?label=production`: what a label points to, for programs that ask all the time.

Most of them never get here: `console.resolve_asgi` answers them before. This view gives the same answer to everybody else, and says
what is wrong where there is none.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from harnesses.selectors.labels import resolve_label
from harnesses.selectors.resolving import CACHE_CONTROL, Resolved
from ledger.api.authentication import calling_user
from ledger.api.preconditions import answer_if_known
from ledger.core.tokens import Scope
from ledger.errors import Invalid

IF_NONE_MATCH = OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="The ETag you have.")


class ResolvedSerializer(serializers.Serializer[Any]):
    """The version that a label points to, with its whole content."""

    harness = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    number = serializers.IntegerField()
    spec_hash = serializers.CharField()
    spec = serializers.DictField()


class ResolveView(APIView):
    """What a label points to."""

    required_scopes = {"GET": [Scope.HARNESSES_READ]}

    @extend_schema(
        summary="Resolve a label",
        description="Right at once after a move, in every process. Send the `ETag` of the answer you have as `If-None-Match`: as "
        "long as the label stays, the answer is an empty 304.",
        parameters=[OpenApiParameter("label", str, required=True), IF_NONE_MATCH],
        responses={200: ResolvedSerializer, 304: None},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        name = request.query_params.get("label", "")
        if not name:
            raise Invalid.field("label", "The label is missing.", "Add ?label=production.", code="required")
        label = resolve_label(calling_user(request), slug, name)
        found = Resolved(
            label.harness.slug, label.name, label.version_id, label.version.number, label.version.spec_hash
        )
        headers = {"ETag": found.etag, "Cache-Control": CACHE_CONTROL}
        known = answer_if_known(request, found.etag, headers)
        return known or HttpResponse(found.body(), content_type="application/json", headers=headers)
