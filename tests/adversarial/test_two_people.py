"""Nobody brings their own work into production alone, by whatever road: the roads that were tried, each a test."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from harnesses.errors import ReleaseBlocked
from harnesses.models import Harness, HarnessLabel, ScheduledRelease
from harnesses.selectors import label_get, review_get
from harnesses.services import (
    draft_commit,
    draft_open,
    draft_save,
    drafts,
    harness_commit,
    harness_create,
    harness_fork,
    harness_import,
    harness_merge_from,
    harness_update,
    label_move,
    label_protect,
    label_remove,
    label_undo,
    member_set,
    release_run_due,
    release_schedule,
    review_decide,
    review_renew,
    review_request,
    version_revert,
)
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, TackroomError
from tests.harnesses.release_world import approve, commit, release
from tests.harnesses.samples import sample_document, sample_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(make_user):
    """Somebody who may do everything, and wants to do it alone."""
    return make_user(Role.ADMIN, username="boris", full_name="Boris Boss", is_superuser=True)


@pytest.fixture
def helper(make_user):
    return make_user(Role.OPERATOR, username="hedda", full_name="Hedda Helper")


@pytest.fixture
def harness(boss, world) -> Harness:
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=boss)


@pytest.fixture
def second(make_user):
    return make_user(Role.REVIEWER, username="rosa", full_name="Rosa Reviewer")


@pytest.fixture
def first(harness, helper, reviewer, second):
    """Version 1, by others, in production."""
    version = commit(harness, helper, "One.")
    approve(version, helper, reviewer, second)
    release(version, reviewer)
    return version


def in_production(harness) -> int:
    return label_get(harness, "production").version.number


def is_stuck(version, person) -> bool:
    """Whether somebody cannot release a version, and production stays where it was."""
    before = in_production(version.harness)
    with pytest.raises(ReleaseBlocked):
        release(version, person)
    return in_production(version.harness) == before


def decide(review, person):
    now = review_get(None, review.pk)
    return review_decide(review=now, verdict="approve", reason="Fine", number=now.version.number, acting_user=person)


def cannot_approve(version, requester, *people) -> bool:
    review = review_request(version=version, message="", reviewers=(), acting_user=requester)
    for person in people:
        with pytest.raises(Denied):
            decide(review, person)
    return True


def test_their_own_version_alone(first, harness, boss):
    mine = commit(harness, boss, "Mine.")
    assert is_stuck(mine, boss)
    assert cannot_approve(mine, boss, boss)
    assert is_stuck(mine, boss)


def test_with_the_review_asked_for_by_somebody_else(first, harness, boss, helper):
    mine = commit(harness, boss, "Mine.")
    assert cannot_approve(mine, helper, boss, helper)
    assert is_stuck(mine, boss)


def test_with_somebody_elses_version_on_top(first, harness, boss, helper):
    commit(harness, boss, "Mine.")
    document = sample_document(rules="Mine.", tool_name="fetch_price")
    top = harness_import(
        harness=harness, filename="h.json", data=json.dumps(document).encode(), message="Rename", acting_user=helper
    ).commit.version
    assert cannot_approve(top, helper, boss, helper)


def test_by_a_draft_that_somebody_else_commits(first, harness, boss, helper):
    draft = draft_open(harness=harness, acting_user=boss)
    saved = draft_save(draft=draft, document=sample_document(rules="Mine."), revision=1, acting_user=boss)
    version = draft_commit(draft=draft, revision=saved.draft.revision, message="Theirs", acting_user=helper).version
    assert version.author_id == helper.pk
    assert cannot_approve(version, helper, boss, helper)


def test_by_a_draft_that_began_with_what_they_brought(first, harness, boss, helper):
    draft = draft_open(harness=harness, document=sample_document(rules="Mine."), acting_user=boss)
    version = draft_commit(draft=draft, revision=1, message="Theirs", acting_user=helper).version
    assert cannot_approve(version, helper, boss, helper)


def test_by_going_back_to_what_they_wrote(first, harness, boss, helper, reviewer):
    mine = commit(harness, boss, "Mine.")
    back = version_revert(version=first, message="No.", acting_user=helper).version
    approve(back, helper, reviewer)
    release(back, reviewer)
    again = version_revert(version=mine, message="Yes.", acting_user=helper).version
    assert again.author_id == helper.pk
    assert cannot_approve(again, helper, boss, helper)


def test_by_a_fork_that_somebody_else_merges_back(first, harness, boss, helper):
    fork = harness_fork(version=first, slug="winter", title="Winter", acting_user=boss)
    mine = harness_commit(harness=fork, spec=sample_spec(rules="Mine."), message="Mine", acting_user=boss).version
    draft = harness_merge_from(harness=harness, version=mine, acting_user=helper).draft
    version = draft_commit(draft=draft, revision=draft.revision, message="Merge", acting_user=helper).version
    assert cannot_approve(version, helper, boss, helper)


def test_a_fork_has_no_production_and_brings_none(first, harness, boss):
    fork = harness_fork(version=first, slug="winter", title="Winter", acting_user=boss)
    assert not HarnessLabel.objects.filter(harness=fork).exists()
    with pytest.raises(ReleaseBlocked):
        release(fork.versions.get(number=1), boss)


def test_by_moving_an_approved_review_on_to_their_own_version(first, harness, boss, helper, reviewer):
    good = commit(harness, helper, "Good.")
    review = approve(good, helper, reviewer)
    mine = commit(harness, boss, "Mine.")
    renewed = review_renew(review=review_get(None, review.pk), version=mine, acting_user=boss)
    assert renewed.state == "in_review"
    assert is_stuck(mine, boss)
    with pytest.raises(Denied):
        decide(renewed, boss)


def test_by_taking_the_protection_off(first, harness, boss):
    mine = commit(harness, boss, "Mine.")
    with pytest.raises(Conflict, match="stays protected"):
        label_protect(harness=harness, name="production", is_protected=False, acting_user=boss)
    with pytest.raises(Conflict):
        label_remove(harness=harness, name="production", acting_user=boss)
    with pytest.raises(IntegrityError), transaction.atomic():
        HarnessLabel.objects.filter(harness=harness).update(is_protected=False)
    assert is_stuck(mine, boss)


def test_by_a_label_that_is_protected_after_the_move_only_that_label(first, harness, boss):
    mine = commit(harness, boss, "Mine.")
    label_move(harness=harness, name="eu", version=mine, acting_user=boss)
    label_protect(harness=harness, name="eu", is_protected=True, acting_user=boss)
    assert is_stuck(mine, boss)


def test_by_undoing_and_undoing_again(first, harness, boss, helper, reviewer):
    second = commit(harness, helper, "Two.")
    approve(second, helper, reviewer)
    release(second, reviewer)
    mine = commit(harness, boss, "Mine.")
    for number in (1, 2, 1):
        label_undo(harness=harness, name="production", reason="Hm", confirm="production", acting_user=boss)
        assert in_production(harness) == number
    assert is_stuck(mine, boss)


def test_by_a_plan_whose_ground_shifts(first, harness, boss, helper, reviewer):
    mine = commit(harness, boss, "Mine.")
    due = timezone.now() + dt.timedelta(seconds=30)
    plan = release_schedule(
        harness=harness,
        name="production",
        version=mine,
        due_at=due,
        reason="Tonight",
        confirm="production",
        acting_user=boss,
    )
    harness_update(harness=harness, min_approvals=1, acting_user=boss)
    release_run_due(now=due + dt.timedelta(seconds=1))
    assert ScheduledRelease.objects.get(pk=plan.pk).state == "failed"
    assert in_production(harness) == 1


def test_by_lowering_what_is_asked(first, harness, boss):
    mine = commit(harness, boss, "Mine.")
    counts: tuple[Any, ...] = (0, -1, True, "0", 1.0)
    for count in counts:
        with pytest.raises(Invalid):
            harness_update(harness=harness, min_approvals=count, acting_user=boss)
    harness_update(harness=harness, min_approvals=1, acting_user=boss)
    assert is_stuck(mine, boss)


LOOK_ALIKES = (
    *("Production", "production ", " production", "production\n", "PRODUCTION"),
    *("prоduction", "ｐroduction", "production\u200b", "produc\u0131on"),
)


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_no_label_looks_like_production(first, harness, boss, name):
    mine = commit(harness, boss, "Mine.")
    with pytest.raises(Invalid):
        label_move(harness=harness, name=name, version=mine, acting_user=boss)
    assert in_production(harness) == 1


def test_with_approvals_of_people_made_reviewers_for_it(first, harness, boss, helper):
    """An admin may make somebody a reviewer; but it is that person who approves, and not one who wrote it."""
    mine = commit(harness, boss, "Mine.")
    member_set(harness=harness, kind="user", name=helper.username, role="reviewer", acting_user=boss)
    review = review_request(version=mine, message="", reviewers=(), acting_user=boss)
    assert decide(review, helper).state == "approved"


def test_a_reviewer_who_lost_the_role_or_the_account_cannot_decide(first, harness, boss, reviewer):
    mine = commit(harness, boss, "Mine.")
    review = review_request(version=mine, message="", reviewers=[reviewer.username], acting_user=boss)
    groups = list(reviewer.groups.all())
    reviewer.groups.clear()
    with pytest.raises(TackroomError):
        decide(review, reviewer)
    reviewer.groups.set(groups)
    type(reviewer).objects.filter(pk=reviewer.pk).update(is_active=False)
    with pytest.raises(TackroomError):
        decide(review, reviewer)
    assert is_stuck(mine, boss)


def test_by_an_older_version_that_holds_their_work(first, harness, boss, helper, reviewer):
    """Production is past it already, and went without it: the authors are still those of what comes back."""
    mine = commit(harness, boss, "Mine.")
    on_top = harness_commit(
        harness=harness, spec=sample_spec(rules="Mine.", tool_name="ask_price"), message="Rename", acting_user=helper
    ).version
    back = version_revert(version=first, message="No.", acting_user=helper).version
    approve(back, helper, reviewer)
    release(back, reviewer)
    assert mine.number < on_top.number < in_production(harness)
    assert cannot_approve(on_top, helper, boss, helper)


def test_by_another_hand_on_top_before_anything_was_released(harness, boss, helper):
    for rules in ("Mine.", "Mine too."):
        commit(harness, boss, rules)
    spec = sample_spec(rules="Mine too.", tool_name="ask_price")
    top = harness_commit(harness=harness, spec=spec, message="Rename", acting_user=helper).version
    assert cannot_approve(top, helper, boss, helper)


def test_by_a_label_that_was_protected_with_their_work_in_it(first, harness, boss, helper):
    mine = commit(harness, boss, "Mine.")
    label_move(harness=harness, name="eu", version=mine, acting_user=boss)
    label_protect(harness=harness, name="eu", is_protected=True, acting_user=boss)
    spec = sample_spec(rules="Mine.", tool_name="ask_price")
    top = harness_commit(harness=harness, spec=spec, message="Rename", acting_user=helper).version
    review = review_request(version=top, message="", reviewers=(), acting_user=helper)
    with pytest.raises(Denied):
        decide(review, boss)
    with pytest.raises(ReleaseBlocked):
        release(top, boss, name="eu", confirm="eu")


def test_by_so_many_saves_that_theirs_is_forgotten(first, harness, boss, helper, monkeypatch):
    monkeypatch.setattr(drafts, "MAX_REVISIONS_KEPT", 5)
    draft = draft_open(harness=harness, acting_user=helper)
    draft = draft_save(draft=draft, document=sample_document(rules="Mine."), revision=1, acting_user=boss).draft
    for number in range(10):
        document = sample_document(rules=f"Mine. {number}")
        draft = draft_save(draft=draft, document=document, revision=draft.revision, acting_user=helper).draft
    assert draft.revisions.count() == 6, "the newest five, and the one save of somebody else"
    version = draft_commit(draft=draft, revision=draft.revision, message="All mine", acting_user=helper).version
    assert cannot_approve(version, helper, boss, helper)


def test_what_was_released_is_nobodys_own_any_more(first, harness, helper, make_user, second):
    """Or else whoever ever wrote a line could never review again."""
    both = make_user(Role.OPERATOR, Role.REVIEWER, username="bo", full_name="Bo Both")
    theirs = commit(harness, both, "Two.")
    approve(theirs, both, second)
    release(theirs, second)
    top = commit(harness, helper, "Three.")
    assert decide(approve(top, helper), both).state == "approved"
    assert release(top, second).is_moved
