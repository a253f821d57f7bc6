"""Taking a turn: one viewer comment in, one answer out, everything about it on record.

The database is visited twice: once to claim the session and read it, once to write the turn and the session's new state in one
transaction. In between nothing is held but a lease on the session, so that turns of one session follow one another (a second
one waits) while sessions run side by side. A lease runs out by itself if its holder dies.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from harnesses.core.spec import HarnessSpec
from harnesses.runtime.loop import run_turn
from harnesses.runtime.openai_client import OpenAIChatClient
from harnesses.runtime.recorder import TurnEvent
from harnesses.runtime.trace import Conversation, StopReason, Trace, TraceError, TurnInput
from harnesses.selectors import version_by_id, version_spec
from inference.clients import shared_client
from inference.core.cleaning import speakable_text, storable
from inference.models import Deployment, Session, Turn
from inference.selectors import session_draft_spec, token_counter_of
from inference.services.sessions import checked_viewer, require_play
from ledger.errors import Conflict, Invalid, NotFound
from ledger.services import checked_text
from livestream.world import WorldOperations, world_named

MAX_COMMENT_CHARS = 2_000
MAX_KEY_CHARS = 200
MAX_WAIT_S = 30.0
"""How long a turn waits for the one before it."""
_LEASE_S = 60.0
_LEASE_SLACK_S = 20.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.25

_CLAIMED = (
    *(
        "harness_version_id",
        "draft_id",
        "draft_revision",
        "world",
        "room_state",
        "conversation",
        "viewer",
        "seed",
        "closed_at",
        "turn_count",
    ),
    *("deployment__name", "deployment__base_url", "deployment__state", "deployment__state_reason"),
    *("checkpoint__name", "checkpoint__served_name", "checkpoint__path"),
    *("harness_version__harness__slug", "harness_version__harness__access"),
)
_CLAIMED_WITH = ("deployment", "checkpoint", "harness_version__harness")
"""What a turn needs of a session: on the reply path every column costs."""

TurnListener = Callable[[TurnEvent], None]


@dataclass
class _Claim:
    """A session that is ours until its lease runs out. `replay`: the turn that this idempotency key stands for already."""

    session: Session
    spec: HarnessSpec
    token: UUID
    replay: Turn | None = None


@dataclass(frozen=True)
class _Outcome:
    """What came of the loop, ready to be stored."""

    trace: Trace
    reply: str
    room_state: dict[str, Any]
    viewer: str
    errors: list[dict[str, Any]] = field(default_factory=list)


async def turn_take(
    *,
    session_id: UUID,
    comment: str,
    acting_user: AbstractUser | None,
    viewer: str | None = None,
    idempotency_key: str | None = None,
    on_event: TurnListener | None = None,
    max_wait_s: float = MAX_WAIT_S,
) -> Turn:
    """Answer one comment. `viewer` None is the session's; `on_event` hears what happens while it happens.

    An engine that is down, slow or talks nonsense is no error here: the turn then holds the harness's fallback reply, and its
    `errors` say what was wrong. The same `idempotency_key` in a session gives the same turn. Raises NotFound, Invalid, and Conflict
    for a closed session or one whose earlier turn is not done within `max_wait_s`.
    """
    started = time.perf_counter()
    comment = checked_comment(comment)
    viewer = None if viewer is None else checked_viewer(viewer)
    key = _checked_key(idempotency_key)
    token = uuid.uuid4()
    try:
        claim = await _claim_in_turn(acting_user, session_id, comment, key, token, max_wait_s)
        if claim.replay is not None:
            return claim.replay
        outcome = await _answer(claim, comment, viewer or claim.session.viewer, on_event)
        return await sync_to_async(_store)(claim, outcome, key, started)
    except BaseException:
        await asyncio.shield(sync_to_async(_release)(session_id, token))
        raise


def checked_comment(comment: str) -> str:
    """A comment in its stored form: 1 to 2,000 characters. Raises Invalid."""
    return checked_text("comment", comment, max_chars=MAX_COMMENT_CHARS, is_required=True)


def _checked_key(key: str | None) -> str | None:
    if key is None:
        return None
    if not 1 <= len(key) <= MAX_KEY_CHARS or not key.isascii() or not key.isprintable():
        mend = f"Use 1 to {MAX_KEY_CHARS} printable ASCII characters, for example a UUID."
        raise Invalid.field("Idempotency-Key", "The key cannot be used.", mend, code="bad_key")
    return key


# --- claiming the session --------------------------------------------------------------------------------------------


async def _claim_in_turn(
    acting_user: AbstractUser | None, session_id: UUID, comment: str, key: str | None, token: UUID, max_wait_s: float
) -> _Claim:
    deadline = time.monotonic() + max_wait_s
    pause_s = _FIRST_PAUSE_S
    while True:
        claim = await sync_to_async(_claim)(acting_user, session_id, comment, key, token)
        if claim is not None:
            return claim
        if time.monotonic() >= deadline:
            raise Conflict(
                f"The session still answers an earlier comment after {max_wait_s:g} s. Send this one again later.",
                code="session_busy",
            )
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _claim(
    acting_user: AbstractUser | None, session_id: UUID, comment: str, key: str | None, token: UUID
) -> _Claim | None:
    """Take the lease and read the session; None while another turn holds it."""
    now = timezone.now()
    is_free = Q(lease_token__isnull=True) | Q(lease_expires_at__lt=now)
    has_lease = Session.objects.filter(is_free, pk=session_id, closed_at__isnull=True).update(
        lease_token=token, lease_expires_at=now + dt.timedelta(seconds=_LEASE_S)
    )
    session = Session.objects.select_related(*_CLAIMED_WITH).only(*_CLAIMED).filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"There is no session {session_id}.")
    require_play(acting_user, session)
    spec = _spec(session)
    if key is not None and (replay := _replay(session, comment, key)) is not None:
        if has_lease:
            _release(session_id, token)
        return _Claim(session, spec, token, replay)
    if session.closed_at is not None:
        raise Conflict("The session is closed. Start a new one.", code="session_closed")
    if not has_lease:
        return None
    needed_s = spec.runtime.deadline_ms / 1000 + _LEASE_SLACK_S
    if needed_s > _LEASE_S:
        Session.objects.filter(pk=session_id).update(lease_expires_at=now + dt.timedelta(seconds=needed_s))
    return _Claim(session, spec, token)


def _spec(session: Session) -> HarnessSpec:
    """The harness of a session, and the session told of it without another query wherever that can be."""
    if session.harness_version_id is None:
        return session_draft_spec(session.pk)
    session.harness_version = version_by_id(session.harness_version_id)
    return version_spec(session.harness_version)


def _replay(session: Session, comment: str, key: str) -> Turn | None:
    turn = Turn.objects.filter(session_id=session.pk, idempotency_key=key).first()
    if turn is None:
        return None
    if turn.comment != comment:
        message = "The key was used for another comment in this session."
        raise Invalid.field("Idempotency-Key", message, "Use a new key for a new comment.", code="key_reused")
    turn.session = session
    return turn


def _release(session_id: UUID, token: UUID) -> None:
    """Give the lease back, if it is still ours."""
    Session.objects.filter(pk=session_id, lease_token=token).update(lease_token=None, lease_expires_at=None)


# --- answering -------------------------------------------------------------------------------------------------------


async def _answer(claim: _Claim, comment: str, viewer: str, on_event: TurnListener | None) -> _Outcome:
    session = claim.session
    world = world_named(session.world)
    room = world.load(session.room_state).heard(viewer_id=viewer, viewer_name=viewer, text=comment)
    operations = WorldOperations(world, room)
    trace = await run_turn(
        claim.spec,
        Conversation.model_validate(session.conversation),
        TurnInput(comment=comment, viewer=viewer, context=world.context(room, viewer)),
        chat_client=_chat_client(session),
        operations=operations,
        seed=session.seed,
        on_event=on_event,
        count_tokens=token_counter_of(session.checkpoint),
    )
    reply = speakable_text(trace.reply)
    errors = [error.model_dump(mode="json") for error in (*trace.errors, *_engine_errors(trace, session.deployment))]
    return _Outcome(trace, reply, world.dump(operations.room.answered(reply)), viewer, errors)


def _chat_client(session: Session) -> OpenAIChatClient:
    return OpenAIChatClient(
        session.deployment.base_url,
        session.checkpoint.served_name,
        api_key=settings.ENGINE_API_KEY or None,
        http=shared_client(),
    )


def _engine_errors(trace: Trace, deployment: Deployment) -> tuple[TraceError, ...]:
    """Why there was no engine, where the last probe knows more than "unreachable"."""
    is_known_down = deployment.state in (Deployment.State.STARTING, Deployment.State.STOPPED, Deployment.State.FAILED)
    if trace.stop_reason != StopReason.ENGINE_ERROR or not is_known_down:
        return ()
    reason = deployment.state_reason or f"The engine is {deployment.get_state_display().lower()}."
    return (TraceError(boundary="platform", code=f"engine_{deployment.state}", message=reason),)


# --- storing ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def _store(claim: _Claim, outcome: _Outcome, key: str | None, started: float) -> Turn:
    """Write the turn and what the session carries on, or nothing. Raises Conflict if the lease was lost meanwhile."""
    session, trace = claim.session, outcome.trace
    number = session.turn_count + 1
    conversation = storable(trace.conversation.model_dump(mode="json"))
    room_state = storable(outcome.room_state)
    is_ours = Session.objects.filter(pk=session.pk, lease_token=claim.token).update(
        conversation=conversation, room_state=room_state, turn_count=number, lease_token=None, lease_expires_at=None
    )
    if not is_ours:
        raise Conflict("The turn took longer than it may, and another one came first. Send the comment again.")
    session.conversation, session.room_state, session.turn_count = conversation, room_state, number
    document = storable(trace.model_dump(mode="json"))
    return Turn.objects.create(
        session=session,
        number=number,
        viewer=outcome.viewer,
        comment=trace.comment,
        reply=outcome.reply,
        is_fallback=trace.is_fallback,
        stop_reason=trace.stop_reason,
        trace=document,
        actions=document["actions"],
        calls=[_call_summary(call) for call in document["calls"]],
        errors=storable(outcome.errors),
        duration_ms=trace.duration_ms,
        engine_ms=trace.engine_ms,
        operations_ms=trace.operations_ms,
        overhead_ms=(time.perf_counter() - started) * 1000 - trace.engine_ms,
        time_to_first_token_ms=trace.time_to_first_token_ms,
        prompt_tokens=trace.prompt_tokens,
        completion_tokens=trace.completion_tokens,
        idempotency_key=key,
    )


def _call_summary(call: dict[str, Any]) -> dict[str, Any]:
    return {
        "tool": call["tool_name"],
        "operation": call["operation"],
        "status": call["status"],
        "effect": call["effect"],
        "duration_ms": call["duration_ms"],
        "error": call["error"]["code"] if call["error"] else None,
    }
