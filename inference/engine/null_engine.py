"""A stand-in for the engine with the same HTTP surface and no model: scripted replies, and faults on demand.

Tests use `NullEngine` as a context manager; `python -m inference.engine.null_engine --port 8001` serves one in the foreground. It
never passes for a model: its model name is `null` unless a test asks otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import threading
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

Fault = Literal[
    "slow", "hang", "500", "503", "garbage", "no_choices", "half_stream", "wrong_content_type", "reset", "unhealthy"
]
"""What can go wrong. `slow` waits `delay_s` and then answers; `hang` never answers; `unhealthy` concerns /health alone."""

DEFAULT_REPLY = "This is the null engine: no model is loaded, so there is nothing to say."
_TOKEN = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True)
class RecordedRequest:
    """One request as it came in; `body` is the parsed JSON (None without one)."""

    method: str
    path: str
    body: Any


@dataclass
class _FaultPlan:
    fault: Fault
    remaining: int | None
    delay_s: float


class NullEngine:
    """An OpenAI-compatible server with scripted replies.

    A chat request is answered by the next of `replies`, else by the text of the first rule whose pattern is found in the last
    user message, else by `default_reply`. A token is a word here. `requests` records everything but health checks.
    """

    def __init__(
        self,
        *,
        replies: Iterable[str] = (),
        rules: Sequence[tuple[str, str]] = (),
        default_reply: str = DEFAULT_REPLY,
        model: str = "null",
        max_model_len: int = 4_096,
        token_delay_s: float = 0.0,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.replies = deque(replies)
        self.rules = [(re.compile(pattern), text) for pattern, text in rules]
        self.default_reply = default_reply
        self.model = model
        self.max_model_len = max_model_len
        self.token_delay_s = token_delay_s
        self.requests: list[RecordedRequest] = []
        self._fault: _FaultPlan | None = None
        self._host = host
        self._port = port
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    # --- for tests ---------------------------------------------------------------------------------------------------

    @property
    def root_url(self) -> str:
        return f"http://{self._host}:{self._port}"

    @property
    def base_url(self) -> str:
        """The OpenAI-compatible base URL."""
        return f"{self.root_url}/v1"

    @property
    def chat_requests(self) -> list[dict[str, Any]]:
        """The bodies of the chat requests so far."""
        return [request.body for request in self.requests if request.path == "/v1/chat/completions"]

    def fail(self, fault: Fault, *, times: int | None = None, delay_s: float = 1.0) -> None:
        """From now on fail so; `times` None: until `heal`."""
        self._fault = _FaultPlan(fault, times, delay_s)

    def heal(self) -> None:
        """Work again."""
        self._fault = None

    def __enter__(self) -> Self:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self._host, self._port))
        self._port = listener.getsockname()[1]
        self._server = uvicorn.Server(self.server_config())
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="null-engine", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise RuntimeError(f"The null engine did not start on {self.root_url} within 10 s.")
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        if self._server and self._thread:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join(10)

    def server_config(self) -> uvicorn.Config:
        """How uvicorn serves it."""
        return uvicorn.Config(
            self.asgi, host=self._host, port=self._port, http=_AbortableProtocol, ws="none", lifespan="off",
            interface="asgi3", log_level="warning", timeout_graceful_shutdown=1,
        )  # fmt: skip

    # --- HTTP --------------------------------------------------------------------------------------------------------

    async def asgi(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["type"] != "http":
            return
        method, path = scope["method"], scope["path"]
        raw = await _read_body(receive)
        if path == "/health":
            is_sick = self._fault is not None and self._fault.fault == "unhealthy"
            await _send_json(send, 503 if is_sick else 200, {})
            return
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            await _send_error(send, 400, "BadRequestError", "The body is not JSON.")
            return
        self.requests.append(RecordedRequest(method, path, body))
        await self._route(method, path, body, scope, send)

    async def _route(self, method: str, path: str, body: Any, scope: Scope, send: Send) -> None:
        if (method, path) == ("GET", "/v1/models"):
            card = {"id": self.model, "object": "model", "owned_by": "tackroom", "max_model_len": self.max_model_len}
            await _send_json(send, 200, {"object": "list", "data": [card]})
        elif (method, path) == ("GET", "/metrics"):
            count = len(self.chat_requests)
            text = f"# TYPE null_engine_chat_requests_total counter\nnull_engine_chat_requests_total {count}\n"
            await _send(send, 200, text.encode(), "text/plain; version=0.0.4")
        elif (method, path) == ("POST", "/tokenize"):
            await self._tokenize(body, send)
        elif (method, path) == ("POST", "/v1/chat/completions"):
            await self._chat(body, scope, send)
        else:
            await _send_error(send, 404, "NotFoundError", f"There is no {method} {path}.")

    async def _tokenize(self, body: Any, send: Send) -> None:
        if not isinstance(body, dict) or not ("messages" in body or "prompt" in body):
            await _send_error(send, 400, "BadRequestError", "Give messages or a prompt.")
            return
        text = str(body["prompt"]) if "prompt" in body else _prompt_text(body["messages"])
        tokens = [zlib.crc32(piece.encode()) for piece in _TOKEN.findall(text)]
        await _send_json(send, 200, {"count": len(tokens), "max_model_len": self.max_model_len, "tokens": tokens})

    async def _chat(self, body: Any, scope: Scope, send: Send) -> None:
        if await self._misbehave(scope, send):
            return
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not messages:
            await _send_error(send, 400, "BadRequestError", "messages: a list with at least one message is required.")
            return
        if body.get("model") not in (None, self.model):
            await _send_error(send, 404, "NotFoundError", f"The model `{body['model']}` does not exist.")
            return
        prompt_tokens = len(_TOKEN.findall(_prompt_text(messages)))
        if prompt_tokens > self.max_model_len:
            message = (
                f"This model's maximum context length is {self.max_model_len} tokens; the prompt has {prompt_tokens}."
            )
            await _send_error(send, 400, "BadRequestError", message)
            return
        pieces, finish = _cut(self._reply_to(messages), body.get("stop"), body.get("max_tokens"))
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": len(pieces),
            "total_tokens": prompt_tokens + len(pieces),
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        if body.get("stream"):
            include_usage = bool((body.get("stream_options") or {}).get("include_usage"))
            await self._stream(pieces, finish, usage if include_usage else None, send)
            return
        await asyncio.sleep(self.token_delay_s * len(pieces))
        choice = {"index": 0, "message": {"role": "assistant", "content": "".join(pieces)}, "finish_reason": finish}
        await _send_json(send, 200, {**self._envelope("chat.completion"), "choices": [choice], "usage": usage})

    async def _stream(self, pieces: list[str], finish: str, usage: dict[str, Any] | None, send: Send) -> None:
        await send(_start(200, "text/event-stream; charset=utf-8"))
        envelope = self._envelope("chat.completion.chunk")

        async def event(payload: dict[str, Any]) -> None:
            data = f"data: {json.dumps({**envelope, **payload})}\n\n".encode()
            await send({"type": "http.response.body", "body": data, "more_body": True})

        def delta(content: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
            return {"choices": [{"index": 0, "delta": content, "finish_reason": finish_reason}]}

        await event(delta({"role": "assistant", "content": ""}))
        is_cut_off = self._take("half_stream")
        for number, piece in enumerate(pieces):
            await asyncio.sleep(self.token_delay_s)
            if is_cut_off and number >= max(1, len(pieces) // 2):
                raise ConnectionAbortedError("half_stream: the rest is not sent")
            await event(delta({"content": piece}))
        await event(delta({}, finish))
        if usage is not None:
            await event({"choices": [], "usage": usage})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})

    def _envelope(self, kind: str) -> dict[str, Any]:
        number = len(self.chat_requests)
        return {"id": f"chatcmpl-null-{number}", "object": kind, "created": int(time.time()), "model": self.model}

    def _reply_to(self, messages: list[Any]) -> str:
        if self.replies:
            return self.replies.popleft()
        last = next((str(item.get("content")) for item in reversed(messages) if item.get("role") == "user"), "")
        return next((text for pattern, text in self.rules if pattern.search(last)), self.default_reply)

    # --- faults ------------------------------------------------------------------------------------------------------

    def _take(self, *faults: Fault) -> _FaultPlan | None:
        plan = self._fault
        if plan is None or plan.fault not in faults:
            return None
        if plan.remaining is not None:
            plan.remaining -= 1
            if plan.remaining <= 0:
                self._fault = None
        return plan

    async def _misbehave(self, scope: Scope, send: Send) -> bool:
        """Carry out the planned fault; True where the request is thereby answered."""
        plan = self._take("slow", "hang", "500", "503", "garbage", "no_choices", "wrong_content_type", "reset")
        if plan is None:
            return False
        if plan.fault == "slow":
            await asyncio.sleep(plan.delay_s)
            return False
        if plan.fault == "hang":
            await asyncio.sleep(3_600)
        elif plan.fault == "reset":
            scope["state"]["transport"].abort()
        elif plan.fault == "garbage":
            await _send(send, 200, b'{"choices": [{"mess\xff', "application/json")
        elif plan.fault == "no_choices":
            await _send_json(send, 200, {"object": "chat.completion", "choices": []})
        elif plan.fault == "wrong_content_type":
            await _send(send, 200, b"<html><body>Welcome to the proxy</body></html>", "text/html")
        else:
            status = int(plan.fault)
            await _send_error(send, status, "InternalServerError", "The engine failed on purpose.")
        return True


class _AbortableProtocol(H11Protocol):
    """Hands its transport to the application, which needs it to reset a connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


