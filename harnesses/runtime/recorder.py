"""Keeping the record of one turn: clock, deadline, calls, firings, errors, and the events that a watcher hears meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from harnesses.core.jsonvalues import JsonObject
from harnesses.runtime.ports import ChatReply, Clock
from harnesses.runtime.trace import Action, CallRecord, HookFiring, ModelCall, StopReason, TraceError

EventType = Literal["call_started", "call_finished", "action", "hook", "delta", "reply"]


class SystemClock:
    """The machine's own monotonic clock."""

    def monotonic_s(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class TurnEvent:
    """Something that just happened in a turn.

    `call_started` {round, tool_name, surface_arguments}; `call_finished` (a CallRecord); `action` (an Action); `hook` (a
    HookFiring); `delta` {round, text}, a piece of the reply; `reply` {reply, is_fallback, stop_reason}, always last and final.
    A `call_started` after deltas of the same round means that they were talk before a call: drop them.
    """

    type: EventType
    data: JsonObject


class TurnStopped(Exception):
    """Ends the turn early, with the reason and, if the viewer is to get another text than the fallback, that text."""

    def __init__(self, reason: StopReason, text: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text


@dataclass
class TurnRecorder:
    """Collects what a Trace holds. Times are milliseconds from the start of the turn."""

    clock: Clock
    deadline_s: float
    on_event: Callable[[TurnEvent], None] | None = None
    started_s: float = field(init=False)
    model_calls: list[ModelCall] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    firings: list[HookFiring] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    errors: list[TraceError] = field(default_factory=list)
    operations_ms: float = 0.0

    def __post_init__(self) -> None:
        self.started_s = self.clock.monotonic_s()

    def now_ms(self) -> float:
        return (self.clock.monotonic_s() - self.started_s) * 1000

    def remaining_s(self) -> float:
        """Seconds left until the deadline; never negative."""
        return max(0.0, self.deadline_s - (self.clock.monotonic_s() - self.started_s))

    def emit(self, event_type: EventType, **data: Any) -> None:
        if self.on_event is not None:
            self.on_event(TurnEvent(event_type, data))

    def error(
        self,
        boundary: Literal["model", "harness", "operation", "platform"],
        code: str,
        message: str,
        round_number: int | None = None,
    ) -> TraceError:
        error = TraceError(boundary=boundary, code=code, message=message, round=round_number)
        self.errors.append(error)
        return error

    def fired(self, firing: HookFiring) -> None:
        firing = firing.model_copy(update={"started_ms": self.now_ms()})
        self.firings.append(firing)
        self.emit("hook", **firing.model_dump(mode="json"))

    def called(self, record: CallRecord) -> None:
        self.calls.append(record)
        if self.on_event is not None:
            self.emit("call_finished", **record.model_dump(mode="json"))

    def acted(self, action: Action) -> None:
        self.actions.append(action)
        self.emit("action", **action.model_dump(mode="json"))

    def asked(self, round_number: int, reply: ChatReply, started_ms: float) -> None:
        first = reply.time_to_first_token_s
        self.model_calls.append(
            ModelCall(
                round=round_number,
                text=reply.text,
                finish_reason=reply.finish_reason,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                cached_tokens=reply.cached_tokens,
                time_to_first_token_ms=None if first is None else first * 1000,
                started_ms=started_ms,
                duration_ms=reply.duration_s * 1000 or self.now_ms() - started_ms,
            )
        )
