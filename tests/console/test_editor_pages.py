"""The pages around the editor: which drafts there are, how one is begun, joined or put away, and what the editor is told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from harnesses import services
from harnesses.models import Harness, HarnessDraft
from harnesses.services import draft_open, harness_archive
from ledger.core.roles import Role
from ledger.models import User
from tests.console.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def colleague(make_user) -> User:
    return make_user(Role.OPERATOR, username="li", full_name="Li Wei")


def drafts_url(harness: Harness, rest: str = "") -> str:
    return f"/harnesses/{harness.slug}/drafts/{rest}"


def start(client: Client, harness: Harness, **values: Any) -> Any:
    return client.post(drafts_url(harness, "start/"), values)


def editor_data(response: Any) -> dict[str, Any]:
    found = re.search(r'<script id="editor-data" type="application/json">(.*?)</script>', response.content.decode())
    assert found, response.content.decode()[:2000]
    data: dict[str, Any] = json.loads(found[1])
    return data


# --- beginning -------------------------------------------------------------------------------------------------------


def test_the_first_draft_starts_from_the_newest_version(harness, operator, sign_in: SignIn):
    response = start(sign_in(operator), harness)
    draft = HarnessDraft.objects.get()
    assert response.status_code == 302
    assert response["Location"] == drafts_url(harness, f"{draft.pk}/")
    assert draft.base_version is not None
    assert (draft.base_version.number, draft.created_by_id) == (2, operator.pk)


def test_editing_again_goes_on_with_ones_own_open_draft(harness, operator, sign_in: SignIn):
    client = sign_in(operator)
    first, second = start(client, harness)["Location"], start(client, harness)["Location"]
    assert first == second
    assert HarnessDraft.objects.count() == 1


def test_where_only_others_drafts_are_open_it_is_asked_which(harness, operator, colleague, sign_in: SignIn):
    theirs = draft_open(harness=harness, name="Double eleven", acting_user=colleague)
    client = sign_in(operator)
    response = start(client, harness)
    page = response.content.decode()
    assert response.status_code == 200
    assert "Double eleven" in page
    assert drafts_url(harness, f"{theirs.pk}/") in page
    assert HarnessDraft.objects.count() == 1

    made = start(client, harness, new="on", name="My own")
    assert made.status_code == 302
    assert HarnessDraft.objects.get(created_by=operator).name == "My own"


def test_a_double_click_on_new_makes_one_draft(harness, operator, sign_in: SignIn):
    client = sign_in(operator)
    addresses = {start(client, harness, new="on", name="Once")["Location"] for _ in range(2)}
    assert len(addresses) == 1
    assert HarnessDraft.objects.count() == 1


def test_a_draft_can_start_from_an_older_version(harness, operator, sign_in: SignIn):
    client = sign_in(operator)
    start(client, harness)
    start(client, harness, from_version="1")
    assert set(HarnessDraft.objects.values_list("base_version__number", flat=True)) == {1, 2}


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"from_version": "0"}, 422),
        ({"from_version": "three"}, 422),
        ({"from_version": "9" * 30}, 422),
        ({"from_version": "77"}, 404),
        ({"new": "on", "name": "x" * 500}, 422),
    ],
)
def test_nonsense_at_the_start_makes_no_draft(harness, operator, sign_in: SignIn, values, status):
    response = start(sign_in(operator), harness, **values)
    assert response.status_code == status
    assert not HarnessDraft.objects.exists()


def test_starting_takes_a_post_and_the_right(harness, operator, analyst, sign_in: SignIn):
    assert sign_in(operator).get(drafts_url(harness, "start/")).status_code == 405
    assert start(sign_in(analyst), harness).status_code == 403
    assert not HarnessDraft.objects.exists()


# --- the list --------------------------------------------------------------------------------------------------------


def test_the_list_shows_open_drafts_and_closed_ones_apart(harness, operator, sign_in: SignIn):
    draft_open(harness=harness, name="Still going", acting_user=operator)
    services.draft_discard(
        draft=draft_open(harness=harness, name="Thought better", acting_user=operator), acting_user=operator
    )
    client = sign_in(operator)
    shown = client.get(drafts_url(harness)).content.decode()
    closed = client.get(drafts_url(harness) + "?state=closed").content.decode()
    assert "Still going" in shown
    assert "Thought better" not in shown
    assert "Thought better" in closed
    assert "Discarded" in closed


def test_a_draft_is_discarded_and_reopened(harness, operator, sign_in: SignIn):
    draft = draft_open(harness=harness, name="Double eleven", acting_user=operator)
    client = sign_in(operator)
    response = client.post(drafts_url(harness, f"{draft.pk}/discard/"), follow=True)
    assert "“Double eleven” is discarded" in response.content.decode()
    draft.refresh_from_db()
    assert draft.state == HarnessDraft.State.DISCARDED

    assert client.post(drafts_url(harness, f"{draft.pk}/reopen/"))["Location"] == drafts_url(harness, f"{draft.pk}/")
    draft.refresh_from_db()
    assert draft.state == HarnessDraft.State.OPEN


def test_who_may_not_edit_sees_drafts_and_no_buttons(harness, operator, analyst, sign_in: SignIn):
    draft = draft_open(harness=harness, name="Double eleven", acting_user=operator)
    client = sign_in(analyst)
    page = client.get(drafts_url(harness)).content.decode()
    assert "Double eleven" in page
    assert "Discard" not in page
    assert "Start a new draft" not in page
    for action in ("discard/", "reopen/"):
        assert client.post(drafts_url(harness, f"{draft.pk}/{action}")).status_code == 403


def test_a_draft_of_another_harness_is_not_found(harness, operator, sign_in: SignIn):
    client = sign_in(operator)
    for number in ("1", "999999999999999999999999"):
        assert client.get(drafts_url(harness, f"{number}/")).status_code == 404
        assert client.post(drafts_url(harness, f"{number}/discard/")).status_code == 404


# --- the editor ------------------------------------------------------------------------------------------------------


def test_the_editor_is_told_where_things_are_and_nothing_is_cached(harness, operator, sign_in: SignIn):
    draft = draft_open(harness=harness, acting_user=operator)
    response = sign_in(operator).get(drafts_url(harness, f"{draft.pk}/"))
    data = editor_data(response)
    assert response["Cache-Control"] == "no-store"
    assert data["canEdit"] is True
    assert data["api"]["base"] == f"/api/v1/harnesses/{harness.slug}/drafts/{draft.pk}"
    assert (data["baseNumber"], data["newestNumber"], data["canPlay"]) == (2, 2, True)
    assert "document" not in data


def test_the_editor_says_why_it_is_read_only(harness, operator, analyst, sign_in: SignIn):
    draft = draft_open(harness=harness, acting_user=operator)
    address = drafts_url(harness, f"{draft.pk}/")
    assert "To edit it takes one of these roles" in editor_data(sign_in(analyst).get(address))["reason"]
    services.draft_discard(draft=draft, acting_user=operator)
    data = editor_data(sign_in(operator).get(address))
    assert (data["canEdit"], data["reason"][:24]) == (False, "This draft was discarded")
    harness_archive(harness=harness, acting_user=None, reason="Season over")
    assert "archived" in editor_data(sign_in(operator).get(address))["reason"]


def test_a_harness_for_members_does_not_exist_for_others(harness, operator, colleague, sign_in: SignIn):
    draft = draft_open(harness=harness, acting_user=operator)
    services.harness_update(harness=harness, access=Harness.Access.MEMBERS, acting_user=operator)
    client = sign_in(colleague)
    assert client.get(drafts_url(harness)).status_code == 404
    assert client.get(drafts_url(harness, f"{draft.pk}/")).status_code == 404
    assert start(client, harness).status_code == 404


def test_pages_ask_the_database_the_same_for_one_draft_as_for_thirty(
    harness, operator, sign_in: SignIn, django_assert_num_queries
):
    client = sign_in(operator)
    draft_open(harness=harness, acting_user=operator)
    client.get(drafts_url(harness))
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(drafts_url(harness))
    for _ in range(29):
        draft_open(harness=harness, acting_user=operator)
    with django_assert_num_queries(len(few)):
        client.get(drafts_url(harness))
