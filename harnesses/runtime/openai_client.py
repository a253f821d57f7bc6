"""A chat client for an OpenAI-compatible engine (vLLM): one request, one reply, every failure by name.

The connection pool lives as long as the client: make one and keep it. Bodies are read piece by piece with a size limit, so a
broken engine can neither fill the memory nor hang a turn past its deadline.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache
from typing import Any, Final

import httpx

from harnesses.runtime.ports import ChatError, ChatReply, ChatRequest, Message

MAX_BODY_BYTES: Final = 2_000_000
_MAX_QUOTED_CHARS: Final = 300
_CONNECT_TIMEOUT_S: Final = 5.0
_TOKENIZE_TIMEOUT_S: Final = 10.0


class OpenAIChatClient:
    """Implements `ports.ChatClient` over `/v1/chat/completions`.

    `base_url` is the engine's root, with or without `/v1`; `model` is the served name to ask for. Pass `http` to share a pool;
    otherwise the client owns one: close it with `aclose()` or use the client as an async context manager.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, http: httpx.AsyncClient | None = None
    ) -> None:
        self.model = model
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._owns_http = http is None
        self._http = http if http is not None else make_http_client()

    async def __aenter__(self) -> OpenAIChatClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection pool, if it is the client's own."""
        if self._owns_http:
            await self._http.aclose()

    async def complete(self, request: ChatRequest, on_delta: Callable[[str], None] | None = None) -> ChatReply:
        """One chat completion; streamed when `on_delta` is given. Raises ChatError."""
        started_s = time.perf_counter()
        body = self._body(request, is_stream=on_delta is not None)
        async with _Exchange(
            self._http, f"{self._root}/v1/chat/completions", body, self._headers, request.timeout_s
        ) as sent:
            if on_delta is None:
                return _read_completion(await sent.json(), started_s)
            return await _read_stream(sent, on_delta, started_s)

    async def tokenize(self, content: Sequence[Message] | str) -> int:
        """How many tokens the engine's tokenizer makes of a text, or of messages in its chat template. Raises ChatError."""
        payload: dict[str, Any] = {"model": self.model}
        if isinstance(content, str):
            payload |= {"prompt": content, "add_special_tokens": False}
        else:
            payload |= {"messages": [message.model_dump() for message in content], "add_generation_prompt": True}
        body = json.dumps(payload).encode()
        async with _Exchange(self._http, f"{self._root}/tokenize", body, self._headers, _TOKENIZE_TIMEOUT_S) as sent:
            answer = await sent.json()
        count = answer.get("count") if isinstance(answer, dict) else None
        if not isinstance(count, int):
            raise ChatError("garbage", "The engine's /tokenize gave no count. Is it a vLLM server?")
        return count

    def _body(self, request: ChatRequest, *, is_stream: bool) -> bytes:
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.seed is not None:
            payload["seed"] = request.seed
        if request.stop:
            payload["stop"] = list(request.stop)
        if is_stream:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}
        return json.dumps(payload).encode()


def make_http_client() -> httpx.AsyncClient:
    """A pool for talking to engines: many connections kept open, no proxy, no redirects."""
    limits = httpx.Limits(max_connections=256, max_keepalive_connections=64, keepalive_expiry=60)
    return httpx.AsyncClient(limits=limits, trust_env=False, verify=_tls_context())


@cache
def _tls_context() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)


class _Exchange:
    """One POST and its answer, all failures as ChatError."""

    def __init__(
        self, http: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str], timeout_s: float
    ) -> None:
        self._http = http
        timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_TIMEOUT_S))
        self._request = http.build_request("POST", url, content=body, headers=headers, timeout=timeout)
        self._timeout_s = timeout_s
        self._response: httpx.Response | None = None

    async def __aenter__(self) -> _Exchange:
        try:
            response = await self._http.send(self._request, stream=True)
        except httpx.HTTPError as error:
            raise self._as_chat_error(error) from error
        self._response = response
        if response.status_code != httpx.codes.OK:
            try:
                raise _refusal(response.status_code, await self._start_of_body())
            finally:
                await response.aclose()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._response is not None:
            await self._response.aclose()

    @property
    def content_type(self) -> str:
        assert self._response is not None
        return str(self._response.headers.get("content-type", ""))

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        assert self._response is not None
        size = 0
        try:
            async for piece in self._response.aiter_bytes():
                size += len(piece)
                if size > MAX_BODY_BYTES:
                    raise ChatError("garbage", f"The engine's answer is over {MAX_BODY_BYTES:,} bytes.")
                yield piece
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise self._as_chat_error(error) from error

    async def json(self) -> Any:
        body = b"".join([piece async for piece in self.pieces()])
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise _garbage(f"its answer is not JSON: {_quoted(body)}") from error

    async def _start_of_body(self) -> bytes:
        body = b""
        try:
            async for piece in self.pieces():
                body += piece
                if len(body) > 4 * _MAX_QUOTED_CHARS:
                    break
        except ChatError:
            return body
        return body

    def _as_chat_error(self, error: Exception) -> ChatError:
        where = f"{self._request.url.scheme}://{self._request.url.netloc.decode()}"
        if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
            return ChatError("unreachable", f"No engine answers at {where}. Start it, or mend ENGINE_URL.")
        if isinstance(error, httpx.TimeoutException):
            return ChatError("timeout", f"The engine at {where} gave no answer within {self._timeout_s:.1f} s.")
        if isinstance(error, httpx.RemoteProtocolError | httpx.DecodingError | httpx.StreamError):
            return _garbage(f"it broke off or did not speak HTTP ({error})")
        return ChatError("unreachable", f"The connection to the engine at {where} broke ({type(error).__name__}).")


