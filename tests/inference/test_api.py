"""The REST API of sessions and turns, through the ASGI application."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from harnesses.selectors import version_get
from harnesses.services import label_move
from inference.models import Session
from inference.selectors import session_get
from ledger.core.tokens import Scope
from ledger.services import token_create
from tests.inference.conftest import HARNESS, Bench

pytestmark = pytest.mark.usefixtures("close_worker_connections")


class Caller:
    """An API client with a token."""

    def __init__(self, secret: str) -> None:
        self.client = AsyncClient(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {secret}"}

    async def post(self, path: str, body: Any = None, **headers: str) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body)
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return await self.client.post(f"/api/v1/{path}", data, content_type="application/json", headers=sent)

    async def get(self, path: str) -> Any:
        return await self.client.get(f"/api/v1/{path}", headers=self.headers)

    async def session(self) -> str:
        response = await self.post("sessions", {"harness": HARNESS})
        assert response.status_code == 201, response.content
        return response.json()["id"]


def make_caller(bench: Bench, *scopes: str) -> Caller:
    created = token_create(owner=bench.user, name="test", scopes=scopes or tuple(Scope), acting_user=bench.user)
    return Caller(created.secret)


@pytest.fixture
async def caller(bench: Bench) -> Caller:
    return await sync_to_async(make_caller)(bench)


async def test_a_session_names_what_answers_in_it(caller: Caller, bench: Bench):
    response = await caller.post("sessions/", {"harness": HARNESS, "version": 1, "viewer": "mia", "seed": 7})
    body = response.json()
    assert response.status_code == 201
    assert response["Location"].endswith(f"/api/v1/sessions/{body['id']}")
    assert body["harness"]["slug"] == HARNESS
    assert len(body["harness"]["hash"]) == 64
    assert (body["checkpoint"], body["world"], body["viewer"]) == ("nothing", "demo-shop", "mia")
    for path in (f"sessions/{body['id']}", f"sessions/{body['id']}/"):
        assert (await caller.get(path)).json() == body
    again = await caller.post("sessions", {"harness": HARNESS, "room": body["room"]})
    assert again.json()["room"] == body["room"]
    assert len((await caller.get("sessions")).json()["results"]) == 2


async def test_a_session_runs_on_what_a_label_points_to_and_keeps_it(caller: Caller, bench: Bench):
    version = await sync_to_async(version_get)(HARNESS, 1)
    await sync_to_async(label_move)(harness=version.harness, name="staging", version=version, acting_user=None)
    made = await caller.post("sessions", {"harness": HARNESS, "label": "staging"})
    assert (made.status_code, made.json()["harness"]["version"]) == (201, 1)
    unknown = await caller.post("sessions", {"harness": HARNESS, "label": "production"})
    assert (unknown.status_code, "Its labels: staging" in unknown.json()["detail"]) == (404, True)
    both = await caller.post("sessions", {"harness": HARNESS, "label": "staging", "version": 1})
    assert (both.status_code, [error["field"] for error in both.json()["errors"]]) == (422, ["label"])


async def test_a_turn_comes_back_with_actions_timings_and_what_answered(caller: Caller, bench: Bench):
    session_id = await caller.session()
    session = await sync_to_async(session_get)(UUID(session_id), viewer=None)
    assert session.harness_version is not None
    bench.engine.replies.extend([f"CALL push_card; item: {session.room_state['shelf'][0]}", "Here it is!"])
    response = await caller.post(f"sessions/{session_id}/turns", {"comment": "Show it", "viewer": "mia"})
    body = response.json()
    assert response.status_code == 201
    assert (body["number"], body["reply"], body["is_fallback"]) == (1, "Here it is!", False)
    assert body["actions"][0]["operation"] == "push_item_card"
    assert body["calls"][0] == {**body["calls"][0], "tool": "push_card", "operation": "push_item_card", "status": "ok"}
    assert body["harness"]["hash"] == session.harness_version.spec_hash
    assert body["timings"]["total_ms"] >= body["timings"]["engine_ms"] > 0
    assert body["tokens"]["prompt"] > 0
    listed = (await caller.get(f"sessions/{session_id}/turns/")).json()
    assert listed["results"] == [body]
    detail = (await caller.get(f"sessions/{session_id}/turns/1")).json()
    assert detail["trace"]["conversation"]["messages"][-1] == {"role": "assistant", "content": "Here it is!"}


async def test_a_streamed_turn_tells_what_happens_and_ends_with_the_turn(caller: Caller, bench: Bench):
    session_id = await caller.session()
    session = await sync_to_async(session_get)(UUID(session_id), viewer=None)
    bench.engine.replies.extend([f"CALL push_card; item: {session.room_state['shelf'][0]}", "Here it is at last!"])
    response = await caller.post(f"sessions/{session_id}/turns", {"comment": "Show it"}, Accept="text/event-stream")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/event-stream")
    events = await read_events(response)
    names = [name for name, _ in events]
    assert names[0] == "call_started"
    assert names.index("call_finished") < names.index("delta") < names.index("reply") < names.index("done")
    assert "action" in names
    assert "".join(data["text"] for name, data in events if name == "delta").strip() == "Here it is at last!"
    done = events[-1][1]
    assert (await caller.get(f"sessions/{session_id}/turns/1")).json()["reply"] == done["reply"]


async def read_events(response: Any) -> list[tuple[str, Any]]:
    text = b"".join([piece async for piece in response.streaming_content]).decode()
    events = []
    for block in text.strip().split("\n\n"):
        if block.startswith(":"):
            continue
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


async def test_a_stream_can_be_asked_for_in_the_address_and_fails_before_it_starts(caller: Caller):
    session_id = await caller.session()
    response = await caller.post(f"sessions/{session_id}/turns?stream=true", {"comment": "hello"})
    assert [name for name, _ in await read_events(response)][-1] == "done"
    refused = await caller.post(
        f"sessions/{session_id}/turns?stream=true", {"comment": " "}, Accept="text/event-stream"
    )
    assert refused.status_code == 422
    assert refused["Content-Type"] == "application/problem+json"


async def test_an_engine_that_is_down_is_a_200_class_answer_with_errors(caller: Caller, bench: Bench):
    session_id = await caller.session()
    bench.engine.fail("503")
    response = await caller.post(f"sessions/{session_id}/turns", {"comment": "hello"})
    assert response.status_code == 201
    body = response.json()
    assert body["is_fallback"] is True
    assert body["stop_reason"] == "engine_error"
    assert body["errors"][0]["boundary"] == "platform"


async def test_the_same_key_gives_the_same_turn(caller: Caller, bench: Bench):
    session_id = await caller.session()
    first, second = [
        await caller.post(f"sessions/{session_id}/turns", {"comment": "hello"}, Idempotency_Key="k-1") for _ in range(2)
    ]
    assert first.json() == second.json()
    assert len(bench.engine.chat_requests) == 1
    reused = await caller.post(f"sessions/{session_id}/turns", {"comment": "other"}, Idempotency_Key="k-1")
    assert reused.status_code == 422


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "harness"),
        ({"harness": 5}, 400, "harness"),
        ({"harness": HARNESS, "version": "1"}, 400, "version"),
        ({"harness": HARNESS, "version": True}, 400, "version"),
        ({"harness": HARNESS, "version": 0}, 400, "version"),
        ({"harness": HARNESS, "colour": "red"}, 400, "colour"),
        ({"harness": HARNESS, "viewer": ""}, 422, "viewer"),
        ({"harness": HARNESS, "viewer": "x" * 81}, 422, "viewer"),
        ({"harness": HARNESS, "room": {}}, 422, "room"),
        ({"harness": HARNESS, "room": "R1"}, 400, "room"),
        ({"harness": HARNESS, "seed": -1}, 400, "seed"),
        ({"harness": HARNESS, "seed": 1, "room": {"clock": 1}}, 422, "seed"),
        ([], 400, ""),
    ],
)
async def test_sessions_refuse_bad_input_by_field(caller: Caller, body, status, field):
    response = await caller.post("sessions", body)
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert any(error["field"].split(".")[0] == field for error in response.json()["errors"])
    assert await Session.objects.acount() == 0


async def test_what_is_not_there_is_404(caller: Caller):
    session_id = await caller.session()
    unknown = "00000000-0000-0000-0000-000000000000"
    for path in (
        "sessions/nonsense",
        f"sessions/{unknown}",
        f"sessions/{unknown}/turns",
        f"sessions/{session_id}/turns/1",
    ):
        response = await caller.get(path)
        assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json"), path
    for body in (
        {"harness": "no-such"},
        {"harness": HARNESS, "version": 99},
        {"harness": HARNESS, "checkpoint": "gpt"},
    ):
        assert (await caller.post("sessions", body)).status_code == 404, body
    assert (await caller.post(f"sessions/{unknown}/turns", {"comment": "x"})).status_code == 404


async def test_turns_refuse_bad_bodies(caller: Caller):
    session_id = await caller.session()
    path = f"sessions/{session_id}/turns"
    malformed: list[Any] = [{}, {"comment": 5}, {"comment": None}, {"comment": "x", "mood": "good"}, []]
    for body in malformed:
        assert (await caller.post(path, body)).status_code == 400, body
    for raw in (b"{", b'{"comment": "a", "comment": "b"}', b'{"comment": NaN}', b'{"comment": "\\u0000"}', b"\xff"):
        assert (await caller.post(path, raw)).status_code == 400, raw
    for body in ({"comment": "x" * 2_001}, {"comment": ""}, {"comment": "x", "viewer": "two\nlines"}):
        assert (await caller.post(path, body)).status_code == 422, body
    assert (await caller.post(path, {"comment": "x"}, Idempotency_Key="k" * 201)).status_code == 422
    assert (await caller.get(f"{path}/")).json()["results"] == []


async def test_a_closed_session_takes_no_turns(caller: Caller):
    session_id = await caller.session()
    assert (await caller.post(f"sessions/{session_id}/close")).json()["closed_at"]
    response = await caller.post(f"sessions/{session_id}/turns", {"comment": "hello"})
    assert response.status_code == 409
    assert response.json()["type"].endswith("session_closed")


async def test_scopes_and_strangers(caller: Caller, bench: Bench):
    session_id = await caller.session()
    reader = await sync_to_async(make_caller)(bench, Scope.SESSIONS_READ)
    assert (await reader.get(f"sessions/{session_id}")).status_code == 200
    assert (await reader.post(f"sessions/{session_id}/turns", {"comment": "hello"})).status_code == 403
    assert (await reader.post("sessions", {"harness": HARNESS})).status_code == 403
    stranger = Caller("tkr_nothing")
    assert (await stranger.get(f"sessions/{session_id}")).status_code == 401


async def test_the_schema_describes_the_resources(caller: Caller):
    response = await caller.client.get("/api/schema/", headers={**caller.headers, "Accept": "application/json"})
    schema = json.loads(response.content)
    turns = next(path for path in schema["paths"] if path.rstrip("/").endswith("/turns"))
    post = schema["paths"][turns]["post"]
    assert {parameter["name"] for parameter in post["parameters"]} >= {"session_id", "stream", "Idempotency-Key"}
    assert "201" in post["responses"]
