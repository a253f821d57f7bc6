"""What travels: requests that are hardly HTTP, listeners who leave in the middle, an engine that dribbles bytes."""

from __future__ import annotations

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from inference.engine.null_engine import NullEngine
from inference.selectors import session_get
from inference.services import session_start
from ledger.core.tokens import Scope
from ledger.services import token_create
from tests.adversarial.furnishing import SLUG
from tests.console.browser import live_server
from tests.harnesses.test_openai_client import ask, delta, sends, stream

pytestmark = pytest.mark.django_db(transaction=True)

RAW = (
    b"GET /api/v1/harnesses/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/harnesses/%ff%00?cursor=\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/harnesses/x/resolve?label=\xff HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n",
    b"GET /api/v1/harnesses/x/resolve?label=%00&label=%ff HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tkr_\x01\r\n\r\n",
    b"GET //evil.example/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /static/../../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /static/%2e%2e/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://evil.example/api/v1/harnesses HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"POST /login/ HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /api/v1/harnesses HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/v1/harnesses HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\r\n\r\n\r\n",
    b"BREW /api/v1/harnesses HTTP/1.1\r\nHost: x\r\n\r\n",
)


@pytest.fixture
def engine():
    """Slow enough to leave in the middle."""
    with NullEngine(token_delay_s=0.03) as running:
        yield running


@pytest.fixture
def live(furnished, admin, transactional_db):
    session = session_start(harness_slug=SLUG, seed=0, acting_user=admin)
    secret = token_create(owner=admin, name="live", scopes=list(Scope), acting_user=admin).secret
    with live_server() as url:
        yield url, session, {"Authorization": f"Bearer {secret}"}


def raw_answer(url: str, request: bytes) -> bytes:
    """What comes back for some bytes; empty where the connection is closed without a word."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=5) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        try:
            return connection.recv(200_000)
        except (TimeoutError, ConnectionError):
            return b""


def test_what_is_hardly_http_is_refused_and_harms_nobody(live):
    url, _, headers = live
    for request in RAW:
        answer = raw_answer(url, request)
        status = int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/") else 0
        assert status == 0 or 300 <= status < 500, (request[:60], answer[:200])
        assert b"root:" not in answer
        assert b"Traceback" not in answer
    assert httpx.get(f"{url}/api/v1/harnesses", headers=headers).status_code == 200


def test_a_listener_who_leaves_takes_the_turn_with_them(live, engine):
    url, session, headers = live
    address = f"{url}/api/v1/sessions/{session.pk}/turns"
    sent = {**headers, "Accept": "text/event-stream"}
    for _ in range(3):
        engine.replies.append("word " * 100)
        with pytest.raises(httpx.ReadTimeout):  # the sample's Stop hook keeps the words back until they are judged
            httpx.post(address, json={"comment": "Hello"}, headers=sent, timeout=0.7)
    engine.replies.clear()
    started = time.monotonic()
    engine.replies.append("Hello yourself.")
    answer = httpx.post(address, json={"comment": "Still there?"}, headers=headers, timeout=20)
    assert (answer.status_code, answer.json()["number"], answer.json()["reply"]) == (201, 1, "Hello yourself.")
    assert time.monotonic() - started < 8, "those who left hold nobody up"
    assert session_get(session.pk, viewer=None).turn_count == 1


def test_two_thousand_emoji_are_a_comment_like_any_other(live, engine):
    url, session, headers = live
    engine.replies.append("👩‍👩‍👧‍👦" * 50)
    comment = "🧵" * 2_000
    answer = httpx.post(
        f"{url}/api/v1/sessions/{session.pk}/turns", json={"comment": comment}, headers=headers, timeout=20
    )
    assert (answer.status_code, answer.json()["comment"], answer.json()["reply"]) == (201, comment, "👩‍👩‍👧‍👦" * 50)
    longer = httpx.post(
        f"{url}/api/v1/sessions/{session.pk}/turns", json={"comment": comment + "!"}, headers=headers, timeout=20
    )
    assert (longer.status_code, longer.json()["errors"][0]["field"]) == (422, "comment")


async def test_letters_that_come_byte_by_byte_stay_letters():
    text = "价格 ¥129 🧵 naïve"
    pieces: list[str] = []
    whole = stream(*(delta(letter) for letter in text), delta("", "stop"))
    handler = sends(*(whole[index : index + 1] for index in range(len(whole))), close=True)
    reply: Any = await ask(handler, on_delta=pieces.append)
    assert (reply.text, "".join(pieces)) == (text, text)
    assert json.dumps(pieces)
