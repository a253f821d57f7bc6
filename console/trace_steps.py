"""A turn's Trace as one list of steps in the order in which they happened, ready for a template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from console import presenters
from console.presenters import Badge
from harnesses.runtime.trace import CallRecord, HookFiring, ModelCall, Trace, TraceError

_BEFORE_MODEL = ("SessionStart", "UserPromptSubmit")


@dataclass(frozen=True)
class Span:
    """Where a step lies on the turn's time line, in per cent of its duration."""

    start: str
    width: str


@dataclass(frozen=True)
class Step:
    """One step. `kind` is model, call, hook or error; only what fits the kind is filled."""

    kind: str
    title: str
    label: str
    time: str = ""
    span: Span | None = None
    badge: Badge | None = None
    model_call: ModelCall | None = None
    call: CallRecord | None = None
    firing: HookFiring | None = None
    error: TraceError | None = None
    surface: list[tuple[str, str]] = field(default_factory=list)
    canonical: list[tuple[str, str]] = field(default_factory=list)
    result_text: str = ""


@dataclass(frozen=True)
class TraceView:
    """A trace, its steps, and its times in words."""

    trace: Trace
    steps: tuple[Step, ...]
    stop: Badge
    engine: str
    operations: str
    first_token: str


def trace_view(document: Any, errors: Sequence[Any] | None = None) -> TraceView:
    """Read a stored trace (its JSON, or the Trace itself) and lay it out. `errors` stand in for the trace's own."""
    trace = document if isinstance(document, Trace) else Trace.model_validate(document)
    if errors is not None:
        trace = trace.model_copy(update={"errors": tuple(TraceError.model_validate(item) for item in errors)})
    return TraceView(
        trace=trace,
        steps=tuple(_steps(trace)),
        stop=presenters.stop_badge(trace.stop_reason),
        engine=presenters.milliseconds(trace.engine_ms),
        operations=presenters.milliseconds(trace.operations_ms),
        first_token=presenters.milliseconds(trace.time_to_first_token_ms),
    )


def _steps(trace: Trace) -> list[Step]:
    """Everything that happened, in the order it happened; an error behind the rest of its round."""
    placed: list[tuple[tuple[float, int], Step]] = []
    for item in trace.model_calls:
        placed.append(((item.started_ms, 1), _model_step(item, trace.duration_ms)))
    for call in trace.calls:
        placed.append(((call.started_ms, 3), _call_step(call, trace.duration_ms)))
    for firing in trace.hook_firings:
        placed.append((_when_fired(firing, trace), _hook_step(firing)))
    shown = [call.error for call in trace.calls if call.error]
    for error in trace.errors:
        if error not in shown:
            placed.append(((_end_of_round(trace, error.round), 5), _error_step(error)))
    return [step for _, step in sorted(placed, key=lambda pair: pair[0])]


def _when_fired(firing: HookFiring, trace: Trace) -> tuple[float, int]:
    """A hook before a call stands before it, though the clock of the call runs by then."""
    if firing.event == "PreToolUse":
        started = [call.started_ms for call in trace.calls if call.started_ms <= firing.started_ms]
        return (max(started, default=firing.started_ms), 2)
    return (firing.started_ms, 0 if firing.event in _BEFORE_MODEL else 4)


def _end_of_round(trace: Trace, number: int | None) -> float:
    items: tuple[ModelCall | CallRecord | HookFiring, ...] = (*trace.model_calls, *trace.calls, *trace.hook_firings)
    return max((item.started_ms for item in items if number is None or (item.round or 0) <= number), default=0.0)


def _span(started_ms: float, duration_ms: float, total_ms: float) -> Span | None:
    if total_ms <= 0:
        return None
    start = min(100.0, 100 * started_ms / total_ms)
    width = max(0.4, min(100.0 - start, 100 * duration_ms / total_ms))
    return Span(f"{start:.2f}%", f"{width:.2f}%")


def _model_step(item: ModelCall, total_ms: float) -> Step:
    return Step(
        kind="model",
        label="Model",
        title="The model writes" if item.finish_reason != "error" else "The engine did not answer",
        time=presenters.milliseconds(item.duration_ms),
        span=_span(item.started_ms, item.duration_ms, total_ms),
        model_call=item,
    )


def _call_step(call: CallRecord, total_ms: float) -> Step:
    return Step(
        kind="call" if call.status == "ok" else "error",
        label="Call",
        title=call.tool_name,
        time=presenters.milliseconds(call.duration_ms),
        span=_span(call.started_ms, call.duration_ms, total_ms),
        badge=presenters.call_badge(call.status),
        call=call,
        surface=presenters.flat_pairs(call.surface_arguments),
        canonical=presenters.flat_pairs(call.operation_arguments),
        result_text=presenters.json_text(call.operation_result) if call.operation_result is not None else "",
    )


def _hook_step(firing: HookFiring) -> Step:
    return Step(kind="hook", label=f"Hook · {firing.event}", title=firing.hook_name, firing=firing)


def _error_step(error: TraceError) -> Step:
    label = presenters.BOUNDARIES.get(error.boundary, error.boundary)
    return Step(kind="error", label="Error", title=label, error=error)
