"""Labels: what they may be called, who moves them under which conditions, and that no race gets past a rule."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from harnesses.core.labels import label_name_problem
from harnesses.core.release import MoveFacts, release_blockers
from harnesses.errors import ReleaseBlocked, StaleLabel
from harnesses.models import Harness, HarnessLabel, LabelMove
from harnesses.selectors import label_get, label_list, label_moves, label_preview, resolve_label, version_export
from harnesses.services import (
    freeze_create,
    harness_archive,
    harness_create,
    harness_import,
    harness_unarchive,
    label_move,
    label_protect,
    label_remove,
    label_undo,
    review_withdraw,
)
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, NotFound
from ledger.selectors import audit_list
from tests.harnesses.release_world import REASON, approve, commit, release

pytestmark = pytest.mark.django_db


@pytest.fixture
def harness(admin, world) -> Harness:
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=admin)


@pytest.fixture
def versions(harness, operator):
    """Three versions, none of them approved."""
    return [commit(harness, operator, rules) for rules in ("One.", "Two.", "Three.")]


@pytest.fixture
def second_reviewer(make_user):
    return make_user(Role.REVIEWER, username="rosa", full_name="Rosa Reviewer")


@pytest.fixture
def released(versions, operator, reviewer, second_reviewer):
    """`production` at version 1, then at 2, each approved."""
    for version in versions[:2]:
        approve(version, operator, reviewer, second_reviewer)
        release(version, reviewer)
    return versions


def stage(harness, version, acting_user, **changes):
    values = {"harness": harness, "name": "staging", "version": version, "acting_user": acting_user}
    return label_move(**{**values, **changes})


def holds(harness, name):
    return label_get(harness, name).version.number


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["production", "staging", "a", "autumn-sale", "a" * 40, "q3", "test2-b", "v3-candidate"]
)
def test_names_that_say_what_a_label_is_for_are_taken(name):
    assert label_name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "3",
        "v3",
        "V3",
        "v-3",
        "version3",
        "r12",
        "1.2",
        "v1.2",
        "latest",
        "newest",
        "a/b",
        "生产",
        "a" * 41,
        "A",
        "-a",
        "a b",
        "a\n",
        "a\0",
        "prod_uction",
        "\ud800",
        "a@b",
        "..",
        "²",
        "v٣",
    ],
)
def test_names_that_no_label_can_have_are_refused_with_a_mend(harness, versions, operator, name):
    problem = label_name_problem(name)
    assert problem is not None
    assert problem.message
    assert problem.mend
    with pytest.raises(Invalid) as caught:
        stage(harness, versions[0], operator, name=name)
    assert (caught.value.field_errors[0].field, caught.value.field_errors[0].code) == ("label", "bad_label")
    assert not HarnessLabel.objects.exists()


@given(st.text())
def test_every_text_is_a_name_or_has_a_problem_that_can_be_told(name):
    problem = label_name_problem(name)
    if problem is None:
        assert name.isascii()
        assert 1 <= len(name) <= 40
        assert not name.isdigit()
    else:
        problem.message.encode("utf-8")


# --- moving ----------------------------------------------------------------------------------------------------------


def test_an_unprotected_label_is_made_and_moved_by_editors(harness, versions, operator):
    made = stage(harness, versions[0], operator)
    moved = stage(harness, versions[2], operator, reason="Try it")
    assert (made.label.revision, moved.label.revision, moved.is_moved) == (1, 2, True)
    assert (holds(harness, "staging"), label_get(harness, "staging").is_protected) == (3, False)
    moves = label_moves(harness).values_list("from_version__number", "to_version__number", "reason")
    assert list(moves) == [(1, 3, "Try it"), (None, 1, "")]


def test_a_move_is_audited_as_a_part_of_the_harness(harness, versions, operator):
    stage(harness, versions[0], operator)
    stage(harness, versions[1], operator, reason="Try it")
    entry = audit_list(action_prefix="label.moved")[0]
    assert (entry.object_type, entry.object_label, entry.reason) == ("label", "autumn@staging", "Try it")
    assert (entry.parent_type, entry.parent_id) == ("harness", str(harness.pk))
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["number"], entry.after["number"]) == (1, 2)


def test_a_move_that_comes_twice_is_done_once(harness, versions, operator):
    stage(harness, versions[0], operator, expected_revision=0)
    again = stage(harness, versions[0], operator, expected_revision=0)
    assert (again.is_moved, again.label.revision) == (False, 1)
    assert label_moves(harness).count() == audit_list(action_prefix="label").count() == 1


@pytest.mark.parametrize("sent", [0, 1, 3, 99])
def test_a_move_from_an_older_look_is_refused(harness, versions, operator, sent):
    stage(harness, versions[0], operator)
    stage(harness, versions[1], operator)
    with pytest.raises(StaleLabel, match="version 2") as caught:
        stage(harness, versions[2], operator, expected_revision=sent)
    assert caught.value.problem_members == {"revision": 2}
    assert holds(harness, "staging") == 2
    assert stage(harness, versions[2], operator, expected_revision=2).is_moved


def test_a_version_of_another_harness_is_refused(harness, versions, operator, world):
    other = harness_create(slug="winter", title="Winter", world=world, acting_user=operator)
    theirs = commit(other, operator, "Cold.")
    with pytest.raises(Invalid) as caught:
        stage(harness, theirs, operator)
    assert (caught.value.field_errors[0].field, caught.value.field_errors[0].code) == ("number", "other_harness")
    assert not HarnessLabel.objects.exists()


def test_the_database_refuses_a_version_of_another_harness(harness, versions, operator, world):
    other = harness_create(slug="winter", title="Winter", world=world, acting_user=operator)
    theirs = commit(other, operator, "Cold.")
    with pytest.raises(DatabaseError, match="label_version_of_same_harness"), transaction.atomic():
        HarnessLabel.objects.create(harness=harness, name="staging", version=theirs)


def test_people_without_the_right_move_nothing(harness, versions, analyst, reviewer):
    for person in (analyst, reviewer):
        with pytest.raises(Denied):
            stage(harness, versions[0], person)
    assert not HarnessLabel.objects.exists()


def test_a_harness_for_members_only_is_not_there_for_others(harness, versions, ml_engineer):
    Harness.objects.filter(pk=harness.pk).update(access="members")
    with pytest.raises(NotFound):
        stage(harness, versions[0], ml_engineer)
    with pytest.raises(NotFound):
        resolve_label(ml_engineer, "autumn", "staging")


def test_an_archived_harness_keeps_its_labels_where_they_are(harness, versions, operator, admin):
    stage(harness, versions[0], operator)
    harness_archive(harness=harness, acting_user=admin)
    for change in (
        lambda: stage(harness, versions[1], operator),
        lambda: label_remove(harness=harness, name="staging", acting_user=operator),
        lambda: label_protect(harness=harness, name="staging", is_protected=True, acting_user=admin),
    ):
        with pytest.raises(Conflict) as caught:
            change()
        assert caught.value.code == "archived"
    assert resolve_label(operator, "autumn", "staging").version.number == 1
    harness_unarchive(harness=harness, acting_user=admin)
    assert stage(harness, versions[1], operator).is_moved


def test_importing_and_committing_move_no_label(harness, versions, operator):
    stage(harness, versions[2], operator)
    filename, data = version_export(versions[0])
    outcome = harness_import(harness=harness, filename=filename, data=data, message="Back", acting_user=operator)
    assert outcome.commit.is_new
    assert (holds(harness, "staging"), label_moves(harness).count()) == (3, 1)


# --- protected labels ------------------------------------------------------------------------------------------------


def test_production_takes_the_right_to_release_an_approval_its_name_and_a_reason(
    harness, versions, operator, reviewer, second_reviewer
):
    first = versions[0]
    with pytest.raises(Denied):
        release(first, operator)
    with pytest.raises(Invalid) as caught:
        release(first, reviewer, confirm="Production")
    assert caught.value.field_errors[0].field == "confirm"
    with pytest.raises(Invalid) as caught:
        release(first, reviewer, reason=" ")
    assert caught.value.field_errors[0].field == "reason"
    with pytest.raises(ReleaseBlocked) as blocked:
        release(first, reviewer)
    assert [item.code for item in blocked.value.blockers] == ["not_approved"]
    approve(first, operator, reviewer, second_reviewer)
    result = release(first, reviewer)
    assert (result.label.is_protected, result.move.is_protected, result.move.moved_by) == (True, True, reviewer)


def test_how_many_must_approve_is_asked_against_what_the_label_holds_now(
    released, harness, operator, reviewer, second_reviewer
):
    third = released[2]
    approve(third, operator, reviewer)
    Harness.objects.filter(pk=harness.pk).update(min_approvals=2)
    with pytest.raises(ReleaseBlocked, match="2 people"):
        release(third, reviewer)
    Harness.objects.filter(pk=harness.pk).update(min_approvals=1)
    assert release(third, reviewer).is_moved


def test_an_approval_stops_to_count_where_its_giver_wrote_a_part_of_what_would_now_be_released(
    harness, operator, reviewer, second_reviewer, admin, make_user
):
    author = make_user(Role.ADMIN, username="both")
    first, second = commit(harness, operator, "One."), commit(harness, author, "Two.")
    approve(first, admin, reviewer, second_reviewer)
    approve(second, admin, reviewer)
    release(first, reviewer)
    release(second, reviewer)
    third = commit(harness, operator, "Three.")
    approve(third, operator, author)
    assert label_preview(harness, "production", third, reviewer).blockers == ()
    label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer)
    with pytest.raises(ReleaseBlocked, match="it has none"):
        release(third, reviewer)


def test_a_withdrawn_approval_no_longer_counts(released, operator, reviewer):
    review = approve(released[2], operator, reviewer)
    review_withdraw(review=review, reason="Not yet", acting_user=operator)
    with pytest.raises(ReleaseBlocked, match="approval"):
        release(released[2], reviewer)


def test_going_back_to_what_it_held_needs_no_approval_and_passes_a_freeze(released, harness, reviewer, admin):
    now = timezone.now()
    freeze_create(
        harness=harness,
        starts_at=now - dt.timedelta(hours=1),
        ends_at=now + dt.timedelta(hours=1),
        reason="The big sale",
        acting_user=admin,
    )
    with pytest.raises(ReleaseBlocked, match="The big sale") as caught:
        release(released[2], reviewer)
    assert [item.code for item in caught.value.blockers] == ["not_approved", "frozen"]
    assert release(released[0], reviewer).is_moved
    assert holds(harness, "production") == 1


def test_what_a_label_held_before_it_was_protected_is_no_way_around_the_review(
    harness, versions, operator, reviewer, admin
):
    for version in (versions[0], versions[1]):
        stage(harness, version, operator)
    label_protect(harness=harness, name="staging", is_protected=True, acting_user=admin)
    with pytest.raises(ReleaseBlocked, match="Version 1 needs the approval"):
        release(versions[0], reviewer, name="staging", confirm="staging")
    approve(versions[2], operator, reviewer)
    release(versions[2], reviewer, name="staging", confirm="staging")
    assert release(versions[1], reviewer, name="staging", confirm="staging").is_moved, (
        "it was held when protection began"
    )


def test_protection_is_the_admins_and_keeps_a_label_from_being_removed(released, harness, operator, reviewer, admin):
    for person in (operator, reviewer):
        with pytest.raises(Denied):
            label_protect(harness=harness, name="production", is_protected=False, acting_user=person)
    with pytest.raises(Conflict, match="protected"):
        label_remove(harness=harness, name="production", acting_user=admin)
    with pytest.raises(Conflict, match="stays protected"):
        label_protect(harness=harness, name="production", is_protected=False, acting_user=admin)
    stage(harness, released[0], operator)
    for is_protected in (True, True, False, False):
        label_protect(harness=harness, name="staging", is_protected=is_protected, reason="Retire it", acting_user=admin)
    assert audit_list(action_prefix="label.unprotected").count() == 1
    label_remove(harness=harness, name="staging", acting_user=admin)
    assert [label.name for label in label_list(harness)] == ["production"]


def test_a_removed_label_can_be_made_again_and_its_history_goes_on(harness, versions, operator):
    stage(harness, versions[0], operator)
    label_remove(harness=harness, name="staging", reason="Done", acting_user=operator)
    with pytest.raises(NotFound, match="none yet"):
        resolve_label(operator, "autumn", "staging")
    assert stage(harness, versions[1], operator, expected_revision=0).label.revision == 3
    assert [move.cause for move in label_moves(harness, "staging")] == ["move", "remove", "move"]


# --- undo ------------------------------------------------------------------------------------------------------------


def test_undo_goes_back_to_the_previous_holder_and_undoing_that_goes_forward(released, harness, reviewer):
    undone = label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer)
    assert (undone.label.version.number, label_moves(harness)[0].cause) == (1, "undo")
    assert audit_list(action_prefix="label.undone").count() == 1
    again = label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer)
    assert again.label.version.number == 2


def test_the_same_undo_sent_twice_is_done_once(released, harness, reviewer):
    values = {"harness": harness, "name": "production", "confirm": "production", "acting_user": reviewer}
    first = label_undo(**values, expected_revision=2)
    second = label_undo(**values, expected_revision=2)
    assert (first.is_moved, second.is_moved, holds(harness, "production")) == (True, False, 1)


def test_an_undo_from_an_older_look_is_refused(released, harness, reviewer):
    release(released[0], reviewer)
    with pytest.raises(StaleLabel):
        label_undo(harness=harness, name="production", confirm="production", acting_user=reviewer, expected_revision=2)


def test_there_is_no_undo_of_a_first_move_or_without_rights(harness, versions, operator, analyst):
    with pytest.raises(NotFound):
        label_undo(harness=harness, name="staging", acting_user=operator)
    stage(harness, versions[0], operator)
    with pytest.raises(Conflict) as caught:
        label_undo(harness=harness, name="staging", acting_user=operator)
    assert caught.value.code == "nothing_to_undo"
    stage(harness, versions[1], operator)
    with pytest.raises(Denied):
        label_undo(harness=harness, name="staging", acting_user=analyst)


# --- what a page and a program may ask ------------------------------------------------------------------------------


def test_a_preview_tells_what_is_replaced_what_is_required_and_what_blocks(released, harness, operator, reviewer):
    preview = label_preview(harness, "production", released[2], reviewer)
    assert (preview.held, preview.base, preview.version) == (released[1], released[1], released[2])
    assert [item.change.kind for item in preview.risk.changes] == ["prompt"]
    assert (preview.is_protected, preview.is_rollback, preview.is_current) == (True, False, False)
    assert (preview.required_approvals, preview.approvals.approved_by) == (1, ())
    assert [item.code for item in preview.blockers] == ["not_approved"]
    approve(released[2], operator, reviewer)
    assert label_preview(harness, "production", released[2], reviewer).blockers == ()


def test_a_preview_of_a_label_that_is_still_to_be_made_compares_with_the_parent(harness, versions, operator):
    preview = label_preview(harness, "staging", versions[1], operator)
    assert (preview.held, preview.base) == (None, versions[0])
    assert (preview.is_protected, preview.required_approvals) == (False, 0)
    assert preview.blockers == ()


def test_the_list_tells_since_when_by_whom_and_from_where(released, harness, operator):
    stage(harness, released[2], operator)
    labels: list[Any] = list(label_list(harness))
    production, staging = labels
    assert (production.name, production.version.number, production.moved_from) == ("production", 2, 1)
    assert (production.moved_by_name, production.move_reason) == ("Rui Reviewer (rui)", REASON)
    assert (staging.name, staging.moved_from, staging.moved_at <= timezone.now()) == ("staging", None, True)


def test_the_rules_of_a_blocked_move_are_told_all_at_once():
    facts = MoveFacts(
        label_name="production",
        number=7,
        is_protected=True,
        is_archived=True,
        may_move=False,
        was_held_before=False,
        approvals=1,
        required_approvals=2,
        frozen_until=dt.datetime(2026, 12, 24, 18, tzinfo=dt.UTC),
        freeze_reason="Holidays",
    )
    blockers = release_blockers(facts)
    assert [item.code for item in blockers] == ["archived", "denied", "not_approved", "frozen"]
    assert "2026-12-24 18:00 UTC (Holidays)" in blockers[3].message
    assert all(item.message and item.mend for item in blockers)


# --- races -----------------------------------------------------------------------------------------------------------


def _in_threads(jobs):
    """Run jobs at once, each on a connection of its own; gives what each returned or raised."""

    def work(job):
        try:
            return job()
        except (Conflict, Denied, Invalid, NotFound) as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(jobs)) as pool:
        return list(pool.map(work, jobs))


@pytest.mark.django_db(transaction=True)
def test_twenty_moves_at_once_against_an_archive(harness, operator, admin):
    versions = [commit(harness, operator, f"Rule {n}.") for n in range(1, 21)]
    jobs: list[Any] = [partial(stage, harness, version, operator) for version in versions]
    jobs.insert(10, partial(harness_archive, harness=harness, acting_user=admin))
    results = _in_threads(jobs)
    moved = [result for result in results if getattr(result, "is_moved", False)]
    refused = [result for result in results if isinstance(result, Conflict)]
    assert len(moved) + len(refused) == 20
    assert {error.code for error in refused} <= {"archived"}
    moves = list(label_moves(harness).order_by("id"))
    assert len(moves) == len(moved)
    assert [move.from_version_id for move in moves] == [None, *(move.to_version_id for move in moves[:-1])][
        : len(moves)
    ]
    archived = audit_list(action_prefix="harness.archived").get()
    assert all(entry.pk < archived.pk for entry in audit_list(action_prefix="label.moved"))
    if moves:
        label = label_get(harness, "staging")
        assert (label.version_id, label.revision) == (moves[-1].to_version_id, len(moves))


@pytest.mark.django_db(transaction=True)
def test_twenty_moves_from_the_same_look_let_one_through(harness, operator):
    versions = [commit(harness, operator, f"Rule {n}.") for n in range(1, 21)]
    results = _in_threads([partial(stage, harness, version, operator, expected_revision=0) for version in versions])
    assert sum(getattr(result, "is_moved", False) for result in results) == 1
    assert sum(isinstance(result, StaleLabel) for result in results) == 19
    assert LabelMove.objects.count() == HarnessLabel.objects.count() == 1
