"""Views of sessions and turns: parse, call a service or selector, answer. Taking a turn is asynchronous from end to end."""

from __future__ import annotations

from functools import partial
from typing import Any, cast
from uuid import UUID

from adrf.views import APIView as AsyncAPIView
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from inference.api.serializers import (
    SessionCreateSerializer,
    SessionSerializer,
    TurnCreateSerializer,
    TurnDetailSerializer,
    TurnSerializer,
    session_document,
    turn_document,
)
from inference.api.streaming import EventStreamRenderer, stream_turn
from inference.models import Turn
from inference.selectors import session_get, session_list, turn_get, turn_list
from inference.services import session_close, session_start, turn_take
from ledger.api.idempotency import idempotent
from ledger.api.pagination import PAGE_PARAMETERS, paged
from ledger.core.tokens import Scope
from ledger.errors import NotFound

READ, WRITE = [Scope.SESSIONS_READ], [Scope.SESSIONS_WRITE]
_STREAM = OpenApiParameter(
    "stream", bool, description="true: answer with server-sent events, as for that Accept header."
)
_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key in a session gives the same turn, however often it is sent.",
)
_TURN_DESCRIPTION = """Answer a viewer's comment. An engine that is down or slow is no error: the viewer gets the harness's fallback
reply with `is_fallback: true`, and `errors` say why.

With `Accept: text/event-stream` the answer comes as events: `call_started`, `call_finished`, `action`, `hook`, `delta` (a piece
of text), `reply` (the final text, which replaces the pieces), `done` (the turn as below), or `error` (a problem).
"""


class SessionListView(APIView):
    """The sessions of harnesses that the caller may see, newest first."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(
        summary="List sessions",
        parameters=[*PAGE_PARAMETERS, OpenApiParameter("harness", str)],
        responses=SessionSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        sessions = session_list(viewer=_caller(request), harness_slug=request.query_params.get("harness"))
        return paged(request, self, sessions, session_document)

    @extend_schema(summary="Start a session", request=SessionCreateSerializer, responses={201: SessionSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = SessionCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        session = session_start(
            harness_slug=values["harness"],
            version_number=values.get("version"),
            label=values.get("label"),
            draft_id=values.get("draft"),
            checkpoint_name=values.get("checkpoint"),
            viewer=values.get("viewer", "viewer"),
            room=values.get("room"),
            seed=values.get("seed"),
            acting_user=_caller(request),
        )
        location = reverse("inference_api:session", [session.pk], request=request)
        return Response(session_document(session), status=201, headers={"Location": location})


class SessionView(APIView):
    """One session."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Read a session", responses=SessionSerializer)
    def get(self, request: Request, session_id: str) -> Response:
        return Response(session_document(session_get(_uuid(session_id), viewer=_caller(request))))


class SessionCloseView(APIView):
    """The end of a session."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Close a session", request=None, responses=SessionSerializer)
    def post(self, request: Request, session_id: str) -> Response:
        session_close(session_id=_uuid(session_id), acting_user=_caller(request))
        return Response(session_document(session_get(_uuid(session_id), viewer=_caller(request))))


class TurnListView(AsyncAPIView):
    """The turns of a session."""

    required_scopes = {"GET": READ, "POST": WRITE}

    def get_renderers(self) -> list[BaseRenderer]:
        return [JSONRenderer(), EventStreamRenderer()] if self.request.method == "POST" else [JSONRenderer()]

    @extend_schema(
        summary="List the turns of a session", parameters=PAGE_PARAMETERS, responses=TurnSerializer(many=True)
    )
    async def get(self, request: Request, session_id: str) -> Response:
        return await sync_to_async(self._list)(request, _uuid(session_id))

    def _list(self, request: Request, session_id: UUID) -> Response:
        session = session_get(session_id, viewer=_caller(request))
        return paged(request, self, turn_list(session), lambda turn: turn_document(turn, session))

    @extend_schema(
        summary="Take a turn",
        description=_TURN_DESCRIPTION,
        request=TurnCreateSerializer,
        parameters=[_STREAM, _KEY],
        responses={201: TurnSerializer, (200, "text/event-stream"): OpenApiTypes.STR},
    )
    async def post(self, request: Request, session_id: str) -> HttpResponseBase:
        serializer = TurnCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        take = partial(
            turn_take,
            session_id=_uuid(session_id),
            acting_user=_caller(request),
            idempotency_key=request.headers.get("Idempotency-Key"),
            **serializer.validated_data,
        )
        if _wants_events(request):
            return await stream_turn(lambda listener: take(on_event=listener), _document)
        turn = await take()
        location = reverse("inference_api:turn", [turn.session_id, turn.number], request=request)
        return Response(_document(turn), status=201, headers={"Location": location})


class TurnView(APIView):
    """One turn with its whole trace."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Read a turn", responses=TurnDetailSerializer)
    def get(self, request: Request, session_id: str, number: str) -> Response:
        turn = turn_get(_uuid(session_id), _number(number), viewer=_caller(request))
        return Response({**_document(turn), "trace": turn.trace})


def _document(turn: Turn) -> dict[str, Any]:
    return turn_document(turn, turn.session)


def _wants_events(request: Request) -> bool:
    asked = request.query_params.get("stream", "").lower()
    return asked in ("1", "true", "yes") or isinstance(request.accepted_renderer, EventStreamRenderer)


def _caller(request: Request) -> AbstractUser:
    """Who asks. The permission classes let nobody through who is not logged in."""
    return cast("AbstractUser", request.user)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(f"There is no session {text[:60]!a}: ids are UUIDs.") from None


def _number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text)
    raise NotFound(f"There is no turn {text[:40]!a}: turns are numbered 1, 2, 3 …")
