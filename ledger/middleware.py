"""Middleware for every request: its id, and the one character that no store can keep.

Both work under WSGI and ASGI without a switch of thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ledger.api.problems import Problem, problem_response
from ledger.request_context import begin_request

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

NUL_IN_QUERY = "The address holds a NUL character (%00), which no text here may hold. Remove it."


class RequestIdMiddleware:
    """Takes `X-Request-ID` if it is sane, else makes one; gives it to logs and audit rows and sends it back.

    The id is forgotten when the request is finished (`LedgerConfig.ready`), not here: a streamed reply is still being written then.
    Also refuses NUL in the query string, which PostgreSQL cannot compare with anything.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if iscoroutinefunction(self.get_response):
            return self._acall(request)
        request_id = begin_request(request.headers.get("X-Request-ID", ""))
        response = _refuse_nul(request) or cast("HttpResponseBase", self.get_response(request))
        response["X-Request-ID"] = request_id
        return response

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        request_id = begin_request(request.headers.get("X-Request-ID", ""))
        response = _refuse_nul(request) or await cast("Awaitable[HttpResponseBase]", self.get_response(request))
        response["X-Request-ID"] = request_id
        return response


def _refuse_nul(request: HttpRequest) -> HttpResponseBase | None:
    query = request.META.get("QUERY_STRING", "")
    if "%00" not in query and "\0" not in query:
        return None
    if request.path.startswith("/api/"):
        return problem_response(
            request, Problem(status=400, code="malformed", title="Malformed request", detail=NUL_IN_QUERY)
        )
    return HttpResponse(NUL_IN_QUERY, status=400, content_type="text/plain; charset=utf-8")
