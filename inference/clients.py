"""One HTTP client for each event loop, so that turns share kept-alive connections to the engine."""

from __future__ import annotations

import asyncio
import weakref

import httpx

from harnesses.runtime.openai_client import make_http_client

_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = weakref.WeakKeyDictionary()


def shared_client() -> httpx.AsyncClient:
    """The running loop's client. It lives as long as the process; callers do not close it."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None or client.is_closed:
        client = _clients[loop] = make_http_client()
    return client
