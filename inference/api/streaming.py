"""A turn as server-sent events: what happens, while it happens, and the turn itself at the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer

from harnesses.runtime.recorder import TurnEvent
from inference.models import Turn
from ledger.api.problems import problem_of

CONTENT_TYPE = "text/event-stream; charset=utf-8"
KEEP_ALIVE_S = 10.0
_KEEP_ALIVE = b": still working\n\n"

TurnListener = Callable[[TurnEvent], None]
TakeTurn = Callable[[TurnListener], Coroutine[Any, Any, Turn]]


class EventStreamRenderer(BaseRenderer):
    """Lets a caller ask for `text/event-stream`; the stream itself is made by `stream_turn`."""

    media_type = "text/event-stream"
    format = "event-stream"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> Any:
        return data


async def stream_turn(take: TakeTurn, turn_document: Callable[[Turn], Any]) -> StreamingHttpResponse:
    """Start a turn and stream it: the events of `harnesses.runtime.recorder.TurnEvent`, then `done` with the turn, or `error`.

    Whatever is wrong before anything happened is raised here, as for a plain request.
    """
    heard: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    task = asyncio.create_task(take(heard.put_nowait))
    task.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        first = await heard.get()
    except asyncio.CancelledError:
        await _cancel(task)
        raise
    if first is None:
        task.result()
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(_events(task, heard, first, turn_document), content_type=CONTENT_TYPE, headers=headers)


async def _events(
    task: asyncio.Task[Turn],
    heard: asyncio.Queue[TurnEvent | None],
    event: TurnEvent | None,
    turn_document: Callable[[Turn], Any],
) -> AsyncIterator[bytes]:
    """The stream. None in the queue marks the end of the turn."""
    try:
        while event is not None:
            yield encode_event(event.type, event.data)
            while heard.empty():
                with contextlib.suppress(TimeoutError):
                    event = await asyncio.wait_for(heard.get(), KEEP_ALIVE_S)
                    break
                yield _KEEP_ALIVE
            else:
                event = heard.get_nowait()
        yield _last_event(task, turn_document)
    finally:
        await _cancel(task)


def _last_event(task: asyncio.Task[Turn], turn_document: Callable[[Turn], Any]) -> bytes:
    if (error := task.exception()) is not None:
        problem = problem_of(error if isinstance(error, Exception) else RuntimeError(str(error)))
        return encode_event(
            "error", {"title": problem.title, "status": problem.status, "detail": problem.detail, "code": problem.code}
        )
    return encode_event("done", turn_document(task.result()))


async def _cancel(task: asyncio.Task[Turn]) -> None:
    """A listener who left needs no answer: the turn is given up, and leaves no trace in the session."""
    if not task.done():
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task


def encode_event(name: str, data: Any) -> bytes:
    """One server-sent event; the data is one line of JSON."""
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()
