"""The REST resources of teams."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from ledger.api.authentication import calling_user
from ledger.api.fields import StrictSerializer, TextField
from ledger.api.idempotency import idempotent
from ledger.api.pagination import paged
from ledger.core.tokens import Scope
from ledger.models import Team
from ledger.selectors import team_get, team_list, team_people
from ledger.services import team_create, team_delete, team_update

READ, WRITE = [Scope.HARNESSES_READ], [Scope.HARNESSES_WRITE]
_MEMBERS_HELP = "User names. The whole list: who is not in it is not in the team."


class TeamSerializer(serializers.Serializer[Any]):
    """A team without its people."""

    slug = serializers.CharField()
    name = serializers.CharField()
    member_count = serializers.IntegerField(help_text="People whose account is open.")
    created_at = serializers.DateTimeField()


class TeamDetailSerializer(TeamSerializer):
    """A team with its people's user names."""

    members = serializers.ListField(child=serializers.CharField())


class TeamCreateSerializer(StrictSerializer):
    """What makes a team."""

    slug = TextField()
    name = TextField()
    members = serializers.ListField(child=TextField(), required=False, default=list, help_text=_MEMBERS_HELP)


class TeamUpdateSerializer(StrictSerializer):
    """What to change; what is left out stays."""

    name = TextField(required=False)
    members = serializers.ListField(child=TextField(), required=False, help_text=_MEMBERS_HELP)


def team_document(team: Team) -> dict[str, Any]:
    """A team with its people, as the API names it."""
    fresh = team_get(team.slug)
    names = list(team_people(fresh).values_list("username", flat=True))
    return {**TeamSerializer(fresh).data, "members": names}


class TeamListView(APIView):
    """All teams."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(summary="List teams", responses=TeamSerializer(many=True))
    def get(self, request: Request) -> Response:
        return paged(request, self, team_list().order_by("slug"), lambda team: TeamSerializer(team).data)

    @extend_schema(summary="Make a team", request=TeamCreateSerializer, responses={201: TeamDetailSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = TeamCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        team = team_create(**serializer.validated_data, acting_user=calling_user(request))
        location = reverse("ledger_api:team", [team.slug], request=request)
        return Response(team_document(team), status=201, headers={"Location": location})


class TeamView(APIView):
    """One team."""

    required_scopes = {"GET": READ, "PATCH": WRITE, "DELETE": WRITE}

    @extend_schema(summary="Read a team", responses=TeamDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(team_document(team_get(slug)))

    @extend_schema(summary="Change a team", request=TeamUpdateSerializer, responses=TeamDetailSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        team = team_get(slug)
        serializer = TeamUpdateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(
            team_document(team_update(team=team, **serializer.validated_data, acting_user=calling_user(request)))
        )

    @extend_schema(summary="Remove a team", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        team_delete(team=team_get(slug), acting_user=calling_user(request))
        return Response(status=204)
