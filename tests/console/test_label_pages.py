"""The pages of labels and releases: what they show, who may do what, bad input, and the whole way in a browser."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from harnesses.models import Harness, HarnessLabel, ScheduledRelease
from harnesses.selectors import coming_freezes, label_get, label_moves, version_get
from harnesses.services import (
    freeze_create,
    harness_archive,
    label_move,
    release_schedule,
    review_decide,
    review_request,
)
from ledger.core.roles import Role
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, launched_browser, live_server, open_visitor

pytestmark = pytest.mark.django_db
LABELS = f"/harnesses/{sample.SLUG}/labels/"
PRODUCTION = f"{LABELS}production/"


@pytest.fixture
def versions(harness):
    return [version_get(sample.SLUG, number) for number in (1, 2)]


@pytest.fixture
def approved(versions, operator, reviewer, make_user):
    """Both versions approved, the first in production."""
    second = make_user(Role.REVIEWER, username="rosa", full_name="Rosa Reviewer")
    requester = make_user(Role.ML_ENGINEER, username="kim")
    for version in versions:
        review = review_request(version=version, message="", reviewers=(), acting_user=requester)
        for person in (reviewer, second):
            review_decide(review=review, verdict="approve", reason="", number=version.number, acting_user=person)
    release(versions[0], reviewer)
    return versions


def release(version, person, **changes):
    values = {"name": "production", "confirm": "production", "reason": "Tried on staging", "acting_user": person}
    return label_move(harness=version.harness, version=version, **{**values, **changes})


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def move_form(**changes):
    values = {"version": "2", "revision": "1", "reason": "Tried", "confirm": "production", "when": "now"}
    return {**values, **changes}


# --- what the pages show ---------------------------------------------------------------------------------------------


def test_a_harness_without_labels_says_what_to_do(sign_in, harness, reviewer, analyst):
    text = text_of(sign_in(reviewer).get(LABELS))
    assert "No label yet" in text
    assert "Make production…" in text
    assert "Make production…" not in text_of(sign_in(analyst).get(LABELS))


def test_labels_show_version_since_when_by_whom_and_protection(sign_in, approved, operator, analyst):
    label_move(harness=approved[0].harness, name="staging", version=approved[1], acting_user=operator)
    text = text_of(sign_in(analyst).get(LABELS))
    for part in ("production Protected Version 1", "by Rui Reviewer (rui): Tried on staging", "staging Not protected"):
        assert part in text
    assert "Move… production" not in text


def test_a_move_shows_what_it_replaces_requires_and_what_blocks_it_with_a_way_out(sign_in, versions, reviewer):
    response = sign_in(reviewer).get(f"{PRODUCTION}move/?version=2")
    text = text_of(response)
    assert "Make “production”, pointing to version 2" in text
    assert "needs the approval of one person" in text or "needs the approval of 2 people" in text
    assert "Tool renamed: get_price → fetch_price" in text
    assert f"{reverse('console:review_request', args=[sample.SLUG])}?version=2" in response.content.decode()
    assert "Make production now" not in text
    assert "Plan it for then" in text


def test_a_roll_back_says_that_it_needs_no_approval(sign_in, approved, reviewer):
    release(approved[1], reviewer)
    text = text_of(sign_in(reviewer).get(f"{PRODUCTION}move/?version=1"))
    assert "held version 1 before" in text
    assert "Move production now" in text


def test_the_history_is_there_also_when_the_label_is_gone(sign_in, versions, operator):
    client = sign_in(operator)
    label_move(harness=versions[0].harness, name="test", version=versions[0], reason="Try", acting_user=operator)
    assert client.post(f"{LABELS}test/remove/", {"revision": "1"}).status_code == 302
    text = text_of(client.get(f"{LABELS}test/history/"))
    assert "This label was removed" in text
    assert "Try" in text
    assert client.get(f"{LABELS}never/history/").status_code == 404


def test_each_is_offered_only_what_they_may_do(sign_in, approved, operator, reviewer, analyst, make_user):
    older, newer = approved
    editor = make_user(Role.ML_ENGINEER, username="mei")
    for version in (older, newer):
        release(version, operator, name="staging", confirm="")
    release(newer, reviewer)
    soon = timezone.now() + dt.timedelta(hours=1)
    release_schedule(
        harness=older.harness,
        name="production",
        version=older,
        due_at=soon,
        reason="Back then",
        confirm="production",
        acting_user=reviewer,
    )
    offered = {
        person: sorted(
            re.findall(r'href="/harnesses/[^"]*/labels/([a-z]+/(?:move|undo))/"', page)
            + re.findall(r'action="/harnesses/[^"]*/(releases)/', page)
        )
        for person in (editor, reviewer, analyst)
        for page in [sign_in(person).get(LABELS).content.decode()]
    }
    assert offered[editor] == ["production/move", "staging/move", "staging/undo"]  # to see what a release still needs
    assert offered[reviewer] == ["production/move", "production/undo", "releases"]
    assert offered[analyst] == []


@pytest.mark.parametrize("page", ["", "versions/", "versions/1/", "labels/"])
def test_a_freeze_is_told_on_the_pages_of_the_harness(sign_in, versions, analyst, page):
    now = timezone.now()
    client = sign_in(analyst)
    address = f"/harnesses/{sample.SLUG}/{page}"
    assert "frozen" not in text_of(client.get(address))
    freeze_create(harness=None, starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Big sale", acting_user=None)
    assert "Releases are frozen until" in text_of(client.get(address))


def test_pages_take_few_queries_however_many_labels_there_are(
    sign_in, versions, operator, django_assert_max_num_queries
):
    client = sign_in(operator)
    counts = []
    for batch in (range(2), range(2, 12)):
        for number in batch:
            label_move(harness=versions[0].harness, name=f"try-{number}-x", version=versions[0], acting_user=operator)
        with django_assert_max_num_queries(40) as caught:
            client.get(LABELS)
        counts.append(len(caught.captured_queries))
    assert counts[0] == counts[1]


# --- doing -----------------------------------------------------------------------------------------------------------


def test_a_move_by_form_moves_once_however_often_it_is_sent(sign_in, approved, reviewer):
    client = sign_in(reviewer)
    for _ in range(2):
        assert client.post(f"{PRODUCTION}move/?version=2", move_form()).status_code == 302
    assert label_get(approved[0].harness, "production").version.number == 2
    assert label_moves(approved[0].harness, "production").count() == 2


def test_a_move_from_an_older_look_is_told_and_can_be_repeated(sign_in, approved, reviewer):
    client = sign_in(reviewer)
    release(approved[1], reviewer)
    response = client.post(f"{PRODUCTION}move/", move_form(version="1", reason="Back, it was wrong"))
    assert response.status_code == 422
    assert "You started from revision 1" in text_of(response)
    html = response.content.decode()
    assert "Back, it was wrong" in html
    assert 'name="revision" value="2"' in html
    assert client.post(f"{PRODUCTION}move/", move_form(version="1", revision="2")).status_code == 302


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"confirm": ""}, "nothing was typed"),
        ({"confirm": "prod"}, "was typed"),
        ({"confirm": "x" * 61}, "60 characters"),
        ({"reason": " "}, "moves for a reason"),
        ({"reason": "x" * 2001}, "2,001 characters"),
        ({"when": "later"}, "Choose when."),
        ({"when": "later", "due_at": "tomorrow"}, "no date with a time"),
        ({"when": "later", "due_at": "2020-01-01T10:00"}, "is over"),
        ({"when": "later", "due_at": "9999-12-31T23:59"}, "more than a year ahead"),
        ({"when": "now", "due_at": "2030-01-01T10:00"}, "You gave a time."),
        ({"when": "whenever"}, "whenever"),
        ({"when": "later", "due_at": "2030-01-01T10:00", "due_at_offset": "99999"}, "1080"),
        ({"revision": "x"}, "whole number"),
        ({"revision": ""}, "required"),
    ],
)
def test_a_move_that_is_filled_in_wrong_comes_back_as_it_was_typed(sign_in, approved, reviewer, changes, told):
    sent = move_form(**{"reason": "A reason of my own", **changes}, extra="1")
    response = sign_in(reviewer).post(f"{PRODUCTION}move/", sent)
    assert response.status_code == 422
    assert told in text_of(response)
    assert sent["reason"].strip() in response.content.decode()
    assert label_get(approved[0].harness, "production").version.number == 1


@pytest.mark.parametrize("version", ["99", "x", "-1", "9" * 30])
def test_a_version_that_is_not_there_is_not_found(sign_in, approved, reviewer, version):
    client = sign_in(reviewer)
    assert client.get(f"{PRODUCTION}move/?version={version}").status_code == 404
    assert client.post(f"{PRODUCTION}move/", move_form(version=version)).status_code == 404


def test_a_blocked_move_says_so_when_it_is_sent_all_the_same(sign_in, versions, reviewer):
    response = sign_in(reviewer).post(f"{PRODUCTION}move/", move_form(version="1", revision="0"))
    assert response.status_code == 422
    assert "needs the approval" in text_of(response)
    assert not HarnessLabel.objects.exists()


def test_undo_takes_two_clicks_and_a_double_click_does_it_once(sign_in, approved, reviewer):
    client = sign_in(reviewer)
    release(approved[1], reviewer)
    page = client.get(f"{PRODUCTION}undo/")
    assert "Move “production” back to version 1" in text_of(page)
    assert "Tool renamed: fetch_price → get_price" in text_of(page)
    for _ in range(2):
        assert client.post(f"{PRODUCTION}undo/", {"revision": "2", "reason": ""}).status_code == 302
    assert label_get(approved[0].harness, "production").version.number == 1
    assert label_moves(approved[0].harness, "production").count() == 3
    assert client.post(f"{PRODUCTION}undo/", {"revision": "1"}).status_code == 422
    for sent in ({}, {"revision": "x"}, {"revision": "3", "reason": "x" * 2001}):
        assert client.post(f"{PRODUCTION}undo/", sent).status_code == 422


def test_there_is_nothing_to_undo_of_a_label_that_was_just_made(sign_in, approved, reviewer):
    response = sign_in(reviewer).get(f"{PRODUCTION}undo/", follow=True)
    assert "There is nothing to undo" in text_of(response)


def test_a_label_of_ones_own_is_named_then_made(sign_in, versions, operator):
    client = sign_in(operator)
    response = client.get(f"{LABELS}new/?name=autumn-sale&version=2")
    assert response["Location"] == f"{LABELS}autumn-sale/move/?version=2"
    made = client.post(response["Location"], move_form(confirm="", reason="", revision="0"))
    assert (made.status_code, label_get(versions[0].harness, "autumn-sale").version.number) == (302, 2)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("name=v3&version=1", "reads like a version number"),
        ("name=3&version=1", "reads like a version number"),
        ("name=a/b&version=1", "lower-case letters"),
        ("name=%E7%94%9F%E4%BA%A7&version=1", "lower-case letters"),
        (f"name={'a' * 41}&version=1", "40 characters"),
        ("name=&version=1", "required"),
        ("name=good&version=99", "There is no version 99"),
        ("version=1", "required"),
        ("name=good", "required"),
    ],
)
def test_names_that_no_label_can_have_are_told_at_the_field(sign_in, versions, operator, query, told):
    response = sign_in(operator).get(f"{LABELS}new/?{query}")
    assert (response.status_code, told in text_of(response)) == (422, True)


@pytest.mark.parametrize("name", ["v3", "3", "生产", "a" * 41, "A b"])
def test_addresses_with_a_bad_name_are_told_too(sign_in, versions, operator, name):
    assert sign_in(operator).get(f"{LABELS}{name}/move/").status_code == 422


def test_protecting_and_removing_are_for_those_who_may(sign_in, versions, operator, make_user):
    harness = versions[0].harness
    label_move(harness=harness, name="staging", version=versions[0], acting_user=operator)
    other = sign_in(make_user(Role.ML_ENGINEER, username="mo"))
    assert other.post(f"{LABELS}staging/protect/", {"is_protected": "yes"}).status_code == 403
    mine = sign_in(operator)
    mine.post(f"{LABELS}staging/protect/", {"is_protected": "maybe"})
    assert not label_get(harness, "staging").is_protected
    mine.post(f"{LABELS}staging/protect/", {"is_protected": "yes"})
    assert label_get(harness, "staging").is_protected
    refused = mine.post(f"{LABELS}staging/remove/", {"revision": "1"}, follow=True)
    assert "is protected" in text_of(refused)
    mine.post(f"{LABELS}staging/protect/", {"is_protected": "no"})
    assert "You started from revision 7" in text_of(
        mine.post(f"{LABELS}staging/remove/", {"revision": "7"}, follow=True)
    )
    mine.post(f"{LABELS}staging/remove/", {"revision": "1"})
    assert not HarnessLabel.objects.exists()


def test_a_release_is_planned_by_the_viewers_clock_shown_and_cancelled(sign_in, approved, reviewer):
    client = sign_in(reviewer)
    when = (timezone.now() + dt.timedelta(days=2)).replace(hour=20, minute=0)
    sent = move_form(when="later", due_at=f"{when:%Y-%m-%dT%H:%M}", due_at_offset="480")
    assert client.post(f"{PRODUCTION}move/?version=2", sent).status_code == 302
    planned = ScheduledRelease.objects.get()
    assert planned.due_at.astimezone(dt.UTC).hour == 12
    text = text_of(client.get(LABELS))
    assert "Planned releases" in text
    assert "Tried" in text
    again = client.post(f"{PRODUCTION}move/?version=2", sent)
    assert (again.status_code, "planned already" in text_of(again)) == (422, True)
    address = reverse("console:release_cancel", args=[sample.SLUG, planned.pk])
    assert client.get(address).status_code == 405
    for _ in range(2):
        client.post(address)
    planned.refresh_from_db()
    assert planned.state == "cancelled"
    assert "Cancelled" in text_of(client.get(LABELS))


def test_freezes_are_made_and_ended_by_those_who_may(sign_in, versions, operator, reviewer, make_user):
    harness = versions[0].harness
    own, everything = f"/harnesses/{sample.SLUG}/freezes/", "/releases/freezes/"
    tomorrow = timezone.now() + dt.timedelta(days=1)
    sent = {"starts_at": "", "ends_at": f"{tomorrow:%Y-%m-%dT%H:%M}", "ends_at_offset": "0", "reason": "Big sale"}
    assert sign_in(reviewer).post(own, sent).status_code == 403
    assert "Freeze releases of" not in text_of(sign_in(reviewer).get(everything))
    mine = sign_in(operator)
    assert mine.post(everything, sent).status_code == 403
    assert mine.post(own, sent).status_code == 302
    admin = sign_in(make_user(Role.ADMIN, username="ada"))
    assert admin.post(everything, {**sent, "reason": "Holidays"}).status_code == 302
    assert coming_freezes(harness).count() == 2
    assert "Big sale" not in text_of(admin.get(everything))
    assert "Big sale" in text_of(admin.get(own))
    freeze = coming_freezes(harness).get(harness=harness)
    ending = reverse("console:freeze_cancel", args=[freeze.pk])
    assert admin.post(ending).status_code == 404, "it is none of all harnesses"
    assert mine.post(ending, {"harness": sample.SLUG}).status_code == 302
    assert "Ended early" in text_of(mine.get(own))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ends_at": ""}, "required"),
        ({"ends_at": "x"}, "no date with a time"),
        ({"ends_at": "2020-01-01T00:00"}, "is over"),
        ({"starts_at": "2031-01-01T00:00"}, "ends before it starts"),
        ({"reason": ""}, "required"),
        ({"reason": "x" * 2001}, "2,001 characters"),
    ],
)
def test_freezes_that_make_no_sense_come_back(sign_in, versions, operator, changes, told):
    tomorrow = timezone.now() + dt.timedelta(days=1)
    sent = {"starts_at": "", "ends_at": f"{tomorrow:%Y-%m-%dT%H:%M}", "reason": "My reason", **changes}
    response = sign_in(operator).post(f"/harnesses/{sample.SLUG}/freezes/", sent)
    assert (response.status_code, told in text_of(response)) == (422, True)


def test_pages_of_a_harness_for_members_only_are_not_there_for_others(sign_in, approved, analyst):
    Harness.objects.update(access="members")
    client = sign_in(analyst)
    for address in (
        LABELS,
        f"{PRODUCTION}move/",
        f"{PRODUCTION}undo/",
        f"{PRODUCTION}history/",
        f"/harnesses/{sample.SLUG}/freezes/",
    ):
        assert client.get(address).status_code == 404, address
    for address in (f"{PRODUCTION}move/", f"{PRODUCTION}undo/", f"{PRODUCTION}protect/", f"{PRODUCTION}remove/"):
        assert client.post(address, move_form()).status_code == 404, address


def test_an_archived_harness_offers_no_moves(sign_in, approved, reviewer, operator):
    harness_archive(harness=approved[0].harness, acting_user=operator)
    client = sign_in(reviewer)
    text = text_of(client.get(f"{PRODUCTION}move/?version=2"))
    assert "The harness is archived." in text
    assert "Move production now" not in text
    assert client.post(f"{PRODUCTION}move/", move_form()).status_code == 422


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_release_and_its_undo_in_a_browser(approved, reviewer, operator):
    harness = approved[0].harness
    label_move(harness=harness, name="staging", version=approved[1], acting_user=operator)
    now = timezone.now()
    release_schedule(
        harness=harness,
        name="staging",
        version=approved[0],
        due_at=now + dt.timedelta(days=1),
        acting_user=operator,
    )
    with launched_browser() as browser, live_server() as url:
        visitor = open_visitor(browser, url, viewport=DESKTOP)
        visitor.log_in(reviewer.username, PASSWORD)
        page = visitor.page
        visitor.go(f"/harnesses/{sample.SLUG}/versions/2/")
        page.get_by_role("link", name="Release…").click()
        expect(page.get_by_text("Tool renamed: get_price → fetch_price (T1, preserving)")).to_be_visible()
        page.get_by_label("Why").fill("Tried on staging, all well")
        page.get_by_role("button", name="Move production now").click()
        expect(page.get_by_text("its name must be typed, and nothing was typed.")).to_be_visible()
        page.get_by_label("Type production to confirm").fill("production")
        page.get_by_role("button", name="Move production now").dblclick()
        expect(
            page.get_by_text("“production” is now at version 2.").or_(page.get_by_text("was already"))
        ).to_be_visible()
        assert label_moves(harness, "production").count() == 2
        page.get_by_role("link", name="Undo… the last move of production").click()
        page.get_by_role("button", name="Move production back to version 1").click()
        expect(page.get_by_text("“production” is at version 1 again.")).to_be_visible()
        visitor.go(f"{PRODUCTION}move/?version=2")
        page.get_by_label("Or later, at").fill("2031-06-01T20:00")
        expect(page.get_by_text("Asia/Shanghai; that is 2031-06-01 12:00 UTC")).to_be_visible()
        freeze_create(
            harness=None, starts_at=now, ends_at=now + dt.timedelta(hours=1), reason="Big sale", acting_user=None
        )
        for viewport in (DESKTOP, PHONE):
            page.set_viewport_size({"width": viewport["width"], "height": viewport["height"]})
            for address in (
                LABELS,
                f"{PRODUCTION}move/?version=2",
                f"{PRODUCTION}history/",
                f"/harnesses/{sample.SLUG}/freezes/",
            ):
                visitor.go(address)
                assert visitor.axe_violations() == [], address
                assert visitor.overflowing() == [], address
        assert visitor.problems == []
        visitor.context.close()
