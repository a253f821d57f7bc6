"""One HTTP client for each event loop, so that turns share kept-alive connections to the engine."""

from __future__ import annotations

import asyncio
import weakref

import httpx

_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = weakref.WeakKeyDictionary()


def shared_client() -> httpx.AsyncClient:
    """The running loop's client. It closes with the loop's process; callers do not close it.

    Proxy settings of the environment are not followed: an engine stands in one's own network.
    """
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None or client.is_closed:
        limits = httpx.Limits(max_connections=512, max_keepalive_connections=64, keepalive_expiry=30)
        client = _clients[loop] = httpx.AsyncClient(limits=limits, trust_env=False)
    return client
