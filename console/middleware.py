"""Static files without leaving the event loop.

WhiteNoise's own middleware is synchronous, and one synchronous middleware makes Django run the whole request in a thread, async
views included. This one looks a path up in the same table, so that the reply path stays asynchronous from end to end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from inspect import iscoroutinefunction
from typing import cast

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
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
