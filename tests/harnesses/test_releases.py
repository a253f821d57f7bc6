"""Planned releases and freeze windows: what may be planned, what happens when the time comes, and that it happens once."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import connections
from django.utils import timezone

from harnesses.models import ScheduledRelease
from harnesses.selectors import (
    coming_freezes,
    freeze_at,
    label_get,
    label_moves,
    release_get,
    release_list,
    scheduled_releases,
)
from harnesses.services import (
    freeze_cancel,
    freeze_create,
    harness_archive,
    harness_create,
    label_move,
    label_remove,
    label_undo,
    release_cancel,
    release_run_due,
    release_schedule,
    review_withdraw,
)
from harnesses.services import releases as releases_module
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, NotFound
from ledger.selectors import audit_list
from tests.harnesses.release_world import REASON, approve, three_versions

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def harness(admin, world):
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=admin)


@pytest.fixture
def versions(harness, operator, reviewer, make_user):
    return three_versions(harness, operator, reviewer, make_user(Role.REVIEWER, username="rosa"))


@pytest.fixture
def plan(harness, versions, reviewer):
    """`plan()` plans version 2 for production in an hour."""

    def make(**changes) -> ScheduledRelease:
        values = {
            "harness": harness,
            "name": "production",
            "version": versions[1],
            "due_at": timezone.now() + HOUR,
            "reason": REASON,
            "confirm": "production",
            "acting_user": reviewer,
        }
        return release_schedule(**{**values, **changes})

    return make


def run_at(release: ScheduledRelease, after: dt.timedelta = dt.timedelta()) -> ScheduledRelease:
    """Let its time come; gives the release as it is then."""
    release_run_due(now=release.due_at + after)
    return release_get(release.harness, release.pk)


def in_production(harness) -> int:
    return label_get(harness, "production").version.number


# --- planning --------------------------------------------------------------------------------------------------------


def test_a_plan_remembers_what_the_label_held_and_is_audited(plan, harness, reviewer):
    planned = plan()
    assert (planned.state, planned.expected_version.number, planned.version.number) == ("scheduled", 1, 2)
    entry = audit_list(action_prefix="release.scheduled").get()
    assert (entry.actor, entry.reason, entry.parent_id) == (reviewer, REASON, str(harness.pk))
    assert in_production(harness) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"due_at": timezone.now() - HOUR}, "due_at"),
        ({"due_at": timezone.now() + dt.timedelta(days=400)}, "due_at"),
        ({"due_at": dt.datetime(2030, 1, 1)}, "due_at"),
        ({"name": "v3"}, "label"),
        ({"confirm": ""}, "confirm"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 2001}, "reason"),
        ({"reason": "a\0"}, "reason"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_field(plan, changes, field):
    with pytest.raises(Invalid) as caught:
        plan(**changes)
    assert caught.value.field_errors[0].field == field
    assert not ScheduledRelease.objects.exists()


def test_now_is_not_later(plan, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(releases_module.timezone, "now", lambda: now)
    with pytest.raises(Invalid, match="is over"):
        plan(due_at=now)
    assert plan(due_at=now + dt.timedelta(microseconds=1)).state == "scheduled"


def test_a_label_has_one_plan_at_a_time(plan, versions):
    first = plan()
    with pytest.raises(Conflict) as caught:
        plan(version=versions[2])
    assert caught.value.code == "already_scheduled"
    release_cancel(release=first, acting_user=None)
    assert plan(version=versions[2]).version == versions[2]


def test_planning_takes_the_right_to_move(plan, harness, versions, operator, analyst):
    for person in (operator, analyst):
        with pytest.raises(Denied):
            plan(acting_user=person)
    assert plan(name="staging", acting_user=operator, confirm="", reason="").label_name == "staging"


def test_where_the_label_is_already_nothing_can_be_planned(plan, versions):
    with pytest.raises(Conflict) as caught:
        plan(version=versions[0])
    assert caught.value.code == "is_there"


# --- when the time comes ---------------------------------------------------------------------------------------------


def test_a_due_release_moves_the_label_in_the_planners_name(plan, harness, reviewer):
    done = run_at(plan())
    assert (done.state, done.failure, done.finished_at) == ("succeeded", "", done.due_at)
    move = label_moves(harness, "production")[0]
    assert (move.cause, move.moved_by, move.reason) == ("schedule", reviewer, REASON)
    assert in_production(harness) == 2
    assert audit_list(action_prefix="release.succeeded").get().after == {"state": "succeeded", "number": 2}


def test_a_release_waits_for_its_time_to_the_microsecond(plan, harness):
    planned = plan()
    assert release_run_due(now=planned.due_at - dt.timedelta(microseconds=1)) == []
    assert in_production(harness) == 1
    assert [item.pk for item in release_run_due(now=planned.due_at)] == [planned.pk]


def test_a_release_runs_once_however_often_it_is_asked(plan, harness, versions, reviewer):
    planned = plan()
    run_at(planned)
    label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer)
    assert release_run_due(now=planned.due_at + HOUR) == []
    assert in_production(harness) == 1


def test_a_release_that_was_late_because_nothing_ran_still_happens(plan, harness):
    assert run_at(plan(), after=dt.timedelta(days=3)).state == "succeeded"


def _moved_meanwhile(harness, versions, reviewer, admin, review):
    label_move(
        harness=harness,
        name="production",
        version=versions[1],
        reason="Now",
        confirm="production",
        acting_user=reviewer,
    )
    label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer)
    label_move(
        harness=harness,
        name="production",
        version=versions[1],
        reason="Now",
        confirm="production",
        acting_user=reviewer,
    )


def _approval_withdrawn(harness, versions, reviewer, admin, review):
    review_withdraw(review=review, acting_user=admin)


def _frozen(harness, versions, reviewer, admin, review):
    now = timezone.now()
    freeze_create(harness=None, starts_at=now, ends_at=now + 3 * HOUR, reason="Sale", acting_user=admin)


def _archived(harness, versions, reviewer, admin, review):
    harness_archive(harness=harness, acting_user=admin)


def _lost_role(harness, versions, reviewer, admin, review):
    reviewer.groups.set([Group.objects.get(name=Role.ANALYST)])


def _account_gone(harness, versions, reviewer, admin, review):
    reviewer.delete()


def _account_closed(harness, versions, reviewer, admin, review):
    reviewer.is_active = False
    reviewer.save()


@pytest.mark.parametrize(
    ("meanwhile", "failure"),
    [
        (_moved_meanwhile, "was at version 1"),
        (_approval_withdrawn, "needs the approval"),
        (_frozen, "frozen until"),
        (_archived, "archived"),
        (_lost_role, "may not release"),
        (_account_gone, "is gone"),
        (_account_closed, "There is no harness"),
    ],
)
def test_what_changed_meanwhile_makes_a_release_fail_and_say_why(
    plan, harness, versions, reviewer, admin, make_user, monkeypatch, meanwhile, failure
):
    Group.objects.get_or_create(name=Role.ANALYST)
    third = approve(versions[2], admin, reviewer)
    planned = plan(version=versions[2])
    meanwhile(harness, versions, reviewer, admin, third)
    before = in_production(harness)
    monkeypatch.setattr("harnesses.selectors.labels.timezone.now", lambda: planned.due_at)
    done = run_at(planned)
    assert (done.state, in_production(harness)) == ("failed", before)
    assert failure in done.failure
    assert failure in str(audit_list(action_prefix="release.failed").get().after)


def test_a_label_that_was_removed_or_made_meanwhile_fails_the_release(plan, harness, versions, operator):
    label_move(harness=harness, name="staging", version=versions[0], acting_user=operator)
    gone = plan(name="staging", acting_user=operator)
    label_remove(harness=harness, name="staging", acting_user=operator)
    assert "now it is gone" in run_at(gone).failure
    planned = plan(name="staging", acting_user=operator)
    label_move(harness=harness, name="staging", version=versions[0], acting_user=operator)
    assert "was not there" in run_at(planned).failure


def test_a_bug_in_one_release_leaves_it_scheduled_and_does_not_hold_up_others(
    plan, harness, versions, operator, monkeypatch, caplog
):
    broken, fine = plan(), plan(name="staging", acting_user=operator, due_at=timezone.now() + 2 * HOUR)
    move = releases_module.label_move

    def breaks(**values):
        if values["name"] == "production":
            raise RuntimeError("a bug")
        return move(**values)

    monkeypatch.setattr(releases_module, "label_move", breaks)
    assert [item.pk for item in release_run_due(now=fine.due_at)] == [fine.pk]
    assert release_get(harness, broken.pk).state == "scheduled"
    assert "a bug" in caplog.text
    monkeypatch.setattr(releases_module, "label_move", move)
    assert run_at(broken).state == "succeeded"


def test_beat_asks_for_due_releases_by_the_name_the_worker_knows(plan, harness, monkeypatch):
    planned = plan()
    entry = settings.CELERY_BEAT_SCHEDULE["run-due-releases"]
    current_app.loader.import_default_modules()
    monkeypatch.setattr("django.utils.timezone.now", lambda: planned.due_at)
    current_app.tasks[str(entry["task"])].apply(throw=True)
    assert (entry["schedule"], release_get(harness, planned.pk).state) == (15.0, "succeeded")


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_run_the_same_release_move_the_label_once(plan, harness):
    planned = plan()

    def work(_):
        try:
            return release_run_due(now=planned.due_at)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=6) as pool:
        finished = [item for run in pool.map(work, range(6)) for item in run]
    assert [item.pk for item in finished] == [planned.pk]
    assert label_moves(harness, "production").filter(cause="schedule").count() == 1
    assert audit_list(action_prefix="release.succeeded").count() == 1


# --- cancelling ------------------------------------------------------------------------------------------------------


def test_a_cancelled_release_does_not_run_and_is_cancelled_once(plan, harness, reviewer):
    planned = plan()
    release_cancel(release=planned, reason="Not today", acting_user=reviewer)
    assert release_cancel(release=planned, acting_user=reviewer).state == "cancelled"
    assert audit_list(action_prefix="release.cancelled").get().reason == "Not today"
    assert run_at(planned).state == "cancelled"
    assert in_production(harness) == 1


def test_what_has_run_cannot_be_cancelled_and_strangers_cancel_nothing(plan, harness, reviewer, operator):
    planned = plan()
    with pytest.raises(Denied):
        release_cancel(release=planned, acting_user=operator)
    run_at(planned)
    with pytest.raises(Conflict) as caught:
        release_cancel(release=planned, acting_user=reviewer)
    assert caught.value.code == "has_run"


@pytest.mark.parametrize("key", [0, -1, 10**30, "x", "1e3", "²"])
def test_a_release_that_is_not_there_is_not_found(harness, key):
    with pytest.raises(NotFound):
        release_get(harness, key)


def test_lists_tell_what_is_to_come(plan, harness, operator):
    later = plan(due_at=timezone.now() + 5 * HOUR)
    sooner = plan(name="staging", acting_user=operator)
    assert [item.pk for item in scheduled_releases(harness)] == [sooner.pk, later.pk]
    run_at(sooner)
    assert [item.pk for item in scheduled_releases(harness)] == [later.pk]
    assert release_list(harness).count() == 2


# --- freeze windows --------------------------------------------------------------------------------------------------


def test_a_freeze_is_on_from_its_first_moment_to_just_before_its_last(harness, admin):
    start = timezone.now() + HOUR
    freeze = freeze_create(harness=harness, starts_at=start, ends_at=start + HOUR, reason="Sale", acting_user=admin)
    tick = dt.timedelta(microseconds=1)
    assert [freeze_at(harness, moment) for moment in (start - tick, start + HOUR)] == [None, None]
    assert [freeze_at(harness, moment) for moment in (start, start + HOUR - tick)] == [freeze, freeze]


def test_a_freeze_of_all_holds_for_each_and_the_longest_is_told(harness, admin, world):
    other = harness_create(slug="winter", title="Winter", world=world, acting_user=admin)
    now = timezone.now()
    short = freeze_create(harness=harness, starts_at=now, ends_at=now + HOUR, reason="Short", acting_user=admin)
    everything = freeze_create(harness=None, starts_at=now, ends_at=now + 2 * HOUR, reason="Long", acting_user=admin)
    assert (freeze_at(harness, now), freeze_at(other, now)) == (everything, everything)
    assert list(coming_freezes(other)) == [everything]
    freeze_cancel(freeze=everything, acting_user=admin)
    assert (freeze_at(harness, now), freeze_at(other, now)) == (short, None)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ends_at": timezone.now() - HOUR}, "ends_at"),
        ({"starts_at": timezone.now() + 3 * HOUR}, "ends_at"),
        ({"ends_at": timezone.now() + dt.timedelta(days=500)}, "ends_at"),
        ({"starts_at": timezone.now() - dt.timedelta(days=500)}, "starts_at"),
        ({"starts_at": dt.datetime(2026, 1, 1)}, "starts_at"),
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 2001}, "reason"),
    ],
)
def test_a_freeze_that_makes_no_sense_is_refused_by_field(harness, admin, changes, field):
    now = timezone.now()
    values = {"starts_at": now, "ends_at": now + HOUR, "reason": "Sale"}
    with pytest.raises(Invalid) as caught:
        freeze_create(harness=harness, acting_user=admin, **{**values, **changes})
    assert caught.value.field_errors[0].field == field


def test_freezing_is_the_admins(harness, operator, reviewer, make_user):
    now = timezone.now()
    values: dict[str, Any] = {"starts_at": now, "ends_at": now + HOUR, "reason": "Sale"}
    for person in (operator, reviewer):
        for target in (harness, None):
            with pytest.raises(Denied):
                freeze_create(harness=target, acting_user=person, **values)
    freeze = freeze_create(harness=None, acting_user=None, **values)
    with pytest.raises(Denied):
        freeze_cancel(freeze=freeze, acting_user=reviewer)


def test_a_freeze_is_ended_once_and_audited(harness, admin):
    now = timezone.now()
    freeze = freeze_create(harness=harness, starts_at=now, ends_at=now + HOUR, reason="Sale", acting_user=admin)
    freeze_cancel(freeze=freeze, reason="Over", acting_user=admin)
    freeze_cancel(freeze=freeze, acting_user=admin)
    entries = audit_list(action_prefix="freeze")
    assert [(entry.action, entry.reason) for entry in entries] == [
        ("freeze.cancelled", "Over"),
        ("freeze.created", "Sale"),
    ]
    assert {entry.parent_id for entry in entries} == {str(harness.pk)}
