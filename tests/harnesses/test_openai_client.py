"""The chat client against a real socket: replies, streams, and every way an engine can fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from harnesses.runtime.openai_client import MAX_BODY_BYTES, OpenAIChatClient
from harnesses.runtime.ports import ChatError, ChatRequest, Message
from harnesses.runtime.trace import StopReason
from tests.harnesses.runtime_worlds import answer, shop_spec

Writer = asyncio.StreamWriter
Handler = Callable[["Engine", Writer], Awaitable[None]]
REQUEST = ChatRequest(
    (Message(role="user", content="Grüße 🧶"),), max_tokens=8, temperature=0.5, timeout_s=5, seed=3, stop=("X",)
)


@dataclass
class Engine:
    """A hand-made HTTP server: records requests and answers as the test says."""

    handler: Handler
    url: str = ""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.requests.append((lines[0].split(" ")[1], headers, json.loads(body)))
                await self.handler(self, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def engine(handler: Handler) -> AsyncIterator[Engine]:
    served = Engine(handler)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()


def http(body: bytes, status: str = "200 OK", content_type: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def sends(*pieces: bytes, pause_s: float = 0.0, close: bool = False) -> Handler:
    async def handler(_: Engine, writer: Writer) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)
        if close:
            writer.close()

    return handler


def completion(text: Any, **more: Any) -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], **more}).encode()


def stream(*chunks: Any, done: bool = True) -> bytes:
    lines = [
        f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks
    ]
    body = "".join(lines) + ("data: [DONE]\n\n" if done else "")
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"
    return (head + body).encode()


def delta(text: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


async def ask(handler: Handler, request: ChatRequest = REQUEST, on_delta: Any = None) -> Any:
    async with engine(handler) as served, OpenAIChatClient(served.url, "m") as client:
        return await client.complete(request, on_delta)


async def failure(handler: Handler, request: ChatRequest = REQUEST, on_delta: Any = None) -> ChatError:
    with pytest.raises(ChatError) as caught:
        await ask(handler, request, on_delta)
    return caught.value


# --- replies -----------------------------------------------------------------------------------------------------------


async def test_a_reply_with_the_engine_own_counts() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    async with (
        engine(sends(http(completion("Hällo", usage=usage)))) as served,
        OpenAIChatClient(served.url + "/v1/", "smol", api_key="secret") as client,
    ):
        reply = await client.complete(REQUEST)
        assert (await client.complete(REQUEST)).text == "Hällo"
    assert (reply.text, reply.finish_reason) == ("Hällo", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (9, 2, 4)
    assert reply.duration_s > 0
    path, headers, body = served.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer secret")
    assert body == {
        "model": "smol",
        "messages": [{"role": "user", "content": "Grüße 🧶"}],
        "max_tokens": 8,
        "temperature": 0.5,
        "seed": 3,
        "stop": ["X"],
    }
    assert served.connections == 1  # the second request used the first one's connection


async def test_a_streamed_reply_comes_in_pieces() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}}
    first = {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    body = stream(first, delta("Hä"), delta("llo 🧶"), delta(None, "stop"), usage)
    cut = body.index("🧶".encode()) + 2  # in the middle of a character
    pieces: list[str] = []
    handler = sends(body[:cut], body[cut:], pause_s=0.02, close=True)
    async with engine(handler) as served, OpenAIChatClient(served.url, "m") as client:
        reply = await client.complete(REQUEST, pieces.append)
    assert pieces == ["Hä", "llo 🧶"]
    assert (reply.text, reply.finish_reason) == ("Hällo 🧶", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (5, 3)
    assert reply.time_to_first_token_s is not None
    assert served.requests[0][2]["stream_options"] == {"include_usage": True}


async def test_an_engine_that_cannot_stream_is_read_as_a_whole() -> None:
    assert (await ask(sends(http(completion("Hello"))), on_delta=lambda text: None)).text == "Hello"


async def test_counts_that_are_not_counts_are_left_out() -> None:
    reply = await ask(sends(http(completion("a", usage={"prompt_tokens": "9", "completion_tokens": -1}))))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (None, None, None)


async def test_tokens_are_counted_by_the_engine() -> None:
    async with (
        engine(sends(http(b'{"count": 7, "tokens": []}'))) as served,
        OpenAIChatClient(served.url, "m") as client,
    ):
        assert await client.tokenize("some text") == 7
        assert await client.tokenize(REQUEST.messages) == 7
    assert [path for path, _, _ in served.requests] == ["/tokenize", "/tokenize"]
    assert served.requests[0][2]["prompt"] == "some text"
    assert served.requests[1][2]["messages"] == [{"role": "user", "content": "Grüße 🧶"}]
    async with engine(sends(http(b"{}"))) as served, OpenAIChatClient(served.url, "m") as client:
        with pytest.raises(ChatError, match="count"):
            await client.tokenize("x")


# --- failures ----------------------------------------------------------------------------------------------------------


async def test_nobody_there_is_unreachable() -> None:
    async with engine(sends()) as served:
        pass
    async with OpenAIChatClient(served.url, "m") as client:
        with pytest.raises(ChatError) as caught:
            await client.complete(REQUEST)
    assert caught.value.kind == "unreachable"
    assert "ENGINE_URL" in caught.value.message


@pytest.mark.parametrize("on_delta", [None, lambda text: None])
async def test_a_hung_engine_is_a_timeout(on_delta: Any) -> None:
    request = ChatRequest(REQUEST.messages, 8, 0.0, timeout_s=0.2)
    assert (await failure(sends(b"", pause_s=30), request, on_delta)).kind == "timeout"
    begun = stream(delta("Hel"), done=False)
    assert (await failure(sends(begun, b"", pause_s=30), request, lambda text: None)).kind == "timeout"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("400 Bad Request", "rejected"),
        ("404 Not Found", "rejected"),
        ("429 Too Many Requests", "overloaded"),
        ("503 Service Unavailable", "overloaded"),
        ("502 Bad Gateway", "unreachable"),
        ("500 Internal Server Error", "garbage"),
        ("301 Moved Permanently", "garbage"),
    ],
)
async def test_statuses_are_named_and_the_engine_own_words_kept(status: str, kind: str) -> None:
    for body in (b'{"error": {"message": "no such model"}}', b'{"message": "no such model"}', b"no such model"):
        error = await failure(sends(http(body, status)))
        assert error.kind == kind
        assert "no such model" in error.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {}}]}',
        completion(None),
        completion(["a"]),
        b"\xff\xfe",
        b'{"a":' * 100_000,
    ],
)
async def test_bodies_that_make_no_sense_are_garbage(body: bytes) -> None:
    assert (await failure(sends(http(body)))).kind == "garbage"
    assert (await failure(sends(http(body)), on_delta=lambda text: None)).kind == "garbage"


@pytest.mark.parametrize(
    "body",
    [
        stream(done=False),
        stream(delta("Hel"), done=False),
        stream("not json"),
        stream([1]),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\ndata: {}",
    ],
)
async def test_a_stream_that_breaks_off_or_makes_no_sense_is_garbage(body: bytes) -> None:
    assert (await failure(sends(body, close=True), on_delta=lambda text: None)).kind == "garbage"


async def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    body = stream(delta("Hel"), {"error": {"message": "out of memory"}})
    error = await failure(sends(body, close=True), on_delta=lambda text: None)
    assert (error.kind, "out of memory" in error.message) == ("rejected", True)


async def test_what_is_not_http_is_garbage() -> None:
    assert (await failure(sends(b"hello?\r\n\r\n", close=True))).kind == "garbage"
    assert (await failure(sends(close=True))).kind == "garbage"


async def test_an_endless_body_is_cut_off() -> None:
    body = http(b'{"choices": "' + b"x" * (MAX_BODY_BYTES + 10) + b'"}')
    error = await failure(sends(body))
    assert (error.kind, "bytes" in error.message) == ("garbage", True)


async def test_a_turn_over_a_real_socket() -> None:
    outputs = iter(["CALL get_price; item: K07", "It costs 129 yuan."])

    async def handler(_: Engine, writer: Writer) -> None:
        writer.write(http(completion(next(outputs))))

    async with engine(handler) as served, OpenAIChatClient(served.url, "m") as client:
        trace = await answer(shop_spec(), client=client)  # type: ignore[arg-type]
    assert (trace.stop_reason, trace.reply) == (StopReason.REPLY, "It costs 129 yuan.")
    assert [message["content"] for message in served.requests[1][2]["messages"]] == [
        message.content for message in trace.messages[:-1]
    ]
