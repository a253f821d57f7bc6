"""Static files are served, and no middleware forces asynchronous views into a thread."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.test import AsyncClient, Client
from django.utils.module_loading import import_string

from ledger.core.tokens import Scope
from ledger.services import token_create

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


# --- requests with a token -------------------------------------------------------------------------------------------


@pytest.fixture
def token(operator) -> str:
    made = token_create(owner=operator, name="stream", scopes=[Scope.HARNESSES_READ], acting_user=operator)
    return f"Bearer {made.secret}"


def test_a_request_with_a_token_reads_no_session(token, operator, django_assert_num_queries):
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    client.get("/api/v1/harnesses", headers={"Authorization": token})
    with django_assert_num_queries(2):  # the token with its owner's roles, the count: no session, no user of the cookie
        response = client.get("/api/v1/harnesses", headers={"Authorization": token})
    assert response.status_code == 200


def test_security_headers_stand_on_every_answer(token):
    for path in ("/login/", "/api/v1/harnesses"):
        headers = Client().get(path, headers={"Authorization": token}).headers
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in headers["Content-Security-Policy"]


def test_a_bad_token_beside_a_good_cookie_is_refused(operator):
    client = Client()
    client.force_login(operator)
    assert client.get("/api/v1/harnesses").status_code == 200
    assert client.get("/api/v1/harnesses", headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_a_cookie_alone_writes_nothing_without_its_csrf_token(operator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    body = {"slug": "x", "title": "X", "world": "demo-shop"}
    assert client.post("/api/v1/harnesses", body, content_type="application/json").status_code == 403


def test_a_form_is_still_guarded_where_a_token_is_sent_to_a_page(operator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    answer = client.post("/harnesses/new/", {"slug": "x"}, headers={"Authorization": "Bearer tkr_x"})
    assert answer.status_code == 403


@pytest.mark.django_db(transaction=True)
async def test_a_form_is_guarded_on_the_event_loop_too(operator):
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(operator)
    assert (await client.post("/harnesses/new/", {"slug": "x"})).status_code == 403
    await sync_to_async(connections.close_all)()
