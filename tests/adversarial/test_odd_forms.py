"""Every form of every page, with missing, surplus, wrong-typed and oversized fields; every page with odd addresses and queries.

Never a 500, no leak; and where a form comes back, what was typed is in it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client

from tests.adversarial.furnishing import LEAK, Address, addresses
from tests.adversarial.test_odd_requests import ODD_PARTS, ODD_QUERIES, fail_for, some

pytestmark = pytest.mark.django_db

NOT_OF_A_HARNESS = {"slug": "night-shift"}
ODD_TEXTS = (
    "", " ", "x" * 30_000, "\x00", "a\x00b", "<script>alert(1)</script>", "٣", "9" * 40, "-1", "1.5",
    "2026-13-45T99:99", "%s{0}",
    "0001-01-01T00:00", "9999-12-31T23:59", "production\n", "\u202eevil", "../../etc", "\x1b[31m", "\x85",
    "💥" * 2000, "on", "null",
)  # fmt: skip
TYPED = "Typed with care, 4711"


@dataclass
class FormFound:
    """A form as it stands in a page: where it goes, and its fields with their values."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)


class FormReader(HTMLParser):
    """Reads the forms of a page that are posted."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address, self.area = address, ""
        self.found: list[FormFound] = []
        self.form: FormFound | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = FormFound(given.get("action") or self.address) if given.get("method") == "post" else None
            if self.form:
                self.found.append(self.form)
        elif self.form and (name := given.get("name")):
            kind = given.get("type", "text")
            if kind in ("checkbox", "radio") and "checked" not in given and name in self.form.fields:
                return
            self.form.fields[name] = given.get("value", "")
            if tag == "textarea" or (tag == "input" and kind == "text"):
                self.form.texts.add(name)
        elif self.form and tag == "option" and "selected" in given and self.area:
            self.form.fields[self.area] = given.get("value", "")
        if tag == "select":
            self.area = given.get("name", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None


@pytest.fixture
def send(admin):
    client = Client(raise_request_exception=False)
    client.force_login(admin)

    def one(method: str, address: str, values: Any = None, **more: Any) -> Any:
        body = urlencode(values or {}, doseq=True, errors="surrogatepass").encode()
        with transaction.atomic():
            response = client.generic(method, address, body, content_type="application/x-www-form-urlencoded", **more)
            transaction.set_rollback(True)
        return response

    return one


def told(response: Any, what: str) -> str:
    if response.status_code >= 500:
        return f"{what}: {response.status_code}"
    text = "" if response.streaming else response.content.decode("utf-8", "replace")
    if response.status_code >= 400 and (found := LEAK.search(text)):
        return f"{what}: {response.status_code} leaks {found[0]!r}"
    return ""


def pages() -> list[Address]:
    left_out = {"logout", "schema", "api-docs"}
    return [item for item in addresses() if not item.is_api and item.name not in left_out]


def values_for(item: Address, furnished: dict[str, Any]) -> dict[str, Any]:
    return {**furnished, **(NOT_OF_A_HARNESS if item.name.startswith("team_") else {})}


FORM_QUERIES = {
    "label_move": ("", "?version=1"),
    "review_request": ("", "?version=1"),
    "harness_merge": ("", "?source=demo-shop-night@1"),
}
"""Pages whose forms depend on what the address asks for."""


def forms_of(send: Any, furnished: dict[str, Any]) -> list[FormFound]:
    """Every posted form of every page, each once."""
    found: dict[tuple[str, tuple[str, ...]], FormFound] = {}
    for item in pages():
        address = item.filled(values_for(item, furnished))
        for query in FORM_QUERIES.get(item.name, ("",)):
            response = send("GET", address + query)
            if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
                reader = FormReader(address + query)
                reader.feed(response.content.decode())
                for form in reader.found:
                    if not form.action.startswith("/logout"):
                        found.setdefault((form.action.partition("?")[0], tuple(sorted(form.fields))), form)
    return list(found.values())


def test_every_form_survives_what_is_typed_into_it(furnished, send):
    forms, problems = forms_of(send, furnished), []
    assert len(forms) > 25
    for turn, form in enumerate(forms):
        names = [name for name in form.fields if name != "csrfmiddlewaretoken"]
        problems.append(told(send("POST", form.action, {}), f"{form.action} empty"))
        surplus = {**form.fields, "surplus": "1", "acting_user": "1", "is_superuser": "on", "id": "1"}
        problems.append(told(send("POST", form.action, surplus), f"{form.action} surplus"))
        for place, name in enumerate(names):
            rest = {key: value for key, value in form.fields.items() if key != name}
            problems.append(told(send("POST", form.action, rest), f"{form.action} without {name}"))
            twice = {**form.fields, name: ["1", "2"]}
            problems.append(told(send("POST", form.action, twice), f"{form.action} {name} twice"))
            for odd in some(ODD_TEXTS, turn + place, 11):
                what = f"{form.action} {name}={odd[:20]!r}"
                problems.append(told(send("POST", form.action, {**form.fields, name: odd}), what))
    fail_for(problems)


def test_a_form_that_is_sent_back_holds_what_was_typed(furnished, send):
    problems, seen = [], 0
    for form in forms_of(send, furnished):
        for name in form.texts:
            for broken in set(form.fields) - {name, "csrfmiddlewaretoken"}:
                for odd in ("\x00", "9" * 40):
                    response = send("POST", form.action, {**form.fields, name: TYPED, broken: odd})
                    if response.status_code in (409, 422):
                        seen += 1
                        if TYPED not in html.unescape(response.content.decode()):
                            problems.append(f"{form.action}: {name} is lost where {broken} is {odd[:3]!r}")
    assert seen > 20
    fail_for(problems)


def test_every_page_survives_odd_addresses_and_queries(furnished, send):
    problems = []
    for turn, item in enumerate(pages()):
        values = values_for(item, furnished)
        address = item.filled(values)
        for method in ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "POST"):
            problems.append(told(send(method, address), f"{method} {address}"))
        for odd in some([*ODD_QUERIES, *PAGE_QUERIES], turn, 12):
            problems.append(told(send("GET", f"{address}?{odd}"), f"{address}?{odd[:40]}"))
        for parameter in item.parameters:
            place = (
                address.split("/").index(str(values[parameter])) if str(values[parameter]) in address.split("/") else 0
            )
            for odd in some(ODD_PARTS, turn, 8) if place else ():
                parts = address.split("/")
                parts[place] = odd
                problems.append(told(send("GET", "/".join(parts)), f"{item.name} {parameter}={odd[:30]}"))
    fail_for(problems)


PAGE_QUERIES = (
    "page=%00", "page=-1", "page=" + "9" * 40, "tab=%00", "version=%00", "version=99999999999999999999",
    "old=%00&new=1", "old=1&new=under-fire@9",
    "old=draft:1&new=draft:x", "draft=%00", "draft=" + "9" * 40, "beside=%00", "beside=x", "other=%00",
    "kind=%00", "area=%00", "person=%00",
    "since=0001-01-01&until=9999-12-31", "since=%00", "name=%00&version=1", "name=production&version=%00",
    "source=%00", "source=@", "source=a@b@c",
    "component_kind=%00&component_id=%00&line=x",
    "component_kind=tool&component_id=price&field=description&line=" + "9" * 30, "view=%00",
    "field=" + "x" * 5000 + "&line=1", "next=//evil.example", "next=javascript:alert(1)", "number=%00",
    "full=%00", "family=%00",
)  # fmt: skip
