"""What the REST API takes and gives for sessions and turns. Rules live in services; here is only shape."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers

from harnesses.selectors import MAX_NUMBER
from inference.models import Session, Turn
from inference.services.sessions import MAX_SEED
from inference.services.turns import MAX_COMMENT_CHARS
from ledger.api.fields import StrictSerializer, TextField, WholeNumberField


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "What is in production, fresh room",
            {"harness": "demo-shop", "label": "production", "viewer": "mia"},
            request_only=True,
        ),
        OpenApiExample(
            "Everything chosen",
            {"harness": "demo-shop", "version": 2, "checkpoint": "SmolLM2-135M-Instruct", "viewer": "mia", "seed": 7},
            request_only=True,
        ),
    ]
)
class SessionCreateSerializer(StrictSerializer):
    """What opens a session. Left out: the newest version, the default deployment's checkpoint, a fresh room."""

    harness = TextField(help_text="Slug of the harness.")
    version = WholeNumberField(required=False, min_value=1, max_value=MAX_NUMBER)
    label = TextField(  # type: ignore[assignment]
        required=False, help_text="Instead of a version: what this label points to now, such as production."
    )
    draft = WholeNumberField(
        required=False, min_value=1, max_value=2**63 - 1, help_text="A draft instead of a version, as it is saved now."
    )
    checkpoint = TextField(required=False, help_text="Name of a deployed checkpoint.")
    viewer = TextField(required=False, help_text="Name of the viewer, 1 to 80 characters.")
    seed = WholeNumberField(required=False, min_value=0, max_value=MAX_SEED, help_text="Draws the room.")
    room = serializers.DictField(required=False, help_text="A room as this API gives it, instead of a drawn one.")


class HarnessRefSerializer(serializers.Serializer[Any]):
    """The harness version that answers; or (`version` null) the draft, as it was when the session began."""

    slug = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    draft = serializers.IntegerField(allow_null=True)
    draft_revision = serializers.IntegerField(allow_null=True)
    hash = serializers.CharField(help_text="SHA-256 of the harness: its identity.")


class SessionSerializer(serializers.Serializer[Any]):
    """A session: who answers in it, and the room as it is now."""

    id = serializers.UUIDField()
    harness = HarnessRefSerializer()
    checkpoint = serializers.CharField()
    deployment = serializers.CharField()
    world = serializers.CharField()
    viewer = serializers.CharField()
    room = serializers.DictField()
    turn_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(
    examples=[
        OpenApiExample("A comment", {"comment": "How much is the rain jacket?", "viewer": "mia"}, request_only=True)
    ]
)
class TurnCreateSerializer(StrictSerializer):
    """A viewer's comment."""

    comment = TextField(help_text=f"1 to {MAX_COMMENT_CHARS:,} characters.")
    viewer = TextField(required=False, help_text="Who wrote it; left out, the session's viewer.")


class TimingsSerializer(serializers.Serializer[Any]):
    """Where the time went, in milliseconds. `overhead_ms` is what Tackroom added to the engine's own time."""

    total_ms = serializers.FloatField()
    engine_ms = serializers.FloatField()
    operations_ms = serializers.FloatField()
    overhead_ms = serializers.FloatField()
    time_to_first_token_ms = serializers.FloatField(allow_null=True)


class TokensSerializer(serializers.Serializer[Any]):
    """Tokens by the engine's count; null where it does not tell."""

    prompt = serializers.IntegerField(allow_null=True)
    completion = serializers.IntegerField(allow_null=True)


class ActionSerializer(serializers.Serializer[Any]):
    """Something that was done in the room."""

    operation = serializers.CharField()
    arguments = serializers.DictField()
    result = serializers.DictField()


class CallSerializer(serializers.Serializer[Any]):
    """One tool call, summed up; the turn's trace has all of it."""

    tool = serializers.CharField()
    operation = serializers.CharField(allow_null=True)
    status = serializers.CharField(help_text="ok, invalid, denied or failed")
    effect = serializers.CharField(allow_null=True, help_text="read, write or skill")
    duration_ms = serializers.FloatField()
    error = serializers.CharField(allow_null=True, help_text="Stable code of what was wrong.")


