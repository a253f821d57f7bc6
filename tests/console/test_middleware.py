"""Static files are served, and no middleware forces asynchronous views into a thread."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import AsyncClient, Client
from django.utils.module_loading import import_string

PATH = "/static/django_htmx/htmx-2.min.js"


def test_every_middleware_can_run_on_the_event_loop():
    held_back = [name for name in settings.MIDDLEWARE if not import_string(name).async_capable]
    assert held_back == []


def test_static_file_is_served_to_a_synchronous_client():
    response: Any = Client().get(PATH)
    assert response.status_code == 200
    assert b"htmx" in b"".join(response.streaming_content)


@pytest.mark.filterwarnings("error:StreamingHttpResponse must consume")
async def test_static_file_is_served_to_an_asynchronous_client():
    response: Any = await AsyncClient().get(PATH)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/javascript")
    assert b"htmx" in b"".join([block async for block in response.streaming_content])


async def test_static_file_that_is_missing_is_not_found():
    assert (await AsyncClient().get("/static/none.js")).status_code == 404