def _refusal(status: int, body: bytes) -> ChatError:
    said = _error_text(body)
    if status in (429, 503):
        return ChatError("overloaded", f"The engine is overloaded or still starting (HTTP {status}). {said}".strip())
    if 400 <= status < 500:
        return ChatError("rejected", f"The engine refused the request (HTTP {status}): {said}")
    if status in (502, 504):
        return ChatError("unreachable", f"The gateway reaches no engine (HTTP {status}). {said}".strip())
    return ChatError("garbage", f"The engine failed (HTTP {status}): {said}")


def _error_text(body: bytes) -> str:
    """The engine's own words, wherever it keeps them."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return _quoted(body)
    for _ in range(3):
        if not isinstance(answer, dict):
            break
        answer = next((answer[key] for key in ("error", "message", "detail") if answer.get(key)), "")
    return answer[:_MAX_QUOTED_CHARS] if isinstance(answer, str) else _quoted(body)


def _quoted(body: bytes) -> str:
    return " ".join(body[:_MAX_QUOTED_CHARS].decode("utf-8", "replace").split()) or "(nothing)"


def _garbage(what: str) -> ChatError:
    return ChatError("garbage", f"The engine's answer cannot be used: {what}.")


# --- reading replies ---------------------------------------------------------------------------------------------------


def _read_completion(answer: Any, started_s: float) -> ChatReply:
    choice = _first_choice(answer)
    message = choice.get("message") if choice else None
    text = message.get("content") if isinstance(message, dict) else None
    if choice is None or not isinstance(text, str):
        raise _garbage("it holds no text" if choice else "it holds no choices")
    return _reply(text, choice.get("finish_reason"), answer.get("usage"), None, started_s)


async def _read_stream(sent: _Exchange, on_delta: Callable[[str], None], started_s: float) -> ChatReply:
    if not sent.content_type.startswith("text/event-stream"):
        return _read_completion(await sent.json(), started_s)
    texts: list[str] = []
    finish_reason: Any = None
    usage: Any = None
    first_s: float | None = None
    is_done = False
    async for data in _events(sent.pieces()):
        if data == b"[DONE]":
            is_done = True
            break
        chunk = _chunk(data)
        usage = chunk.get("usage") or usage
        choice = _first_choice(chunk)
        if choice is None:
            continue
        finish_reason = choice.get("finish_reason") or finish_reason
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(text, str) and text:
            first_s = time.perf_counter() - started_s if first_s is None else first_s
            texts.append(text)
            on_delta(text)
    if not is_done and finish_reason is None:
        raise _garbage("the stream broke off")
    return _reply("".join(texts), finish_reason, usage, first_s, started_s)


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The `data:` lines of a server-sent event stream."""
    buffer = b""
    async for piece in pieces:
        buffer += piece
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()


def _chunk(data: bytes) -> dict[str, Any]:
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _garbage(f"a piece of the stream is not JSON: {_quoted(data)}") from error
    if not isinstance(chunk, dict):
        raise _garbage("a piece of the stream is not an object")
    if chunk.get("error"):
        raise ChatError("rejected", f"The engine broke off: {_error_text(data)}")
    return chunk


def _first_choice(answer: Any) -> dict[str, Any] | None:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _reply(text: str, finish_reason: Any, usage: Any, first_s: float | None, started_s: float) -> ChatReply:
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return ChatReply(
        text=text,
        finish_reason=finish_reason if isinstance(finish_reason, str) else "unknown",
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        time_to_first_token_s=first_s,
        duration_s=time.perf_counter() - started_s,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
