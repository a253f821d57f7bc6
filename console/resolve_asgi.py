"""Resolving a label before Django is asked: an ASGI application around Django's.

Django's way from socket to view costs more processor time than the one query that resolving takes (two threads a request,
the middleware, the resolver of addresses). So a program that asks with a good token, for a label that is there, is answered here,
on the event loop, with the same body and the same headers. Everything else (no token, no right, no such label, a log-in in a
browser, an outage) goes on to Django, whose view gives the same answer or says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.http import parse_etags

from harnesses.selectors.resolving import CACHE_CONTROL, Resolved, resolve_for_token
from ledger.request_context import begin_request

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_ADDRESS: Final = re.compile(r"/api/v1/harnesses/([a-z0-9-]{1,64})/resolve/?")
_CONDITIONS: Final = (b"if-match", b"if-modified-since", b"if-unmodified-since")
_JSON: Final = ("application/json", "application/*", "*/*", "")


class ResolveFirst:
    """Answers `GET /api/v1/harnesses/{slug}/resolve?label=…` where it surely may; hands everything else to `application`."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.headers = tuple(standing_headers())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if match is None or not await self._answer(match[1], scope, send):
            await self.application(scope, receive, send)

    async def _answer(self, slug: str, scope: Scope, send: Send) -> bool:
        """Whether it was answered here."""
        asked = dict(scope["headers"])
        scheme, _, secret = asked.get(b"authorization", b"").decode("latin-1").partition(" ")
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        if scheme.lower() != "bearer" or len(query) != 1 or query[0][0] != "label" or not _is_plain(asked):
            return False
        found = await resolve_for_token(secret, slug, query[0][1])
        if found is None:
            return False
        is_known = _knows(asked.get(b"if-none-match", b"").decode("latin-1"), found)
        body = b"" if is_known else await found.abody()
        request_id = begin_request(asked.get(b"x-request-id", b"").decode("latin-1"))
        headers = [
            *self.headers,
            (b"ETag", found.etag.encode()),
            (b"X-Request-ID", request_id.encode()),
            *([] if is_known else [(b"Content-Type", b"application/json"), (b"Content-Length", b"%d" % len(body))]),
        ]
        await send({"type": "http.response.start", "status": 304 if is_known else 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return True


def standing_headers() -> Iterable[tuple[bytes, bytes]]:
    """The headers of every answer: how to keep it, and what the middleware puts on all of Django's for safety."""
    request, response = HttpRequest(), HttpResponse()
    for middleware in (SecurityMiddleware, XFrameOptionsMiddleware, CSPMiddleware):
        middleware(lambda _: response).process_response(request, response)
    del response["Content-Type"]
    response["Cache-Control"] = CACHE_CONTROL
    return [(name.encode(), value.encode()) for name, value in response.items()]


def _is_plain(asked: dict[bytes, bytes]) -> bool:
    """Whether the request asks for JSON, under no condition but `If-None-Match`."""
    accept = asked.get(b"accept", b"").decode("latin-1")
    takes_json = any(kind.partition(";")[0].strip() in _JSON for kind in accept.split(","))
    return takes_json and not any(name in asked for name in _CONDITIONS)


def _knows(if_none_match: str, found: Resolved) -> bool:
    """Whether the caller has this version already. Tags are compared weakly, as `If-None-Match` is."""
    tags = parse_etags(if_none_match) if if_none_match else ()
    return "*" in tags or any(tag.removeprefix("W/") == found.etag for tag in tags)
