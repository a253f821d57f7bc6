"""The record of one turn: everything that was said, called, changed, measured and broken."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.runtime.ports import Message


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class StopReason(StrEnum):
    """Why a turn ended."""

    REPLY = "reply"
    """The model replied and every Stop hook let it pass."""
    BLOCKED = "blocked"
    """A hook refused the comment or the reply; the viewer got the hook's or the fallback text."""
    ROUND_LIMIT = "round_limit"
    """The model kept calling tools past `max_tool_rounds`; fallback."""
    REVISION_LIMIT = "revision_limit"
    """The model did not mend its reply within `max_revisions`; fallback."""
    DEADLINE = "deadline"
    """The turn's time ran out; fallback."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt no longer fits the context budget; fallback."""
    EMPTY_REPLY = "empty_reply"
    """The model wrote nothing; fallback."""
    ENGINE_ERROR = "engine_error"
    """The engine gave no usable reply; fallback."""
    HARNESS_ERROR = "harness_error"
    """The harness itself could not be rendered or applied; fallback."""


class TraceError(_Record):
    """Something that went wrong, by the side of the boundary where it did.

    `model`: what the model wrote could not be used. `harness`: a template, binding or hook failed. `operation`: the operation
    refused. `platform`: engine or tool back end down, slow or talking nonsense.
    """

    boundary: Literal["model", "harness", "operation", "platform"]
    code: str
    message: str
    round: int | None = None


class CallRecord(_Record):
    """One tool call on both sides of its binding. Times in milliseconds from the start of the turn."""

    round: int
    raw: str
    tool_id: str | None = None
    tool_name: str
    surface_arguments: JsonValue = None
    operation: str | None = None
    operation_arguments: JsonObject | None = None
    operation_result: JsonObject | None = None
    shown_result: str = ""
    status: Literal["ok", "invalid", "denied", "failed"]
    effect: Literal["read", "write", "skill"] | None = None
    error: TraceError | None = None
    started_ms: float = 0.0
    duration_ms: float = 0.0


class HookFiring(_Record):
    """One hook that fired, and what it did in plain words. `started_ms` is set by the recorder, from the start of the turn."""

    hook_id: str
    hook_name: str
    event: str
    action: str
    detail: str
    round: int | None = None
    started_ms: float = 0.0


class ModelCall(_Record):
    """One request to the engine. Times in milliseconds; token counts by the engine (None: not told)."""

    round: int
    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    time_to_first_token_ms: float | None = None
    started_ms: float = 0.0
    duration_ms: float = 0.0


class Action(_Record):
    """Something the turn did to the room: a write operation that succeeded, on the canonical side."""

    operation: str
    arguments: JsonObject
    result: JsonObject


class Conversation(_Record):
    """What a session carries from turn to turn: messages after the system prompt, and the SessionStart context.

    `messages` holds user and assistant messages exactly as they were sent. `system_tail` holds texts that SessionStart hooks
    added. `loaded_skills` are ids of skills whose body the model has read. `turn_starts` are the indices in `messages` at which a
    viewer's turn begins: old turns are dropped whole when the context budget is reached.
    """

    messages: tuple[Message, ...] = ()
    system_tail: tuple[str, ...] = ()
    loaded_skills: tuple[str, ...] = ()
    turn_starts: tuple[int, ...] = ()
    is_started: bool = False


class TurnInput(_Record):
    """One viewer comment, and the declared template context of that moment (`harnesses.core.templates`)."""

    comment: str
    viewer: str = "viewer"
    context: JsonObject = Field(default_factory=dict)


class Trace(_Record):
    """Everything about one turn. `reply` is what the viewer gets; `messages` is the last prompt sent, with the final answer.

    `dropped_turns`: old turns that no longer fit the context budget and left the conversation. `time_to_first_token_ms` runs from
    the start of the turn to the first token of the last model output. Token counts are sums over the turn's model calls.
    """

    spec_hash: str
    comment: str
    reply: str
    is_fallback: bool
    stop_reason: StopReason
    messages: tuple[Message, ...]
    conversation: Conversation
    model_calls: tuple[ModelCall, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    hook_firings: tuple[HookFiring, ...] = ()
    actions: tuple[Action, ...] = ()
    errors: tuple[TraceError, ...] = ()
    duration_ms: float = 0.0
    engine_ms: float = 0.0
    operations_ms: float = 0.0
    time_to_first_token_ms: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    dropped_turns: int = 0
