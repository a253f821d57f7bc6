"""Django's middleware without leaving the event loop where it need not be left.

Django runs each middleware of the old kind in a thread, once for the request and once for the response, and a synchronous one makes
it run the whole request in a thread, async views included. On the reply path that costs more than the work itself. So here:

- static files are found in WhiteNoise's own table, on the loop;
- middleware that only computes (headers, redirects) runs on the loop;
- middleware about people's sessions is passed over for requests that carry an API token: they have no cookie, form or message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from inspect import iscoroutinefunction
from typing import Any, cast

from asgiref.sync import markcoroutinefunction, sync_to_async
from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """`WhiteNoiseMiddleware` for both kinds of server."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if iscoroutinefunction(self.get_response):
            return self._acall(request)
        return cast("HttpResponseBase", super().__call__(request))

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        found = self.find_file(request.path_info) if self.autorefresh else self.files.get(request.path_info)
        if found is not None:
            response = self.serve(found, request)
            response.streaming_content = _on_loop(response.streaming_content)
            return cast("HttpResponseBase", response)
        return await cast("Awaitable[HttpResponseBase]", self.get_response(request))


async def _on_loop(blocks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """A file's blocks for a response that is sent asynchronously. They come out of the page cache: no thread is worth it."""
    for block in blocks:
        yield block


# --- middleware that only computes -----------------------------------------------------------------------------------


class _OnLoop(MiddlewareMixin):
    """Runs `process_request` and `process_response` on the event loop. Only for middleware that does no input or output."""

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.process_request(request) if hasattr(self, "process_request") else None
        response = response or await cast("Awaitable[HttpResponseBase]", self.get_response(request))
        if hasattr(self, "process_response"):
            response = self.process_response(request, response)
        return cast("HttpResponseBase", response)


class OnLoopSecurityMiddleware(_OnLoop, SecurityMiddleware):
    """Django's, on the event loop."""


class OnLoopCommonMiddleware(_OnLoop, CommonMiddleware):
    """Django's, on the event loop."""


class OnLoopXFrameOptionsMiddleware(_OnLoop, XFrameOptionsMiddleware):
    """Django's, on the event loop."""


class OnLoopCSPMiddleware(_OnLoop, CSPMiddleware):
    """django-csp's, on the event loop."""


# --- middleware about people's sessions ------------------------------------------------------------------------------


def carries_token(request: HttpRequest) -> bool:
    """Whether a request comes with an API token. It is then judged by that alone, good or bad, and never by a cookie."""
    return request.headers.get("Authorization", "")[:7].lower() == "bearer " and request.path_info.startswith(
        "/api/v1/"
    )


class _ForPeople(MiddlewareMixin):
    """Leaves requests with a token alone."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if carries_token(request):
            return self.get_response(request)
        return super().__call__(request)


class PeopleSessionMiddleware(_ForPeople, SessionMiddleware):
    """Django's, for requests without a token."""


class PeopleAuthenticationMiddleware(_ForPeople, AuthenticationMiddleware):
    """Django's, for requests without a token."""


class PeopleMessageMiddleware(_ForPeople, MessageMiddleware):
    """Django's, for requests without a token."""


class PeopleCsrfViewMiddleware(_ForPeople, CsrfViewMiddleware):
    """Django's, for requests without a token. A forged form cannot set the Authorization header."""

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            # Django would take a plain method into a thread for every request.
            self.process_view = self._process_view_on_loop  # type: ignore[method-assign,assignment]

    async def _process_view_on_loop(self, request: HttpRequest, *view: Any) -> HttpResponseBase | None:
        if carries_token(request):
            return None
        return await sync_to_async(CsrfViewMiddleware.process_view, thread_sensitive=True)(self, request, *view)
