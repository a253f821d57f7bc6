"""No page and no API list asks the database more often because there is more to show.

Every address that answers a GET is asked in a small installation (3 of everything: versions, drafts, reviews, labels, members, …)
and again when it has grown to 30: the number of statements is the same, and not above the one on record in `query_counts.json`.
Each is asked twice: cold, when this process remembers no harness, and warm.

Where a change needs more statements, or takes fewer, write the record anew and look at the difference:

    WRITE_QUERY_COUNTS=1 .venv/bin/python -m pytest -q tests/console/test_query_counts.py
"""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.cache import cache
from django.utils import timezone

from benchmarks.pages import counted_queries
from harnesses.selectors import drafts as draft_selectors
from harnesses.selectors import versions as version_selectors
from harnesses.services import (
    draft_open,
    freeze_create,
    harness_commit,
    harness_create,
    label_move,
    member_set,
    release_schedule,
    review_request,
    thread_open,
    thread_reply,
)
from inference.services import session_start
from ledger.core.roles import Role
from ledger.services import team_create, token_create
from tests.adversarial.furnishing import Address, addresses
from tests.console import sample

pytestmark = pytest.mark.django_db

RECORD = Path(__file__).with_name("query_counts.json")
FEW, MANY = 3, 30
QUERIES = {
    "resolve": "?label=label-0",
    "harness_compare": "?old=1&new=2",
    "compare": "?from=1&to=2",
    "label_move": "?version=2",
    "label-preview": "?number=2",
    "draft-compare": "?with=1",
    "review_request": "?version=3",
    "harness_merge": "?source=grown-0",
}
NOT_COUNTED = {
    "login",
    "logout",
    "session_stream",
    "schema",
    "api-docs",
    "audit-export",
    "audit_export",
    "harness_changelog_export",
}
"""Streams and what is asked by strangers; exports read in batches, which are more where there is more."""


class Count(NamedTuple):
    """Statements of one address: when nothing is remembered, and right after."""

    cold: int
    warm: int


class Shop:
    """An installation that grows: `grow(n)` sees to it that there are n of everything."""

    def __init__(self, owner: Any, make_user: Any) -> None:
        self.owner, self._make_user = owner, make_user
        self._author = make_user(Role.OPERATOR, username="author")
        self.harness = harness_create(slug=sample.SLUG, title=sample.TITLE, world=sample.WORLD, acting_user=owner)
        self.size = 0
        self.values: dict[str, Any] = {"slug": sample.SLUG, "number": 2, "file_format": "csv", "kind": "user"}

    def grow(self, size: int) -> None:
        for index in range(self.size, size):
            self._add(index)
        self.size = size

    def _add(self, index: int) -> None:
        harness, owner = self.harness, self.owner
        soon = timezone.now() + dt.timedelta(hours=2 + index)
        other = harness_create(slug=f"grown-{index}", title=f"Grown {index}", world=sample.WORLD, acting_user=owner)
        harness_commit(harness=other, spec=sample.sample_spec(), message="First", acting_user=owner)
        version = harness_commit(
            harness=harness,
            spec=sample.sample_spec(greeting=f"Greet in way {index}."),
            message=f"Way {index}",
            acting_user=self._author,  # Not by who asks for the reviews: these would move on to the next version.
        ).version
        draft = draft_open(harness=harness, name=f"Draft {index}", acting_user=owner)
        review = review_request(version=version, message="Please look.", reviewers=(), acting_user=owner)
        person = self._make_user(Role.REVIEWER, username=f"reviewer-{index}")
        thread = thread_open(review=review, body="Why?", acting_user=person)
        thread_reply(thread=thread, body="Why not?", acting_user=owner)
        for moved in (harness, other):
            label_move(
                harness=moved,
                name=f"label-{index}",
                version=moved.versions.latest("number"),
                reason="Try it.",
                acting_user=owner,
            )
        plan = release_schedule(
            harness=harness, name=f"plan-{index}", version=version, due_at=soon, reason="Tonight.", acting_user=owner
        )
        freeze = freeze_create(
            harness=harness, starts_at=soon, ends_at=soon + dt.timedelta(hours=1), reason="Sale.", acting_user=owner
        )
        team = team_create(slug=f"team-{index}", name=f"Team {index}", members=[person.username], acting_user=None)
        member_set(harness=harness, kind="team", name=team.slug, role="viewer", acting_user=owner)
        member_set(harness=harness, kind="user", name=person.username, role="reviewer", acting_user=owner)
        session = session_start(harness_slug=harness.slug, seed=0, acting_user=owner)
        token = token_create(owner=owner, name=f"Token {index}", scopes=["harnesses:read"], acting_user=owner)
        first = {
            "draft_id": draft.pk,
            "review_id": review.pk,
            "thread_id": thread.pk,
            "release_id": plan.pk,
            "freeze_id": freeze.pk,
            "session_id": session.pk,
            "token_id": token.token.pk,
        }
        self.values = {**first, **self.values}

    def address_of(self, item: Address) -> str:
        own = {"name": "label-0"}
        if item.name == "member":
            own = {"name": "reviewer-0"}
        if item.name == "operation-tool":
            own = {"name": "get_price"}
        if item.view_name.rpartition(":")[2].startswith("team"):
            own = {"slug": "team-0"}
        return item.filled({**self.values, **own}) + QUERIES.get(item.name, "")


@pytest.fixture
def person(make_user) -> Any:
    """Somebody who may see everything."""
    return make_user(*Role, username="ada", full_name="Ada Admin")


@pytest.fixture
def shop(person, make_user, deployment) -> Shop:
    return Shop(person, make_user)


def counts(shop: Shop, clients: dict[bool, Any]) -> dict[str, Count]:
    """The statements of every address that answers a GET with what it has to show."""
    found: dict[str, Count] = {}
    for item in addresses():
        if item.name in NOT_COUNTED:
            continue
        address = shop.address_of(item)
        client = clients[item.is_api]
        if client.get(address).status_code != 200:
            continue
        _forget()
        taken = []
        for _ in range(2):
            with counted_queries() as statements:
                client.get(address)
            taken.append(len(statements))
        found[item.view_name] = Count(*taken)
    return found


def _forget() -> None:
    cache.clear()
    for kept in (version_selectors._stored_spec, version_selectors.version_by_id, draft_selectors._kept_spec):
        kept.cache_clear()


def test_no_address_asks_more_often_because_there_is_more(shop: Shop, person, sign_in, make_api_client):
    clients = {False: sign_in(person), True: make_api_client(person)}
    shop.grow(FEW)
    few = counts(shop, clients)
    shop.grow(MANY)
    many = counts(shop, clients)
    assert len(many) > 60
    if os.environ.get("WRITE_QUERY_COUNTS"):
        RECORD.write_text(json.dumps({name: count._asdict() for name, count in sorted(few.items())}, indent=2) + "\n")
    differing = {name: (few.get(name), count) for name, count in many.items() if count != few.get(name)}
    assert differing == {}
    record = {name: Count(**count) for name, count in json.loads(RECORD.read_text()).items()}
    assert record.keys() == many.keys()
    above = {
        name: (record[name], count)
        for name, count in many.items()
        if any(a > b for a, b in zip(count, record[name], strict=True))
    }
    assert above == {}
