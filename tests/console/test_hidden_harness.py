"""A harness for members only does not exist to anybody else: at no address of the console or the API, in no list, in no file."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import AbstractUser, Permission
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from harnesses.selectors import version_get
from harnesses.services import (
    draft_open,
    freeze_create,
    harness_commit,
    harness_create,
    harness_update,
    label_move,
    member_set,
    release_schedule,
    review_request,
    thread_open,
)
from inference.services import session_start, turn_take
from ledger.core.roles import Role
from ledger.services import team_create
from tests.adversarial.furnishing import Address, addresses
from tests.console import sample

pytestmark = pytest.mark.django_db(transaction=True)

SLUG, TITLE = "hushed-plan", "Hushed plan"
TRACES = re.compile(rf"{SLUG}|{TITLE}|hidden words", re.IGNORECASE)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ABOUT_OTHER_THINGS = {
    "token_revoke",
    "audit_export",
    "team",
    *(f"team_{verb}" for verb in ("detail", "rename", "add", "remove", "delete")),
}
"""Addresses with parameters that lead to no harness."""
QUERIES = {"resolve": "?label=staging"}
BODIES: dict[str, dict[str, Any]] = {
    "turns": {"comment": "Hello"},
    "session_stream": {"comment": "Hello"},
    "session_say": {"comment": "Hello"},
    "review-decisions": {"verdict": "approve", "reason": "Fine", "number": 2},
}
"""Where a request is read before its address: what makes it a good one."""


@pytest.fixture(autouse=True)
def _connections() -> Iterator[None]:
    """Asynchronous views reach the database through a thread of their own, whose connection nobody else closes."""
    yield
    async_to_sync(sync_to_async(connections.close_all))()


@pytest.fixture
def owner(make_user) -> AbstractUser:
    """An operator, who by making the harness is its admin."""
    return make_user(Role.OPERATOR, username="olwen", full_name="Olwen Owner")


@pytest.fixture
def outsider(make_user) -> AbstractUser:
    """Somebody with every role but those that manage harnesses: everything that is open, is open to them."""
    roles = (Role.OPERATOR, Role.REVIEWER, Role.ML_ENGINEER, Role.ANALYST, Role.VIEWER)
    return make_user(*roles, username="otto", full_name="Otto Outsider")


@pytest.fixture
def hidden(owner, outsider, platform_engineer, deployment, engine) -> dict[str, Any]:
    """A harness for members only with something of everything in it, as the parameters of addresses name it."""
    harness = harness_create(slug=SLUG, title=TITLE, world=sample.WORLD, description="hidden words", acting_user=owner)
    for greeting in ("One.", "Two."):
        spec = sample.sample_spec(greeting=greeting)
        harness_commit(harness=harness, spec=spec, message="hidden words", acting_user=owner)
    version = version_get(SLUG, 2)
    draft = draft_open(harness=harness, name="hidden words", acting_user=owner)
    review = review_request(version=version, message="hidden words", reviewers=(), acting_user=owner)
    thread = thread_open(review=review, body="hidden words", acting_user=owner)
    label_move(harness=harness, name="staging", version=version, reason="hidden words", acting_user=owner)
    soon = timezone.now() + dt.timedelta(hours=2)
    plan = release_schedule(
        harness=harness, name="nightly", version=version, due_at=soon, reason="hidden words", acting_user=owner
    )
    freeze = freeze_create(
        harness=harness, starts_at=soon, ends_at=soon + dt.timedelta(hours=1), reason="hidden words",
        acting_user=platform_engineer,
    )  # fmt: skip
    session = session_start(harness_slug=SLUG, seed=0, acting_user=owner)
    engine.replies.append("These are hidden words.")
    asyncio.run(_closing(turn_take(session_id=session.pk, comment="hidden words?", acting_user=owner)))
    team = team_create(slug="night-shift", name="Night shift", members=[owner.username], acting_user=None)
    member_set(harness=harness, kind="team", name=team.slug, role="viewer", acting_user=owner)
    harness_update(harness=harness, access="members", acting_user=owner)
    return {
        "slug": SLUG,
        "number": 1,
        "draft_id": draft.pk,
        "review_id": review.pk,
        "thread_id": thread.pk,
        "release_id": plan.pk,
        "freeze_id": freeze.pk,
        "session_id": session.pk,
        "file_format": "csv",
        "kind": "user",
        "name": "staging",
    }


async def _closing(work: Any) -> None:
    await work
    await sync_to_async(connections.close_all)()


def address_of(item: Address, hidden: dict[str, Any], owner: AbstractUser) -> str:
    values = {name: hidden[name] for name in item.parameters}
    if item.name == "member":
        values["name"] = owner.username
    if item.name == "operation-tool":
        values["name"] = "get_price"
    return reverse(item.view_name, kwargs=values)


def ask(client: Any, method: str, item: Address, address: str) -> Any:
    body = BODIES.get(item.name, {}) if method != "GET" else None
    address += QUERIES.get(item.name, "")
    if item.is_api:
        return getattr(client, method.lower())(address, body, format=None if body is None else "json")
    return getattr(client, method.lower())(address, body if method == "POST" else None)


@pytest.fixture
def clients(sign_in, make_api_client):
    """`clients(user)` gives the clients of a person for pages and for the API, the latter with a token of every scope."""
    return lambda user: {False: sign_in(user), True: make_api_client(user)}


def of_harnesses() -> list[Address]:
    return [item for item in addresses() if item.parameters and item.name not in ABOUT_OTHER_THINGS]


def test_no_address_of_a_hidden_harness_answers_an_outsider(hidden, owner, outsider, clients):
    theirs, answers = clients(outsider), {}
    for item in of_harnesses():
        for method in METHODS:
            response = ask(theirs[item.is_api], method, item, address_of(item, hidden, owner))
            answers[f"{method} {item.view_name}"] = response.status_code
            text = response.content.decode()
            if "slug" in item.parameters:
                text = text.replace(SLUG, "")  # The answer repeats the address it was asked at.
            assert not TRACES.search(text), item
    assert sum(status == 404 for status in answers.values()) > 70
    assert {name: status for name, status in answers.items() if status not in (404, 405)} == {}


def test_the_same_addresses_answer_a_member(hidden, owner, clients):
    """Or else the test above would pass for addresses that answer nobody."""
    theirs, answers = clients(owner), {}
    for item in of_harnesses():
        response = ask(theirs[item.is_api], "GET", item, address_of(item, hidden, owner))
        answers[item.view_name] = response.status_code
    assert sum(status == 200 for status in answers.values()) > 25
    assert {name: status for name, status in answers.items() if status in (403, 404) or status >= 500} == {}


def test_no_list_tells_an_outsider_of_it(hidden, outsider, owner, clients):
    theirs, seen = clients(outsider), {}
    for item in addresses():
        if item.parameters or item.name in (
            "login",
            "logout",
            "schema",
            "api-docs",
            "markdown_preview",
            "audit-export",
        ):
            continue
        for query in ("", f"?search={SLUG}", f"?harness={SLUG}"):
            response = theirs[item.is_api].get(reverse(item.view_name) + query)
            shown = response.content.decode().replace(f"search={SLUG}", "").replace(f"harness={SLUG}", "")
            told = TRACES.search(re.sub(rf'value="{SLUG}"|There is no harness .{{,8}}{SLUG}.{{,8}}', "", shown))
            seen[f"{item.view_name}{query}"] = bool(told)
    assert [name for name, is_told in seen.items() if is_told] == []
    assert "harnesses_api:harnesses" in seen
    assert TRACES.search(clients(owner)[False].get("/harnesses/").content.decode())


def test_the_audit_and_its_files_leave_it_out(hidden, outsider, owner, clients):
    for user, is_told in ((outsider, False), (owner, True)):
        theirs = clients(user)
        for address in ("/audit/export.csv", "/audit/export.jsonl", "/api/v1/audit/export?format=csv"):
            response = theirs[address.startswith("/api")].get(address)
            text = asyncio.run(_read(response)).decode()
            assert bool(TRACES.search(text)) is is_told, (user.username, address)
    assert clients(outsider)[True].get(f"/api/v1/audit?harness={SLUG}").status_code == 404


async def _read(response: Any) -> bytes:
    pieces = [piece async for piece in response.streaming_content]
    await sync_to_async(connections.close_all)()
    return b"".join(pieces)


def test_a_team_page_does_not_tell_where_the_team_works(hidden, outsider, owner, clients):
    assert TITLE not in clients(outsider)[False].get("/teams/night-shift/").content.decode()
    assert TITLE in clients(owner)[False].get("/teams/night-shift/").content.decode()


def test_it_cannot_be_reached_through_another_harness(hidden, harness, outsider, clients):
    api, pages = clients(outsider)[True], clients(outsider)[False]
    base = f"/api/v1/harnesses/{sample.SLUG}"
    assert api.get(f"{base}/compare?from={SLUG}@1&to=1").status_code == 404
    assert api.get(f"{base}/compare?from=1&to={SLUG}@2").status_code == 404
    assert api.post(f"{base}/merge-from", {"slug": SLUG, "number": 1}, format="json").status_code == 404
    assert api.post("/api/v1/sessions", {"harness": SLUG}, format="json").status_code == 404
    for name in ("draft_id", "release_id", "freeze_id"):
        kind = {"draft_id": "drafts", "release_id": "releases", "freeze_id": "freezes"}[name]
        address = f"{base}/{kind}/{hidden[name]}" + ("/cancel" if name != "draft_id" else "")
        response = api.get(address) if name == "draft_id" else api.post(address, {}, format="json")
        assert response.status_code == 404, name
    start = {"version": f"{SLUG}@1", "checkpoint": "null-model", "viewer": "v", "seed": "0"}
    assert pages.post("/playground/", start).status_code == 422
    assert pages.get(f"/playground/?harness={SLUG}&draft={hidden['draft_id']}").status_code == 404


def test_the_admin_site_leaves_it_out_too(hidden, outsider, owner, sign_in):
    for person in (outsider, owner):
        person.is_staff = True
        person.save(update_fields=["is_staff"])
        person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    names = [
        "harnesses_harness",
        "harnesses_harnessversion",
        "harnesses_harnessmember",
        "inference_session",
        "inference_turn",
    ]
    counts = {}
    for person in (outsider, owner):
        client = sign_in(person)
        for name in [*names, "ledger_auditentry"]:
            page = client.get(reverse(f"admin:{name}_changelist"))
            assert page.status_code == 200
            counts[person.username, name] = page.context["cl"].result_count
            if person == outsider:
                assert not TRACES.search(page.content.decode()), name
    assert {name: counts["otto", name] for name in names} == dict.fromkeys(names, 0)
    assert all(counts["olwen", name] for name in names)
    assert counts["otto", "ledger_auditentry"] < counts["olwen", "ledger_auditentry"]
