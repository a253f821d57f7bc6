"""Views across versions: revert, fork, merge from a fork, who last changed what, and how any two versions differ."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.drafts import READ, REVISION, WRITE, read
from harnesses.api.drafts_serializers import MergedSerializer, merged_document
from harnesses.api.serializers import (
    CommitResultSerializer,
    ComparisonSerializer,
    HarnessSerializer,
    comparison_document,
)
from harnesses.api.views import commit_response
from harnesses.core.membership import HarnessAction
from harnesses.models import HarnessVersion
from harnesses.selectors import MAX_NUMBER, version_blame, version_get, versions_compared
from harnesses.services import harness_fork, harness_merge_from, version_revert
from ledger.api.authentication import calling_user
from ledger.api.fields import StrictSerializer, TextField, WholeNumberField
from ledger.api.idempotency import idempotent
from ledger.api.preconditions import revision_etag
from ledger.errors import Invalid

_REFERENCE = re.compile(r"(?:(?P<slug>[^@]+)@)?(?P<number>[^@]+)")
_FROM = OpenApiParameter("from", str, required=True, description="A version: 2, or that of another harness: autumn@2.")
_TO = OpenApiParameter("to", str, required=True, description="The same.")


class RevertSerializer(StrictSerializer):
    """Why to go back. `expected_number` is the newest version that you looked at."""

    message = TextField(required=False, default="", help_text="Left out: that it is a revert, and to which version.")
    expected_number = WholeNumberField(required=False, min_value=0, max_value=MAX_NUMBER)


class ForkSerializer(StrictSerializer):
    """The new harness, and the version it begins with (left out: the newest)."""

    slug = TextField()
    title = TextField()
    number = WholeNumberField(required=False, min_value=1, max_value=MAX_NUMBER)
    description = TextField(required=False, default="")


class MergeFromSerializer(StrictSerializer):
    """The version to merge: of which harness, and which (left out: its newest)."""

    slug = TextField()
    number = WholeNumberField(required=False, min_value=1, max_value=MAX_NUMBER)
    name = TextField(required=False, default="", help_text="What the draft is called.")


class MergedDraftSerializer(MergedSerializer):
    """A draft with the other harness's changes. `ancestor` is the version both come from, as slug@number; null: none."""

    id = serializers.IntegerField(help_text="Of the draft.")
    name = serializers.CharField()
    ancestor = serializers.CharField(allow_null=True)


class BlameSerializer(serializers.Serializer[Any]):
    """The version that last changed a component, with who committed it, why and when."""

    kind = serializers.CharField()
    component_id = serializers.CharField()
    component_name = serializers.CharField()
    number = serializers.IntegerField()
    author = serializers.CharField()
    message = serializers.CharField()
    created_at = serializers.DateTimeField()


class VersionRevertView(APIView):
    """An earlier version becomes the newest one."""

    required_scopes = {"POST": WRITE}

    @extend_schema(
        summary="Revert to a version",
        request=RevertSerializer,
        responses={201: CommitResultSerializer, 200: CommitResultSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, number: str) -> Response:
        user = calling_user(request)
        version = version_get(policy.harness_for(user, slug, HarnessAction.EDIT), number)
        result = version_revert(version=version, acting_user=user, **read(RevertSerializer, request))
        return commit_response(request, result, CommitResultSerializer(result).data)


class HarnessForkView(APIView):
    """A harness of its own that begins where another one is."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Fork a harness", request=ForkSerializer, responses={201: HarnessSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        values = read(ForkSerializer, request)
        version = version_get(harness, values.pop("number", None))
        fork = harness_fork(version=version, acting_user=user, **values)
        location = reverse("harnesses_api:harness", [fork.slug], request=request)
        return Response(HarnessSerializer(fork).data, status=201, headers={"Location": location})


class HarnessMergeFromView(APIView):
    """Another harness's changes, as a draft to look at."""

    required_scopes = {"POST": WRITE}

    @extend_schema(
        summary="Merge from another harness",
        description="Opens a draft. Where both harnesses changed the same, this one's own stays; `conflicts` says so.",
        request=MergeFromSerializer,
        responses={201: MergedDraftSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.EDIT)
        values = read(MergeFromSerializer, request)
        version = version_get(policy.harness_for(user, values["slug"]), values.get("number"))
        merged = harness_merge_from(harness=harness, version=version, name=values["name"], acting_user=user)
        draft, ancestor = merged.draft, merged.ancestor
        body = {
            "id": draft.pk,
            "name": draft.name,
            "ancestor": str(ancestor) if ancestor else None,
            **merged_document(draft, merged.merge),
        }
        location = reverse("harnesses_api:draft", [slug, draft.pk], request=request)
        headers = {"Location": location, "ETag": revision_etag(REVISION, draft.revision)}
        return Response(body, status=201, headers=headers)


class VersionBlameView(APIView):
    """Who last changed each component."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Tell who last changed each component", responses=BlameSerializer(many=True))
    def get(self, request: Request, slug: str, number: str) -> Response:
        version = version_get(policy.harness_for(calling_user(request), slug), number)
        return Response(
            [
                {
                    "kind": item.kind,
                    "component_id": item.component_id,
                    "component_name": item.component_name,
                    "number": item.version.number,
                    "author": item.version.author_name,
                    "message": item.version.message,
                    "created_at": item.version.created_at,
                }
                for item in version_blame(version)
            ]
        )


class CompareView(APIView):
    """What differs between two versions, of one harness or of two."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Compare two versions", parameters=[_FROM, _TO], responses=ComparisonSerializer)
    def get(self, request: Request, slug: str) -> Response:
        policy.harness_for(calling_user(request), slug)
        old, new = (_named_version(request, slug, name) for name in ("from", "to"))
        return Response(comparison_document(versions_compared(old, new)))


def _named_version(request: Request, slug: str, parameter: str) -> HarnessVersion:
    """The version that a parameter names, if the caller may see it. Raises Invalid, NotFound."""
    value = request.query_params.get(parameter, "")
    match = _REFERENCE.fullmatch(value)
    if match is None:
        what = "is missing" if not value else f"{value[:80]!a} cannot be read"
        mend = "Give a number, or slug@number for a version of another harness: ?from=1&to=autumn@2."
        raise Invalid.field(parameter, f"The version {what}.", mend, code="required")
    return version_get(policy.harness_for(calling_user(request), match["slug"] or slug), match["number"])
