"""`Idempotency-Key` for the views of the REST API: a decorator for whatever makes something.

Under `extend_schema` and above nothing else:

    @extend_schema(summary="Make a harness", …)
    @idempotent
    def post(self, request: Request) -> Response: …
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from ledger.api.authentication import calling_user
from ledger.api.parsers import RawBody
from ledger.idempotency import HEADER, Answer, answer_once, fingerprint

REPLAYED = "Idempotency-Replayed"
KEPT_HEADERS = ("Location", "ETag")
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="1 to 200 visible ASCII characters. The same key with the same request, within a day, is carried out once and "
    f"gets the same answer, with `{REPLAYED}: true`; with another request it is refused.",
)
Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """Carry a request with an `Idempotency-Key` out once per person and key (`ledger.idempotency`); others as ever."""

    @functools.wraps(handler)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return handler(view, request, *args, **kwargs)
        kept, is_repeated = answer_once(
            owner=calling_user(request),
            key=key,
            request_hash=fingerprint(request.method or "", request.get_full_path(), _body(request)),
            carry_out=lambda: _answer(handler(view, request, *args, **kwargs)),
        )
        headers = {**kept.headers, **({REPLAYED: "true"} if is_repeated else {})}
        return Response(kept.body, status=kept.status, headers=headers)

    documented: Handler = extend_schema(parameters=[IDEMPOTENCY_KEY])(answer)
    return documented


def _answer(response: Response) -> Answer:
    body = None if response.data is None else json.loads(JSONRenderer().render(response.data))
    headers = {name: response[name] for name in KEPT_HEADERS if response.has_header(name)}
    return Answer(response.status_code, headers, body)


def _body(request: Request) -> bytes:
    """The request's body as it counts: the JSON value whatever its white space, and the very bytes of files."""
    data = request.data
    if isinstance(data, RawBody):
        return data.content
    if hasattr(data, "lists"):
        fields = [(name, [_part(value) for value in values]) for name, values in sorted(data.lists())]
        return json.dumps(fields).encode()
    return json.dumps(data, sort_keys=True, default=str).encode()


def _part(value: Any) -> str:
    if not isinstance(value, UploadedFile):
        return str(value)
    content = value.read()
    value.seek(0)
    return fingerprint("file", value.name or "", content)
