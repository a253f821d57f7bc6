"""The null engine speaks the engine's language, and fails as told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from inference.engine.null_engine import DEFAULT_REPLY, NullEngine


@pytest.fixture
def engine() -> Iterator[NullEngine]:
    with NullEngine(replies=["First reply here."], rules=[("price", "CALL get_price; item: T01")]) as running:
        yield running


def ask(engine: NullEngine, text: str = "hello", **more: object) -> httpx.Response:
    body = {"model": "null", "messages": [{"role": "user", "content": text}], **more}
    return httpx.post(f"{engine.base_url}/chat/completions", json=body, timeout=5, trust_env=False)


def content(response: httpx.Response) -> str:
    return response.json()["choices"][0]["message"]["content"]


def test_replies_come_first_then_rules_then_the_default(engine: NullEngine):
    assert content(ask(engine, "what is the price?")) == "First reply here."
    assert content(ask(engine, "what is the price?")) == "CALL get_price; item: T01"
    assert content(ask(engine, "good morning")) == DEFAULT_REPLY
    assert [body["messages"][0]["content"] for body in engine.chat_requests][-1] == "good morning"


def test_usage_stop_strings_and_max_tokens(engine: NullEngine):
    engine.replies.extend(["one two STOP three", "one two three four"])
    ask(engine)
    cut = ask(engine, stop=["STOP"]).json()
    assert content_of(cut) == "one two "
    assert cut["choices"][0]["finish_reason"] == "stop"
    short = ask(engine, max_tokens=2).json()
    assert content_of(short) == "one two"
    assert short["choices"][0]["finish_reason"] == "length"
    assert short["usage"]["completion_tokens"] == 2
    assert short["usage"]["total_tokens"] == short["usage"]["prompt_tokens"] + 2


def content_of(body: dict) -> str:
    return body["choices"][0]["message"]["content"]


def test_streaming_gives_the_same_text_and_the_usage(engine: NullEngine):
    response = ask(engine, stream=True, stream_options={"include_usage": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    pieces = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(pieces) == "First reply here."
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["completion_tokens"] == 3


def test_models_tokenize_metrics_and_health(engine: NullEngine):
    client = httpx.Client(base_url=engine.root_url, trust_env=False)
    assert client.get("/health").status_code == 200
    assert client.get("/v1/models").json()["data"][0]["id"] == "null"
    assert client.post("/tokenize", json={"prompt": "one two three"}).json()["count"] == 3
    assert "null_engine_chat_requests_total 0" in client.get("/metrics").text
    assert client.get("/nothing").status_code == 404


def test_bad_requests_are_answered_like_the_engine_does(engine: NullEngine):
    assert ask(engine, model="gpt").status_code == 404
    assert ask(engine, messages=[]).status_code == 400
    broken = httpx.post(f"{engine.base_url}/chat/completions", content=b"{", trust_env=False)
    assert broken.status_code == 400


@pytest.mark.parametrize(("fault", "status"), [("500", 500), ("503", 503)])
def test_error_statuses_come_as_many_times_as_asked(engine: NullEngine, fault, status):
    engine.fail(fault, times=2)
    assert [ask(engine).status_code for _ in range(3)] == [status, status, 200]


def test_garbage_wrong_type_and_missing_choices(engine: NullEngine):
    engine.fail("garbage")
    with pytest.raises(ValueError):
        ask(engine).json()
    engine.fail("wrong_content_type")
    assert ask(engine).headers["content-type"] == "text/html"
    engine.fail("no_choices")
    assert ask(engine).json()["choices"] == []


def test_reset_hang_and_half_a_stream(engine: NullEngine):
    engine.fail("reset", times=1)
    with pytest.raises(httpx.TransportError):
        ask(engine)
    engine.fail("hang", times=1)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{engine.base_url}/chat/completions", json={}, timeout=0.2, trust_env=False)
    engine.fail("half_stream", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        ask(engine, stream=True)
    assert ask(engine).status_code == 200


def test_slow_answers_in_the_end(engine: NullEngine):
    engine.fail("slow", times=1, delay_s=0.1)
    assert content(ask(engine)) == "First reply here."


def test_health_can_be_sick_while_chat_works(engine: NullEngine):
    engine.fail("unhealthy")
    assert httpx.get(f"{engine.root_url}/health", trust_env=False).status_code == 503
    engine.heal()
    assert httpx.get(f"{engine.root_url}/health", trust_env=False).status_code == 200
