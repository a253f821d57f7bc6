"""The REST resources of a harness's members, and of putting it away."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.serializers import HarnessSerializer
from harnesses.core.membership import HARNESS_ROLE_TITLES, HarnessAction
from harnesses.models import HarnessMember
from harnesses.selectors.members import member_get, member_list
from harnesses.services.members import member_remove, member_set
from harnesses.services.versions import harness_archive, harness_unarchive
from ledger.api.authentication import calling_user
from ledger.api.fields import StrictSerializer, TextField
from ledger.core.tokens import Scope

READ, WRITE = [Scope.HARNESSES_READ], [Scope.HARNESSES_WRITE]


class MemberSerializer(serializers.Serializer[Any]):
    """A person ("user", by user name) or a team ("team", by slug) in a role."""

    kind = serializers.ChoiceField(["user", "team"])
    name = serializers.CharField()
    title = serializers.CharField(help_text="What people call them.")
    role = serializers.ChoiceField(list(HARNESS_ROLE_TITLES.items()))
    created_at = serializers.DateTimeField()


class RoleSerializer(StrictSerializer):
    """The role to give."""

    role = TextField(help_text=", ".join(HARNESS_ROLE_TITLES))
    reason = TextField(required=False, default="")


class ReasonSerializer(StrictSerializer):
    """Why."""

    reason = TextField(required=False, default="")


def member_document(member: HarnessMember) -> dict[str, Any]:
    """A member as the API names it."""
    kind, name, title = "team", "", ""
    if member.user is not None:
        kind, name, title = "user", member.user.username, member.user.display_name
    elif member.team is not None:
        name, title = member.team.slug, member.team.name
    return {"kind": kind, "name": name, "title": title, "role": member.role, "created_at": member.created_at}


class MemberListView(APIView):
    """Who works on a harness, and in which role."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List the members of a harness", responses=MemberSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        return Response(MemberSerializer([member_document(item) for item in member_list(harness)], many=True).data)


class MemberView(APIView):
    """One member of a harness."""

    required_scopes = {"GET": READ, "PUT": WRITE, "DELETE": WRITE}

    @extend_schema(summary="Read a member", responses=MemberSerializer)
    def get(self, request: Request, slug: str, kind: str, name: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        return Response(MemberSerializer(member_document(member_get(harness, kind, name))).data)

    @extend_schema(summary="Give a role in a harness", request=RoleSerializer, responses=MemberSerializer)
    def put(self, request: Request, slug: str, kind: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.MANAGE)
        serializer = RoleSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        member = member_set(harness=harness, kind=kind, name=name, acting_user=user, **serializer.validated_data)
        return Response(MemberSerializer(member_document(member)).data)

    @extend_schema(summary="Take a member out of a harness", responses={204: None})
    def delete(self, request: Request, slug: str, kind: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.MANAGE)
        member_remove(harness=harness, kind=kind, name=name, acting_user=user)
        return Response(status=204)


class ArchiveView(APIView):
    """Putting a harness away: it stays readable, takes no commits, and its labels stay where they are."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Archive a harness", request=ReasonSerializer, responses=HarnessSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.MANAGE)
        archived = harness_archive(harness=harness, acting_user=user, reason=_reason(request))
        return Response(HarnessSerializer(archived).data)


class UnarchiveView(APIView):
    """Taking a harness back into use."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Take a harness back into use", request=ReasonSerializer, responses=HarnessSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.MANAGE)
        taken_back = harness_unarchive(harness=harness, acting_user=user, reason=_reason(request))
        return Response(HarnessSerializer(taken_back).data)


def _reason(request: Request) -> str:
    serializer = ReasonSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return str(serializer.validated_data["reason"])
