"""Many at once, with real threads on the real database: whatever the order, the end is one that some order of them gives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from harnesses.models import DraftRevision, HarnessDraft, HarnessVersion, ReviewDecision, ScheduledRelease
from harnesses.selectors import label_moves, review_get
from harnesses.services import (
    draft_commit,
    draft_discard,
    draft_open,
    draft_save,
    harness_archive,
    harness_create,
    label_move,
    label_protect,
    member_remove,
    member_set,
    release_run_due,
    release_schedule,
    review_decide,
    review_renew,
    review_request,
    review_withdraw,
)
from ledger.core.roles import Role
from ledger.errors import Conflict, NotFound, TackroomError
from ledger.selectors import audit_list
from ledger.services import team_create, team_delete
from tests.harnesses.release_world import approve, commit, release
from tests.harnesses.samples import sample_document

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(jobs: Sequence[Callable[[], Any]], workers: int = 0) -> list[Any]:
    """What each job gave, or the error it raised on purpose; anything else is a bug and is raised here."""
    barrier = Barrier(min(workers or len(jobs), len(jobs)))

    def work(job: Callable[[], Any]) -> Any:
        try:
            if not workers:
                barrier.wait(20)
            return job()
        except TackroomError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=workers or len(jobs)) as pool:
        return list(pool.map(work, jobs))


def codes(results: list[Any]) -> set[str]:
    return {result.code for result in results if isinstance(result, TackroomError)}


@pytest.fixture
def second(make_user):
    return make_user(Role.REVIEWER, username="rosa", full_name="Rosa Reviewer")


@pytest.fixture
def harness(admin, world):
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=admin)


def test_fifty_drafts_committed_at_once_give_versions_without_a_gap(harness, operator, admin):
    first = commit(harness, operator, "First.")
    drafts = [
        draft_open(harness=harness, document=sample_document(rules=f"Rule {n}."), acting_user=operator)
        for n in range(50)
    ]
    jobs = [partial(draft_commit, draft=draft, revision=1, message="Mine", acting_user=operator) for draft in drafts]
    results = at_once(jobs, workers=20)
    won = [result for result in results if not isinstance(result, TackroomError)]
    assert len(won) == 1, "each began from version 1, so one goes through and the others must rebase"
    assert codes(results) == {"version_conflict"}
    assert list(HarnessVersion.objects.order_by("number").values_list("number", flat=True)) == [first.number, 2]
    assert HarnessDraft.objects.filter(state="open").count() == 49
    assert audit_list(action_prefix="harness.committed").count() == 2


def test_one_draft_saved_committed_and_discarded_at_once(harness, operator, admin):
    commit(harness, operator, "First.")
    for turn in range(4):
        draft = draft_open(harness=harness, document=sample_document(rules=f"Draft {turn}."), acting_user=operator)
        save = partial(draft_save, draft=draft, revision=1, acting_user=admin)
        jobs: list[Callable[[], Any]] = [
            *(partial(save, document=sample_document(rules=f"Save {turn} {n}.")) for n in range(3)),
            *[partial(draft_commit, draft=draft, revision=1, message="Go", acting_user=operator)] * 2,
            *[partial(draft_discard, draft=draft, acting_user=operator)] * 2,
        ]
        results = at_once(jobs)
        assert codes(results) <= {"stale_draft", "draft_closed", "version_conflict"}
        end = HarnessDraft.objects.get(pk=draft.pk)
        kept = DraftRevision.objects.get(draft=draft, revision=end.revision)
        assert kept.document == end.document, "what the draft holds is its last save"
        assert sum(getattr(result, "is_new", False) for result in results[:3]) <= 1
        if end.state == "committed":
            assert end.committed_version is not None
            assert end.committed_version.spec_hash == end.spec_hash
        new = {result.version.pk for result in results[3:5] if not isinstance(result, TackroomError)}
        assert len(new) == (end.state == "committed")


def test_an_approval_and_a_renewal_at_once_never_approve_what_nobody_saw(harness, operator, reviewer, second):
    commit(harness, operator, "First.")
    for turn in range(4):
        old = commit(harness, operator, f"Old {turn}.")
        review = review_request(version=old, acting_user=operator)
        newer_spec = partial(commit, harness, operator, f"Newer {turn}.")
        vote = partial(review_decide, review=review, verdict="approve", number=old.number)
        results = at_once(
            [partial(vote, acting_user=reviewer), partial(vote, acting_user=second), newer_spec, newer_spec]
        )
        assert codes(results) <= {"stale_review"}
        end = review_get(None, review.pk)
        assert (end.version.number, end.state) == (old.number + 1, "in_review")
        assert not ReviewDecision.objects.filter(review=review, version=end.version).exists()
        review_withdraw(review=end, acting_user=operator)


def test_one_person_approving_ten_times_at_once_is_one_approval(harness, operator, reviewer):
    version = commit(harness, operator, "First.")
    review = review_request(version=version, acting_user=operator)
    vote = partial(review_decide, review=review, verdict="approve", number=1, acting_user=reviewer)
    results = at_once([vote] * 10)
    assert codes(results) == set()
    assert ReviewDecision.objects.filter(review=review).count() == 1


def test_reviews_requested_and_renewed_at_once_leave_one_a_version(harness, operator, admin):
    versions = [commit(harness, operator, f"Rule {n}.") for n in range(3)]
    reviews = [review_request(version=version, acting_user=admin) for version in versions[:2]]
    jobs: list[Any] = [partial(review_renew, review=item, version=versions[2], acting_user=admin) for item in reviews]
    jobs += [partial(review_request, version=versions[2], acting_user=operator)] * 4
    results = at_once(jobs)
    assert codes(results) == {"review_active"}
    assert sum(not isinstance(result, TackroomError) for result in results) == 1


def test_two_schedule_runners_and_a_hand_move_the_label_once(harness, operator, reviewer, second, admin):
    versions = [commit(harness, operator, f"Rule {n}.") for n in range(3)]
    approve(versions[0], operator, reviewer, second)
    release(versions[0], reviewer)
    approve(versions[1], operator, reviewer, second)
    due = timezone.now() + dt.timedelta(seconds=60)
    plan = release_schedule(
        harness=harness,
        name="production",
        version=versions[1],
        due_at=due,
        reason="Now",
        confirm="production",
        acting_user=reviewer,
    )
    run = partial(release_run_due, now=due + dt.timedelta(seconds=1))
    finished = [item for result in at_once([run] * 6) for item in result]
    assert [item.pk for item in finished] == [plan.pk]
    assert ScheduledRelease.objects.get(pk=plan.pk).state == "succeeded"
    numbers = [move.to_version.number if move.to_version else None for move in label_moves(harness, "production")]
    assert numbers == [2, 1]
    assert audit_list(action_prefix="release.succeeded").count() == 1


def test_protection_and_moves_at_once_end_as_if_one_after_another(harness, operator, admin):
    versions = [commit(harness, operator, f"Rule {n}.") for n in range(8)]
    label_move(harness=harness, name="eu", version=versions[0], acting_user=operator)
    jobs: list[Any] = [
        partial(label_move, harness=harness, name="eu", version=version, acting_user=operator)
        for version in versions[1:]
    ]
    jobs.insert(3, partial(label_protect, harness=harness, name="eu", is_protected=True, acting_user=admin))
    results = at_once(jobs)
    assert codes(results) <= {"denied"}
    protected = audit_list(action_prefix="label.protected").get()
    moves = audit_list(action_prefix="label.moved")
    assert all(entry.pk < protected.pk for entry in moves), "nothing moved once it was protected"


def test_the_last_two_admins_removing_each_other_leave_one(harness, admin, make_user):
    other = make_user(Role.PLATFORM_ENGINEER, username="pia")
    member_set(harness=harness, kind="user", name="pia", role="admin", acting_user=admin)
    results = at_once(
        [
            partial(member_remove, harness=harness, kind="user", name="pia", acting_user=admin),
            partial(member_remove, harness=harness, kind="user", name="ada", acting_user=other),
        ]
    )
    assert sum(isinstance(result, Conflict) for result in results) == 1


def test_a_team_removed_while_it_is_given_a_role(harness, admin):
    for turn in range(4):
        team = team_create(slug=f"team-{turn}", name="Team", members=[], acting_user=None)
        give = partial(member_set, harness=harness, kind="team", name=team.slug, role="viewer", acting_user=admin)
        results = at_once([give, partial(team_delete, team=team, acting_user=admin), give])
        is_there = harness.members.filter(team__slug=team.slug).exists()
        assert is_there == isinstance(results[1], Conflict)
        assert all(
            not isinstance(item, TackroomError) or isinstance(item, NotFound) for item in (results[0], results[2])
        )


def test_saves_against_an_archive(harness, operator, admin):
    draft = draft_open(harness=harness, document=sample_document(), acting_user=operator)
    jobs: list[Any] = [
        partial(draft_save, draft=draft, revision=1, document=sample_document(rules=f"{n}"), acting_user=operator)
        for n in range(6)
    ]
    jobs.insert(3, partial(harness_archive, harness=harness, acting_user=admin))
    results = at_once(jobs)
    assert codes(results) <= {"stale_draft", "archived"}
    end = HarnessDraft.objects.get(pk=draft.pk)
    assert end.revision == 1 + sum(getattr(result, "is_new", False) for result in results)