class TurnErrorSerializer(serializers.Serializer[Any]):
    """Something that went wrong, by the side of the boundary where it did."""

    boundary = serializers.CharField(help_text="model, harness, operation or platform")
    code = serializers.CharField()
    message = serializers.CharField()
    round = serializers.IntegerField(allow_null=True)


_TURN_EXAMPLE = {
    "session": "5f0c1c2e-6a3f-4b0e-9b52-5d0a3c9f1a77",
    "number": 1,
    "viewer": "mia",
    "comment": "How much is the rain jacket?",
    "reply": "The rain jacket is 299.00 CNY with coupon FALL30.",
    "is_fallback": False,
    "stop_reason": "reply",
    "actions": [],
    "harness": {"slug": "demo-shop", "version": 2, "draft": None, "draft_revision": None, "hash": "9f2c…"},
    "checkpoint": "SmolLM2-135M-Instruct",
    "timings": {
        "total_ms": 1240.5,
        "engine_ms": 1229.1,
        "operations_ms": 0.2,
        "overhead_ms": 11.4,
        "time_to_first_token_ms": 112.0,
    },
    "tokens": {"prompt": 1012, "completion": 31},
    "calls": [
        {
            "tool": "get_price",
            "operation": "get_price",
            "status": "ok",
            "effect": "read",
            "duration_ms": 0.2,
            "error": None,
        }
    ],
    "errors": [],
    "created_at": "2026-12-01T10:00:00Z",
}


@extend_schema_serializer(examples=[OpenApiExample("An answer", _TURN_EXAMPLE, response_only=True)])
class TurnSerializer(serializers.Serializer[Any]):
    """One comment and its answer. With `is_fallback` the viewer got the harness's fallback reply; `errors` say why."""

    session = serializers.UUIDField()
    number = serializers.IntegerField()
    viewer = serializers.CharField()
    comment = serializers.CharField()
    reply = serializers.CharField()
    is_fallback = serializers.BooleanField()
    stop_reason = serializers.CharField()
    actions = ActionSerializer(many=True)
    harness = HarnessRefSerializer()
    checkpoint = serializers.CharField()
    timings = TimingsSerializer()
    tokens = TokensSerializer()
    calls = CallSerializer(many=True)
    errors = TurnErrorSerializer(many=True)  # type: ignore[assignment]
    created_at = serializers.DateTimeField()


class TurnDetailSerializer(TurnSerializer):
    """A turn with its whole trace: every message, call, hook firing and timing."""

    trace = serializers.DictField()


def harness_document(session: Session) -> dict[str, Any]:
    """The harness version of a session, or its draft, as the API names it."""
    version = session.harness_version
    return {
        "slug": session.harness.slug,
        "version": version.number if version else None,
        "draft": session.draft_id,
        "draft_revision": session.draft_revision,
        "hash": version.spec_hash if version else session.draft_hash,
    }


def session_document(session: Session) -> dict[str, Any]:
    """A session as plain JSON."""
    return {
        "id": str(session.pk),
        "harness": harness_document(session),
        "checkpoint": session.checkpoint.name,
        "deployment": session.deployment.name,
        "world": session.world,
        "viewer": session.viewer,
        "room": session.room_state,
        "turn_count": session.turn_count,
        "created_at": session.created_at,
        "closed_at": session.closed_at,
    }


def turn_document(turn: Turn, session: Session) -> dict[str, Any]:
    """A turn of `session` as plain JSON, without its trace."""
    return {
        "session": str(session.pk),
        "number": turn.number,
        "viewer": turn.viewer,
        "comment": turn.comment,
        "reply": turn.reply,
        "is_fallback": turn.is_fallback,
        "stop_reason": str(turn.stop_reason),
        "actions": turn.actions,
        "harness": harness_document(session),
        "checkpoint": session.checkpoint.name,
        "timings": {
            "total_ms": round(turn.engine_ms + turn.overhead_ms, 3),
            "engine_ms": round(turn.engine_ms, 3),
            "operations_ms": round(turn.operations_ms, 3),
            "overhead_ms": round(turn.overhead_ms, 3),
            "time_to_first_token_ms": turn.time_to_first_token_ms,
        },
        "tokens": {"prompt": turn.prompt_tokens, "completion": turn.completion_tokens},
        "calls": turn.calls,
        "errors": turn.errors,
        "created_at": turn.created_at,
    }
