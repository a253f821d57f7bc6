"""The playground without a browser: turns by form and by stream, and what happens when the engine cannot answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from console import playground_pages
from harnesses.services import harness_commit, harness_create
from inference.services import session_start
from tests.console import sample
from tests.console.conftest import SignIn

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How much is the vacuum lunch box?"


@pytest.fixture
def session(harness, deployment, operator):
    return session_start(harness_slug=sample.SLUG, version_number=1, viewer="wren_42", seed=0, acting_user=operator)


@pytest.fixture
async def async_client(operator) -> AsyncIterator[AsyncClient]:
    """A client that is signed in as the operator; the thread that asyncio uses lets go of its connection afterwards."""
    client = AsyncClient()
    await sync_to_async(client.force_login)(operator)
    yield client
    await sync_to_async(connections.close_all)()


def test_what_the_address_names_can_be_chosen_however_old_and_however_many_there_are(
    harness, deployment, operator, sign_in: SignIn, monkeypatch
):
    monkeypatch.setattr(playground_pages, "HARNESSES_OFFERED", 1)
    monkeypatch.setattr(playground_pages, "VERSIONS_OFFERED", 1)
    other = harness_create(slug="a-first-one", title="First of all", world=sample.WORLD, acting_user=operator)
    harness_commit(harness=other, spec=sample.sample_spec(), message="First", acting_user=operator)
    client = sign_in(operator)
    page = client.get("/playground/").content.decode()
    assert "a-first-one@1" in page
    assert f"{sample.SLUG}@" not in page
    assert "Not every harness is in the list" in page
    address = f"/playground/?harness={sample.SLUG}&version=1"
    page = client.get(address).content.decode()
    assert f'value="{sample.SLUG}@1" selected' in page
    assert f"{sample.SLUG}@2" in page
    start = {"version": f"{sample.SLUG}@1", "checkpoint": "null-model", "viewer": "v", "seed": "0"}
    assert client.post(address, start).status_code == 302
    assert client.get(f"/playground/?harness={sample.SLUG}&version=99").status_code == 404


def test_a_comment_by_form_is_answered_with_its_trace(session, engine, operator, sign_in: SignIn):
    engine.replies.extend(["CALL get_price; item: K7", "It is 129 yuan."])
    client = sign_in(operator)
    response = client.post(f"/playground/{session.pk}/say/", {"comment": QUESTION})
    assert response["Location"].startswith(f"/playground/{session.pk}/")
    page = client.get(f"/playground/{session.pk}/turns/1/").content.decode()
    assert "It is 129 yuan." in page
    assert "data-operation>get_price<" in page
    assert "Say that prices may change" in page


def test_what_the_model_and_the_viewer_write_is_never_markup(session, engine, operator, sign_in: SignIn):
    engine.replies.append("<script>alert(1)</script>")
    client = sign_in(operator)
    client.post(f"/playground/{session.pk}/say/", {"comment": "<img src=x onerror=alert(1)>"})
    page = client.get(f"/playground/{session.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(("comment", "message"), [("", "Write a comment"), ("x" * 2001, "2,001"), ("a\x00b", "Null")])
def test_a_comment_that_cannot_be_taken_is_kept(session, operator, sign_in: SignIn, comment: str, message: str):
    response = sign_in(operator).post(f"/playground/{session.pk}/say/", {"comment": comment})
    assert response.status_code == 422
    assert message in response.content.decode()
    assert comment.strip("\x00")[:1] in response.content.decode()


def test_an_engine_that_fails_gives_the_fallback_and_says_why(session, engine, operator, sign_in: SignIn):
    engine.fail("500")
    client = sign_in(operator)
    client.post(f"/playground/{session.pk}/say/", {"comment": QUESTION})
    page = client.get(f"/playground/{session.pk}/").content.decode()
    assert "fallback reply, not the model" in page
    assert "Engine error" in page


def test_analysts_read_sessions_and_take_no_turns(session, analyst, sign_in: SignIn):
    client = sign_in(analyst)
    assert "You may read this session" in client.get(f"/playground/{session.pk}/").content.decode()
    assert client.get("/playground/").status_code == 403
    assert client.post(f"/playground/{session.pk}/say/", {"comment": QUESTION}).status_code == 403
    assert client.post(f"/playground/{session.pk}/stream/", {"comment": QUESTION}).status_code == 403


async def test_a_streamed_turn_ends_with_a_part_of_the_page(session, engine, async_client: AsyncClient):
    engine.replies.extend(["CALL get_price; item: K7", "It is 129 yuan."])
    response = await async_client.post(f"/playground/{session.pk}/stream/", {"comment": QUESTION})
    blocks = b"".join([chunk async for chunk in response.streaming_content]).decode().split("\n\n")  # type: ignore[attr-defined]
    events = [block.split("\n") for block in blocks if block.startswith("event: ")]
    names = [lines[0].removeprefix("event: ") for lines in events]
    assert {"call_started", "call_finished", "hook", "reply"} <= set(names)
    assert names[-1] == "done"
    assert "It is 129 yuan." in json.loads(events[-1][1].removeprefix("data: "))["html"]


async def test_a_streamed_comment_that_cannot_be_taken_is_a_plain_answer(session, async_client: AsyncClient):
    response = await async_client.post(f"/playground/{session.pk}/stream/", {"comment": " "})
    assert response.status_code == 422
    assert "Write a comment" in json.loads(response.content)["detail"]
