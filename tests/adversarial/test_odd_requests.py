"""Every operation of the API's schema under odd addresses, bodies, headers, query strings and field values.

Never a 500, no leak of paths, tracebacks or SQL, and every refusal is a problem document that names the field. `FUZZ_ALL=1` sends
everything everywhere.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
from collections.abc import Iterable
from typing import Any

import pytest

from tests.adversarial.furnishing import LEAK, SLUG, Operation, operations

pytestmark = pytest.mark.django_db

ODD_PARTS = (
    "%00", "%ff", "..", "..%2f..%2fetc%2fpasswd", str(2**70), "-1", "0", "1.5", "%d9%a3", "%ef%bc%93", "x" * 3000, "%0a1",
    "1%0a", "NaN", "None", "%20", "a%00b", "%ed%a0%80", "'%20or%20'1'='1", "%25s", "{0}", "2147483648", "9223372036854775808",
)  # fmt: skip
ODD_BODIES = (
    b"", b"null", b"[]", b"true", b"3", b'"text"', b"{", b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"a":1,"a":2}', b'{"a":NaN}',
    b'{"a":1e999}', b'{"a":' + b"9" * 5000 + b"}", b"[" * 100_000, b'{"a":' * 100_000, b'{"\\ud800":1}', b'{"a":"\\ud800"}',
    b'{"a":"\\u0000"}', gzip.compress(b"{}"), b'{"a":"' + b"x" * 5_000_001 + b'"}', b"{}" * 3, b"/*x*/{}", b'{"__proto__":1}',
    b'{"":1}', b"[1,2,3]", b'[{"a":1}]', b'{"a":-0.0e-999999999}',
)  # fmt: skip
ODD_TYPES = (
    "", "text/plain", "application/xml", "multipart/form-data", "multipart/form-data; boundary=",
    "application/json; charset=utf-16",
    "application/json; charset=nonsense", "application/x-www-form-urlencoded", "a" * 500,
    "multipart/form-data; boundary=" + "x" * 500,
    "/", ";;;", "application/json, text/html",
)  # fmt: skip
ODD_HEADERS = {
    "Idempotency-Key": ("", " ", "x" * 201, "\x7f", "käse", "a\tb", "'", "\x00"),
    "If-Match": ("", "*", '""', "W/\"r1\"", '"r99999999999999999999"', '"r1", "r2"', "r1", '"l1"', '"r-1"', "x" * 5000, '"r١"'),
    "If-None-Match": ("", "*", '"', "W/", '"a", W/"b", "c"', "," * 4000, '"\xff"'),
    "Accept": ("", "text/html", "image/*", "*", "a/b/c", ";q=", "text/event-stream", "application/zip", "x" * 5000, "*/*;q=nan"),
    "Authorization": ("Bearer", "Bearer ", "Bearer x y", "Basic !!!", "Bearer " + "x" * 9000, "Bearer tkr_\xff", "", "Token x"),
    "Content-Length": ("-1", "x"),
    "Content-Encoding": ("gzip", "nonsense"),
    "X-Request-ID": ("x" * 5000, "\n", "\x00", "ü"),
    "X-HTTP-Method-Override": ("DELETE", "PUT"),
    "Host": ("", "evil.example", "a b", "[::1"),
    "Accept-Language": ("x" * 5000,),
}  # fmt: skip
ODD_QUERIES = (
    "cursor=garbage", "cursor=cD0lMDA%3D", "cursor=", "cursor=bz0xMDAwMDAw", "cursor=cD0yMDI2LTAxLTAx",
    "cursor=%ff", "cursor=" + "A" * 5000,
    "cursor=cD0lRUQlQTAlODA%3D", "cursor=cj0x", "limit=9e9", "limit=-1", "limit=0", "limit=" + "9" * 30,
    "limit=%00", "limit=%d9%a3",
    "page=2", "offset=1", "search=%25", "search=%00", "search=%ff", "search=_", "search=" + "x" * 8000,
    "state=%00", "world=%00",
    "harness=%00", "harness=" + "x" * 3000, "author=%00", "asked=%00", "actor=%00", "action=%00", "since=nonsense", "since=%00",
    "since=9999-12-31", "since=0001-01-01", "until=9999-12-31T23:59:59Z", "until=0001-01-01T00:00:00%2B14:00",
    "until=10000-01-01",
    "format=csv", "format=json", "format=%00", "from=%00&to=1", "from=1&to=" + "9" * 40, "from=a@b@c&to=1",
    "from=" + SLUG + "@1&to=@",
    "with=%00", "with=99999999999999999999", "number=%00", "number=-1", "number=1e3", "label=%00", "label=" + "x" * 5000,
    "label=v3", "label=staging&label=production", "stream=maybe", "filename=%00", "filename=../../x",
    "message=%00", "&&&=&", "a" * 9000,
    "reason=%00", "reason=" + "x" * 9000, "kind=%00", "%00=%00", "harness=" + SLUG + "&harness=x",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 2**70, 1.5, 1e308, "", " ", "x" * 250_001, [], {}, [[]], [None],
    ["x"] * 2000, {"a": {"b": []}},
    "\u202eevil", "<script>alert(1)</script>", "%s%n", "../../etc", "2026-13-45", "9999-12-31T23:59:59.999999-12:00",
    "0001-01-01T00:00:00+14:00", "2026-03-29T02:30:00", "production\n", "Production", "१२", "a\tb", [1], [{"x": 1}], {"": ""},
)  # fmt: skip
IS_WHOLE = bool(os.environ.get("FUZZ_ALL"))
"""Whether every odd thing is sent to every operation: it takes minutes. Else each goes to one in so many, in turns."""
OPERATIONS = operations()
NAMES = [f"{item.method} {item.path}" for item in OPERATIONS]


def told(response: Any, what: str) -> str:
    """What is wrong with an answer; empty where nothing is."""
    status = response.status_code
    content = b"" if response.streaming else response.content
    text = content.decode("utf-8", "replace")
    if status >= 500:
        return f"{what}: {status}"
    if status >= 400:
        if response.get("Content-Type") != "application/problem+json":
            return f"{what}: {status} is {response.get('Content-Type')}: {text[:80]}"
        body = json.loads(text)
        if not (body["title"] and body["detail"] and body["code"]):
            return f"{what}: {status} says nothing"
        if len(text) > 20_000:
            return f"{what}: {status} repeats {len(text)} characters"
        if found := LEAK.search(body["detail"] + json.dumps(body.get("errors", ""))):
            return f"{what}: {status} leaks {found[0]!r} in {body['detail'][:200]}"
    return ""


def values_of(item: Operation, furnished: dict[str, Any]) -> dict[str, Any]:
    values = dict(furnished)
    if "/members/" in item.path:
        values["name"] = "ada"
    if "/operations/" in item.path:
        values["name"] = "get_price"
    if "/teams/" in item.path:
        values["slug"] = "night-shift"
    if "/turns/" in item.path:
        values["number"] = 1
    return values


def match(item: Operation) -> dict[str, str]:
    """The precondition that a good request to this operation carries."""
    return {"If_Match": '"r1"'} if item.path.endswith("/drafts/{draft_id}/") else {}


def body_of(item: Operation) -> bytes:
    if item.body is None:
        return b""
    here = {name: value for name, value in _NAMED_HERE.get(item.path, {}).items() if name in item.properties}
    values = {**item.body, **here}
    return json.dumps({name: value for name, value in values.items() if value is not LEFT_OUT}).encode()


LEFT_OUT = object()


def _soon(hours: int) -> str:
    return (dt.datetime.now(dt.UTC) + dt.timedelta(hours=hours)).isoformat()


_FREEZE = {"starts_at": _soon(30), "ends_at": _soon(31)}
_NAMED_HERE: dict[str, dict[str, Any]] = {
    "/api/v1/freezes/": _FREEZE,
    "/api/v1/harnesses/{slug}/freezes/": _FREEZE,
    "/api/v1/harnesses/{slug}/releases/": {"due_at": _soon(1)},
    "/api/v1/reviews/{review_id}/renew/": {"number": 2},
    "/api/v1/harnesses/{slug}/labels/{name}/": {"number": 1},
    "/api/v1/harnesses/{slug}/drafts/{draft_id}/commit/": {"revision": 1},
    "/api/v1/sessions/": {"harness": SLUG, "seed": LEFT_OUT},
    "/api/v1/harnesses/{slug}/reviews/": {"number": 1, "reviewers": ["rui"]},
    "/api/v1/teams/": {"members": ["ada"]},
    "/api/v1/teams/{slug}/": {"members": ["ada"]},
}


def test_every_operation_answers_as_documented(furnished, ask):
    """Or else the tests below would only see refusals."""
    answers = {}
    for item in OPERATIONS:
        address = item.at(values_of(item, furnished))
        query = {"/resolve/": "?label=staging", "/compare/": "?from=1&to=2", "/preview/": "?number=1"}
        address += next((text for end, text in query.items() if item.path.endswith(end)), "")
        answers[f"{item.method} {item.path}"] = ask(item.method, address, body_of(item), **match(item)).status_code
    assert sum(status < 300 for status in answers.values()) > 0.6 * len(answers)


def fail_for(problems: list[str]) -> None:
    if found := [problem for problem in problems if problem]:
        pytest.fail(f"{len(found)} problems:\n" + "\n".join(found[:200]), pytrace=False)


def some(odds: Iterable[Any], turn: int, one_in: int) -> list[Any]:
    """The odd things for one operation: all of them, or one in so many, other ones for the next operation."""
    return [odd for index, odd in enumerate(odds) if IS_WHOLE or (index + turn) % one_in == 0]


@pytest.mark.parametrize("kind", ["parts", "bodies", "types", "headers", "queries"])
def test_no_odd_request_breaks_anything(kind, furnished, ask):
    problems = []
    for turn, item in enumerate(OPERATIONS):
        values = values_of(item, furnished)
        address, name = item.at(values), f"{item.method} {item.path}"
        if kind == "parts":
            for parameter in item.parameters:
                for odd in some(ODD_PARTS, turn, 9):
                    sent = item.at({**values, parameter: odd})
                    problems.append(
                        told(ask(item.method, sent, body_of(item), **match(item)), f"{name} {parameter}={odd[:40]}")
                    )
        elif kind == "bodies" and item.method in ("POST", "PUT", "PATCH"):
            for odd in some(ODD_BODIES, turn, 9):
                problems.append(told(ask(item.method, address, odd, **match(item)), f"{name} {odd[:30]!r}"))
        elif kind == "types" and item.method in ("POST", "PUT", "PATCH"):
            for odd in some(ODD_TYPES, turn, 4):
                problems.append(told(ask(item.method, address, b'{"a":1}', odd, **match(item)), f"{name} {odd[:50]!r}"))
        elif kind == "headers":
            for header, odds in ODD_HEADERS.items():
                for odd in some(odds, turn, 10):
                    sent = ask(item.method, address, body_of(item), **{header: odd})
                    problems.append(told(sent, f"{name} {header}: {odd[:30]!r}"))
        elif kind == "queries" and (item.method == "GET" or item.query):
            for odd in some(ODD_QUERIES, turn, 9):
                problems.append(told(ask(item.method, f"{address}?{odd}", body_of(item)), f"{name} ?{odd[:40]}"))
    fail_for(problems)


def test_no_odd_field_breaks_anything(furnished, ask):
    problems = []
    for turn, item in enumerate(OPERATIONS):
        if not item.properties:
            continue
        address, whole = item.at(values_of(item, furnished)), json.loads(body_of(item) or b"{}")
        for place, field in enumerate(item.properties):
            for odd in some(ODD_VALUES, turn + place, 8):
                body = json.dumps({**whole, field: odd}).encode()
                what = f"{item.method} {item.path} {field}={str(odd)[:30]!r}"
                response = ask(item.method, address, body, **match(item))
                problems.append(told(response, what) or unnamed(response, field, odd, what))
        response = ask(item.method, address, json.dumps({**whole, "surplus": 1}).encode(), **match(item))
        if response.status_code < 300:
            problems.append(f"{item.method} {item.path} takes a field that it does not know")
    fail_for(problems)


def unnamed(response: Any, field: str, odd: Any, what: str) -> str:
    """What is wrong with a refusal that should name a field. A field that is emptied may leave another one senseless."""
    if response.status_code not in (400, 422):
        return ""
    body = json.loads(response.content)
    fields = [error["field"] for error in body.get("errors", ())]
    if any(name.startswith(field) for name in fields) or (fields and odd in ("", " ")):
        return ""
    return f"{what}: {response.status_code} {body['code']} names {fields}: {body['detail'][:160]}"