def _prompt_text(messages: Sequence[Any]) -> str:
    return "\n".join(f"{item.get('role')}\n{item.get('content')}" for item in messages if isinstance(item, dict))


def _cut(text: str, stop: Any, max_tokens: Any) -> tuple[list[str], str]:
    """The tokens of `text` up to the first stop string or `max_tokens`, and the finish reason."""
    stops = [stop] if isinstance(stop, str) else list(stop or [])
    ends = [position for word in stops if word and (position := text.find(word)) >= 0]
    pieces = _TOKEN.findall(text[: min(ends)] if ends else text)
    if isinstance(max_tokens, int) and len(pieces) > max_tokens:
        return pieces[:max_tokens], "length"
    return pieces, "stop"


async def _read_body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body)


def _start(status: int, content_type: str) -> dict[str, Any]:
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [(b"content-type", content_type.encode())],
    }


async def _send(send: Send, status: int, body: bytes, content_type: str) -> None:
    await send(_start(status, content_type))
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_json(send: Send, status: int, value: Any) -> None:
    await _send(send, status, json.dumps(value).encode(), "application/json")


async def _send_error(send: Send, status: int, kind: str, message: str) -> None:
    await _send_json(send, status, {"error": {"message": message, "type": kind, "code": status}})


def main() -> None:
    """Serve a null engine in the foreground."""
    parser = argparse.ArgumentParser(prog="python -m inference.engine.null_engine", description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--reply", action="append", default=[], metavar="TEXT", help="what to say next (repeatable)")
    parser.add_argument("--rule", action="append", default=[], nargs=2, metavar=("PATTERN", "TEXT"))
    arguments = parser.parse_args()
    engine = NullEngine(
        replies=arguments.reply,
        rules=[(pattern, text) for pattern, text in arguments.rule],
        host=arguments.host,
        port=arguments.port,
    )
    uvicorn.Server(engine.server_config()).run()


if __name__ == "__main__":
    main()
