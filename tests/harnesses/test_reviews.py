"""Reviewing versions: who may ask, who may decide, when an approval counts, and what happens at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from harnesses.core.lifecycle import Lifecycle
from harnesses.core.membership import HarnessRole
from harnesses.core.parsing import spec_from_document
from harnesses.models import Harness, HarnessMember, LabelMove, Review, ReviewDecision
from harnesses.selectors import (
    review_list,
    review_options,
    review_progress,
    reviewers_of,
    suggested_reviewers,
    version_lifecycles,
    version_reviews,
    waiting_count,
)
from harnesses.services import (
    draft_open,
    draft_save,
    harness_archive,
    harness_create,
    review_decide,
    review_renew,
    review_request,
    review_withdraw,
    thread_open,
    thread_reopen,
    thread_reply,
    thread_resolve,
)
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, NotFound
from ledger.selectors import audit_list
from ledger.services import team_create, user_set_roles
from tests.harnesses.review_steps import commit, decide, fresh, policy_spec, release
from tests.harnesses.samples import sample_document, sample_spec

pytestmark = pytest.mark.django_db

ODD_TEXTS = ["改得更清楚了 ✅🧵", "‮שלום‬ مرحبا", "línea\r\notra", "<script>alert(1)</script> {{ 7*7 }}"]


@pytest.fixture
def harness(operator, world):
    """Two versions: between them a section is reworded, which asks for one reviewer."""
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    commit(made, sample_spec(), operator)
    commit(made, sample_spec(rules="Answer in two sentences."), operator)
    return made


@pytest.fixture
def second_reviewer(make_user):
    return make_user(Role.REVIEWER, username="rosa", full_name="Rosa Reviewer")


@pytest.fixture
def newest(harness):
    return harness.versions.get(number=2)


@pytest.fixture
def review(newest, operator, reviewer):
    return review_request(version=newest, message="Please look", reviewers=[reviewer], acting_user=operator)


def refused(code, attempt, *, error=Conflict):
    with pytest.raises(error) as caught:
        attempt()
    assert caught.value.code == code
    return caught.value


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_request_compares_with_the_parent_and_asks_what_the_risk_does(review, newest, reviewer, operator):
    assert (review.state, review.base_version, review.required_approvals) == ("in_review", newest.parent, 1)
    assert list(review.reviewers.all()) == [reviewer]
    entry = audit_list(action_prefix="review.requested").get()
    assert (entry.actor, entry.object_label, entry.reason) == (operator, "autumn v2", "Please look")
    assert (entry.parent_type, entry.parent_id) == ("harness", str(review.harness_id))
    assert entry.after == {
        "state": "in_review",
        "number": 2,
        "base_number": 1,
        "required_approvals": 1,
        "reviewers": ["rui"],
    }


def test_a_request_compares_with_what_production_holds(harness, operator):
    release(harness, harness.versions.get(number=1))
    third = commit(harness, policy_spec("Never promise a price."), operator)
    review = review_request(version=third, acting_user=operator)
    assert (review.base_version, review.required_approvals) == (harness.versions.get(number=1), 2)


def test_the_first_version_is_compared_with_nothing(harness, operator):
    review = review_request(version=harness.versions.get(number=1), acting_user=operator)
    assert (review.base_version, review.required_approvals) == (None, 2)


def test_the_harness_can_ask_for_more_than_the_risk(harness, newest, operator):
    Harness.objects.filter(pk=harness.pk).update(min_approvals=3)
    assert review_request(version=newest, acting_user=operator).required_approvals == 3


def test_a_version_is_reviewed_once_at_a_time(review, newest, operator, second_reviewer):
    problem = refused("review_active", lambda: review_request(version=newest, acting_user=operator))
    assert f"number {review.pk}" in problem.detail
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.create(
            harness=newest.harness, version=newest, required_approvals=1, requested_by_name="somebody"
        )


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.ANALYST])
def test_asking_takes_the_right_to_edit(newest, make_user, role):
    with pytest.raises(Denied, match="edit"):
        review_request(version=newest, acting_user=make_user(role))


def test_versions_of_an_archived_harness_are_not_reviewed(harness, review, operator, reviewer, newest):
    thread = thread_open(review=review, body="Why?", acting_user=reviewer)
    harness_archive(harness=harness, acting_user=operator)
    attempts = [
        lambda: review_request(version=harness.versions.get(number=1), acting_user=operator),
        lambda: decide(review, reviewer),
        lambda: review_renew(review=review, version=newest, acting_user=operator),
        lambda: thread_open(review=review, body="More", acting_user=reviewer),
        lambda: thread_reply(thread=thread, body="More", acting_user=reviewer),
        lambda: thread_resolve(thread=thread, acting_user=reviewer),
    ]
    for attempt in attempts:
        refused("archived", attempt)
    assert review_withdraw(review=review, acting_user=operator).state == "withdrawn"


def test_people_who_cannot_review_are_not_asked(newest, operator, analyst, reviewer):
    names = [reviewer, "anton", "olga", "nobody", "a\0b", "\ud800", "x" * 5000]
    problem = refused(
        "invalid", lambda: review_request(version=newest, reviewers=names, acting_user=operator), error=Invalid
    )
    assert {error.field for error in problem.field_errors} == {"reviewers"}
    assert len(problem.field_errors) == 6
    assert not Review.objects.exists()


def test_not_everybody_is_asked_at_once(newest, operator):
    names = [f"person-{number}" for number in range(21)]
    problem = refused(
        "invalid", lambda: review_request(version=newest, reviewers=names, acting_user=operator), error=Invalid
    )
    assert problem.field_errors[0].code == "too_many"


# --- deciding --------------------------------------------------------------------------------------------------------


def test_one_approval_is_enough_where_one_is_asked_for(review, reviewer):
    assert decide(review, reviewer).state == "approved"
    progress = review_progress(fresh(review))
    assert (progress.approved_by, progress.required, progress.missing) == (("Rui Reviewer (rui)",), 1, 0)
    entry = audit_list(action_prefix="review.approved").get()
    before, after = entry.before or {}, entry.after or {}
    assert (before["state"], after["state"], after["approvals"]) == ("in_review", "approved", 1)
    assert entry.reason == "Because"


def test_two_people_must_approve_what_changes_the_right_answer(harness, operator, reviewer, second_reviewer):
    commit(harness, policy_spec("Never promise a price."), operator)
    review = review_request(version=harness.versions.get(number=3), acting_user=operator)
    assert decide(review, reviewer).state == "in_review"
    assert decide(review, second_reviewer).state == "approved"


def test_the_same_person_twice_is_one_approval(harness, operator, reviewer):
    commit(harness, policy_spec("Never promise a price."), operator)
    review = review_request(version=harness.versions.get(number=3), acting_user=operator)
    for _ in range(3):
        assert decide(review, reviewer).state == "in_review"
    assert ReviewDecision.objects.count() == 1
    assert audit_list(action_prefix="review.approved").count() == 1
    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewDecision.objects.create(
            review=review, version=review.version, reviewer=reviewer, reviewer_name="rui", verdict="approve"
        )


def test_one_rejection_ends_the_review_and_says_why(review, reviewer, second_reviewer):
    rejected = decide(review, reviewer, "reject", reason="Two sentences are too long.")
    assert (rejected.state, rejected.closed_at is not None) == ("rejected", True)
    refused("review_closed", lambda: decide(review, second_reviewer))
    assert audit_list(action_prefix="review.rejected").get().reason == "Two sentences are too long."


def test_an_approval_can_be_turned_into_a_rejection_and_not_back(review, reviewer):
    decide(review, reviewer)
    assert decide(review, reviewer, "reject").state == "rejected"
    refused("review_closed", lambda: decide(review, reviewer, "approve"))
    assert review_progress(fresh(review)).approved_by == ()


@pytest.mark.parametrize("reason", ["", "   \n"])
def test_a_rejection_without_a_reason_is_refused(review, reviewer, reason):
    problem = refused("invalid", lambda: decide(review, reviewer, "reject", reason=reason), error=Invalid)
    assert problem.field_errors[0].field == "reason"


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"verdict": "maybe"}, "verdict"), ({"reason": "a\0b"}, "reason"), ({"reason": "x" * 2001}, "reason")],
)
def test_a_decision_that_makes_no_sense_is_refused_by_field(review, reviewer, changes, field):
    problem = refused("invalid", lambda: decide(review, reviewer, **changes), error=Invalid)
    assert [error.field for error in problem.field_errors] == [field]


def test_a_decision_about_a_version_that_is_no_longer_the_one_is_refused(review, harness, operator, reviewer):
    commit(harness, sample_spec(rules="Answer in three sentences."), operator)
    problem = refused("stale_review", lambda: decide(review, reviewer, number=2))
    assert "moved on to version 3" in problem.detail
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.ML_ENGINEER, Role.ANALYST])
def test_deciding_takes_the_right_to_review(review, make_user, role):
    with pytest.raises(Denied, match="review"):
        decide(review, make_user(role))


def test_a_role_that_was_lost_meanwhile_decides_nothing(review, reviewer):
    assert review_options(review, reviewer).can_approve
    stale = type(reviewer).objects.get(pk=reviewer.pk)
    assert stale.has_perm("tackroom.review_harness")
    user_set_roles(user=reviewer, roles=["viewer"], acting_user=None)
    with pytest.raises(Denied, match="review"):
        decide(review, stale)


def test_the_platform_itself_decides_nothing(review):
    with pytest.raises(Denied, match="by a person"):
        decide(review, None)


# --- nobody decides on their own work --------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_who_asked_does_not_decide_whatever_their_role(newest, make_user, verdict):
    root = make_user(Role.ADMIN, username="root", is_superuser=True)
    review = review_request(version=newest, acting_user=root)
    refused("own_change", lambda: decide(review, root, verdict), error=Denied)
    assert not review_options(fresh(review), root).can_approve


def test_an_author_on_the_way_does_not_decide_either(harness, operator, make_user, reviewer):
    author = make_user(Role.ADMIN, username="ada")
    commit(harness, sample_spec(rules="By Ada."), author)
    fourth = commit(harness, sample_spec(rules="By Olga."), operator)
    release(harness, harness.versions.get(number=2))
    review = review_request(version=fourth, acting_user=operator)
    refused("own_change", lambda: decide(review, author), error=Denied)
    assert decide(review, reviewer).state == "approved"


def test_an_author_of_what_was_released_may_decide_on_what_comes_after(harness, operator, make_user):
    author = make_user(Role.ADMIN, username="ada")
    release(harness, commit(harness, sample_spec(rules="By Ada."), author))
    fourth = commit(harness, sample_spec(rules="By Olga."), operator)
    review = review_request(version=fourth, acting_user=operator)
    assert decide(review, author).state == "approved"


def test_who_edited_the_draft_does_not_decide_though_another_committed_it(harness, operator, make_user):
    from harnesses.services import draft_commit

    editor = make_user(Role.ADMIN, username="ada")
    draft = draft_open(harness=harness, acting_user=operator)
    draft_save(draft=draft, document=sample_document(rules="By Ada."), revision=1, acting_user=editor)
    version = draft_commit(draft=draft, revision=2, message="Hers", acting_user=operator).version
    review = review_request(version=version, acting_user=operator)
    refused("own_change", lambda: decide(review, editor), error=Denied)
    assert waiting_count(editor) == 0


# --- withdrawing and moving on ---------------------------------------------------------------------------------------


def test_who_asked_takes_it_back_once_and_asks_again(review, newest, operator):
    withdrawn = review_withdraw(review=review, reason="Not yet", acting_user=operator)
    again = review_withdraw(review=review, acting_user=operator)
    assert (withdrawn.state, again.state) == ("withdrawn", "withdrawn")
    assert audit_list(action_prefix="review.withdrawn").get().reason == "Not yet"
    assert review_request(version=newest, acting_user=operator).pk != review.pk


def test_others_do_not_take_it_back_unless_they_manage_the_harness(review, reviewer, ml_engineer, platform_engineer):
    for person in (reviewer, ml_engineer):
        with pytest.raises(Denied):
            review_withdraw(review=review, acting_user=person)
    assert review_withdraw(review=review, acting_user=platform_engineer).state == "withdrawn"


def test_a_commit_of_who_asked_moves_the_review_on_and_approvals_no_longer_count(review, harness, operator, reviewer):
    decide(review, reviewer)
    third = commit(harness, policy_spec("Never promise a price."), operator)
    moved = fresh(review)
    assert (moved.state, moved.version, moved.required_approvals) == ("in_review", third, 2)
    progress = review_progress(moved)
    assert (progress.approvals, len(progress.earlier), progress.waiting_for) == (0, 1, (reviewer,))
    entry = audit_list(action_prefix="review.renewed").get()
    before, after = entry.before or {}, entry.after or {}
    assert (before["number"], after["number"], before["state"]) == (2, 3, "approved")


def test_a_commit_of_another_person_leaves_the_review_until_somebody_moves_it(review, harness, operator, ml_engineer):
    third = commit(harness, sample_spec(rules="By Mei."), ml_engineer)
    assert fresh(review).version.number == 2
    assert review_options(fresh(review), ml_engineer).newer == third
    moved = review_renew(review=review, version=third, message="Now with Mei's part", acting_user=ml_engineer)
    assert (moved.version, moved.message) == (third, "Now with Mei's part")
    assert review_renew(review=review, version=third, acting_user=ml_engineer).pk == review.pk
    assert audit_list(action_prefix="review.renewed").count() == 1


def test_an_unchanged_commit_moves_nothing(review, harness, operator, reviewer):
    decide(review, reviewer)
    commit(harness, sample_spec(rules="Answer in two sentences."), operator)
    assert fresh(review).state == "approved"


def test_who_becomes_an_author_is_no_longer_asked(harness, newest, operator, make_user):
    engineer = make_user(Role.ADMIN, username="ada")
    review = review_request(version=newest, reviewers=[engineer], acting_user=operator)
    third = commit(harness, sample_spec(rules="By Ada."), engineer)
    review_renew(review=review, version=third, acting_user=operator)
    assert not review.reviewers.exists()
    refused("own_change", lambda: decide(review, engineer), error=Denied)


def test_a_rejected_review_goes_on_with_a_newer_version(review, harness, operator, reviewer):
    decide(review, reviewer, "reject")
    third = commit(harness, sample_spec(rules="Shorter."), operator)
    assert fresh(review).version.number == 2, "a rejected review follows no commit by itself"
    moved = review_renew(review=review, version=third, acting_user=operator)
    assert (moved.state, moved.closed_at) == ("in_review", None)
    assert decide(review, reviewer).state == "approved"


def test_a_review_moves_on_to_newer_versions_of_its_harness_alone(review, harness, operator, newest, world):
    other = harness_create(slug="other", title="Other", world=world, acting_user=operator)
    elsewhere = commit(other, sample_spec(), operator)
    first = harness.versions.get(number=1)
    for version, code in ((elsewhere, "other_harness"), (first, "not_newer")):
        with pytest.raises(Invalid) as caught:
            review_renew(review=review, version=version, acting_user=operator)
        assert [(error.field, error.code) for error in caught.value.field_errors] == [("number", code)]


def test_a_review_does_not_move_on_to_a_version_under_review(review, harness, ml_engineer, operator):
    third = commit(harness, sample_spec(rules="By Mei."), ml_engineer)
    review_request(version=third, acting_user=ml_engineer)
    assert review_options(fresh(review), operator).newer is None
    refused("review_active", lambda: review_renew(review=review, version=third, acting_user=operator))


def test_of_two_reviews_of_one_person_the_newer_follows_the_commit(review, harness, ml_engineer, operator):
    third = commit(harness, sample_spec(rules="By Mei."), ml_engineer)
    newer = review_request(version=third, acting_user=operator)
    commit(harness, sample_spec(rules="By Olga."), operator)
    assert (fresh(review).version.number, fresh(newer).version.number) == (2, 4)


def test_the_review_of_a_released_version_stays_with_it(review, harness, operator, reviewer):
    decide(review, reviewer)
    release(harness, review.version)
    third = commit(harness, sample_spec(rules="Shorter."), operator)
    assert (fresh(review).version.number, fresh(review).state) == (2, "approved")
    assert review_options(fresh(review), operator).newer is None
    refused("released", lambda: review_renew(review=review, version=third, acting_user=operator))
    assert review_request(version=third, acting_user=operator).pk != review.pk


# --- at once ---------------------------------------------------------------------------------------------------------


def at_once(*works):
    def run(work):
        try:
            return work()
        except (Conflict, Denied) as error:
            return error.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(works)) as pool:
        return list(pool.map(run, works))


@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once_make_it_approved_where_two_are_asked_for(harness, operator, reviewer, second_reviewer):
    third = commit(harness, policy_spec("Never promise a price."), operator)
    review = review_request(version=third, acting_user=operator)
    clicks = [lambda person=person: decide(review, person).state for person in (reviewer, second_reviewer) * 3]
    assert set(at_once(*clicks)) <= {"in_review", "approved"}
    assert (fresh(review).state, ReviewDecision.objects.count()) == ("approved", 2)
    assert audit_list(action_prefix="review.approved").count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_once_one_is_made(newest, operator):
    results = at_once(*[lambda: review_request(version=newest, acting_user=operator).state] * 8)
    assert sorted(results) == ["in_review", *["review_active"] * 7]
    assert Review.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_approval_and_a_commit_at_once_leave_no_approval_of_the_wrong_version(harness, review, operator, reviewer):
    spec = sample_spec(rules="Meanwhile.")
    at_once(lambda: decide(review, reviewer, number=2).state, lambda: commit(harness, spec, operator).number)
    moved = fresh(review)
    assert (moved.state, moved.version.number, review_progress(moved).approvals) == ("in_review", 3, 0)


# --- threads ---------------------------------------------------------------------------------------------------


def test_a_line_is_talked_about_resolved_and_reopened(review, reviewer, operator):
    thread = thread_open(
        review=review,
        body="Why two?",
        component_kind="prompt",
        component_id="rules",
        field="body",
        line=1,
        acting_user=reviewer,
    )
    assert (thread.quote, thread.version) == ("Answer in two sentences.", review.version)
    thread_reply(thread=thread, body="Viewers asked.", acting_user=operator)
    for _ in range(2):
        resolved = thread_resolve(thread=thread, acting_user=operator)
    assert (resolved.resolved_by, resolved.resolved_by_name) == (operator, "Olga Operator (olga)")
    assert thread_reopen(thread=thread, acting_user=reviewer).resolved_at is None
    actions = list(audit_list(object_type="review", object_id=review.pk).values_list("action", flat=True))[::-1]
    assert actions == [
        "review.requested",
        "review.commented",
        "review.commented",
        "review.thread_resolved",
        "review.thread_reopened",
    ]
    counted: Any = review_list(None).get()
    assert (counted.comment_count, counted.open_threads) == (2, 1)


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"component_id": "rules"}, "component_id"),
        ({"line": 1}, "line"),
        ({"component_kind": "nonsense", "component_id": "rules"}, "component_kind"),
        ({"component_kind": "tool", "component_id": "rules"}, "component_id"),
        ({"component_kind": "prompt", "component_id": "rules\0"}, "component_id"),
        ({"component_kind": "runtime", "component_id": "x"}, "component_id"),
        ({"component_kind": "prompt", "component_id": "rules", "line": 1}, "line"),
        ({"component_kind": "prompt", "component_id": "rules", "field": "bodies"}, "field"),
        ({"component_kind": "prompt", "component_id": "rules", "field": "body", "line": 0}, "line"),
        ({"component_kind": "prompt", "component_id": "rules", "field": "body", "line": 2}, "line"),
        ({"component_kind": "prompt", "component_id": "rules", "field": "body", "line": 10**30}, "line"),
    ],
)
def test_a_place_that_is_not_there_is_refused_by_field(review, reviewer, place, field):
    with pytest.raises(Invalid) as caught:
        thread_open(review=review, body="Here", acting_user=reviewer, **place)
    assert [error.field for error in caught.value.field_errors] == [field]


@pytest.mark.parametrize("text", ["", "  ", "x" * 100_000, "a\0b", "\ud800"])
def test_a_comment_that_cannot_be_kept_is_refused(review, reviewer, text):
    with pytest.raises(Invalid) as caught:
        thread_open(review=review, body=text, acting_user=reviewer)
    assert [error.field for error in caught.value.field_errors] == ["body"]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_comments_of_every_script_are_kept(review, reviewer, text):
    thread = thread_open(review=review, body=text, acting_user=reviewer)
    assert thread.comments.get().body == text.replace("\r\n", "\n")


def test_a_component_that_the_version_leaves_out_can_be_talked_about(harness, operator, reviewer):
    document = sample_document(rules="Answer in two sentences.")
    document["tools"] = []
    review = review_request(version=commit(harness, spec_from_document(document), operator), acting_user=operator)
    place: dict[str, Any] = {"component_kind": "tool", "component_id": "price", "field": "name", "line": 1}
    assert thread_open(review=review, body="Missed!", acting_user=reviewer, **place).quote == "get_price"


def test_a_double_click_says_it_once(review, reviewer, operator):
    threads = {thread_open(review=review, body="Same", acting_user=reviewer).pk for _ in range(3)}
    thread = review.threads.get(pk=threads.pop())
    assert not threads
    for _ in range(2):
        thread_reply(thread=thread, body="Same", acting_user=operator)
    assert thread.comments.count() == 2


def test_readers_do_not_comment(review, analyst):
    with pytest.raises(Denied, match="not comment"):
        thread_open(review=review, body="Hm", acting_user=analyst)


# --- reading ---------------------------------------------------------------------------------------------------------


def test_a_review_waits_for_those_who_can_decide_and_did_not(review, newest, operator, reviewer, second_reviewer):
    assert [waiting_count(person) for person in (reviewer, second_reviewer, operator)] == [1, 0, 0]
    review.reviewers.clear()
    assert [waiting_count(person) for person in (reviewer, second_reviewer, operator)] == [1, 1, 0]
    Harness.objects.filter(pk=newest.harness_id).update(min_approvals=2)
    decide(review, reviewer)
    assert [waiting_count(person) for person in (reviewer, second_reviewer)] == [0, 1]


def test_reviews_of_a_harness_for_members_only_are_hidden_from_others(harness, review, reviewer, operator):
    Harness.objects.filter(pk=harness.pk).update(access="members")
    assert not review_list(reviewer).exists()
    assert review_list(operator).get() == review
    with pytest.raises(NotFound):
        decide(review, reviewer)
    HarnessMember.objects.create(harness=harness, user=reviewer, role=HarnessRole.REVIEWER)
    assert decide(review, reviewer).state == "approved"


def test_reviewers_are_found_by_role_membership_and_team(harness, make_user, operator, reviewer, second_reviewer):
    outsider = make_user(username="omar")
    team_member = make_user(username="tess")
    make_user(Role.REVIEWER, username="gone").__class__.objects.filter(username="gone").update(is_active=False)
    HarnessMember.objects.create(harness=harness, user=outsider, role=HarnessRole.REVIEWER)
    team = team_create(slug="night", name="Night", members=["tess"], acting_user=make_user(Role.ADMIN, username="ada"))
    HarnessMember.objects.create(harness=harness, team=team, role=HarnessRole.ENGINEER)
    names = {user.username for user in reviewers_of(harness)}
    assert names == {"rui", "rosa", "omar", "olga", "ada"}  # olga made it: she is its admin
    HarnessMember.objects.filter(team=team).update(role=HarnessRole.REVIEWER)
    assert team_member in reviewers_of(harness)
    Harness.objects.filter(pk=harness.pk).update(access="members")
    harness.refresh_from_db()
    assert {user.username for user in reviewers_of(harness)} == {"omar", "tess", "olga", "ada"}


def test_suggestions_begin_with_those_who_know_the_change(
    harness, review, operator, reviewer, second_reviewer, make_user
):
    talker = make_user(Role.REVIEWER, username="zoe")
    make_user(Role.REVIEWER, username="abe")
    decide(review, second_reviewer)
    thread_open(review=review, body="Hm", component_kind="prompt", component_id="rules", acting_user=talker)
    third = commit(harness, sample_spec(rules="Answer in three sentences."), operator)
    suggested = suggested_reviewers(third, requested_by=operator)
    assert [(item.user.username, item.reason) for item in suggested] == [
        ("zoe", "spoke about Rules"),
        ("rosa", "reviewed version 2"),
        ("abe", ""),
        ("rui", ""),
    ]


def test_versions_know_their_review_and_their_life_in_few_queries(
    harness, review, newest, operator, reviewer, django_assert_num_queries
):
    decide(review, reviewer, "reject")
    again = review_request(version=newest, acting_user=operator)
    third = commit(harness, sample_spec(rules="x"), operator)
    release(harness, newest)
    first = harness.versions.get(number=1)
    LabelMove.objects.create(
        harness=harness, label_name="production", to_version=first, is_protected=True, moved_by_name="olga"
    )
    versions = [first, newest, third]
    with django_assert_num_queries(1):
        reviews = version_reviews(harness, versions)
    with django_assert_num_queries(2):
        lives = version_lifecycles(harness, versions)
    assert {key: value.pk for key, value in reviews.items()} == {newest.pk: review.pk, third.pk: again.pk}
    assert [lives[version.pk] for version in versions] == [Lifecycle.RETIRED, Lifecycle.LIVE, Lifecycle.CANDIDATE]


def test_lists_of_reviews_take_one_query_however_long(harness, operator, reviewer, django_assert_num_queries):
    for number in range(6):
        version = commit(harness, sample_spec(rules=f"Rule {number}."), operator)
        review = review_request(version=version, acting_user=operator)
        decide(review, reviewer, "approve" if number == 5 else "reject")
    with django_assert_num_queries(1):
        listed: list[Any] = list(review_list(None))
        rows = [(row.harness.slug, row.state, row.approval_count, row.base_version.number) for row in listed]
    assert rows[-1] == ("autumn", "rejected", 0, 2)
    assert [row[2] for row in rows if row[1] == "approved"] == [1]


def test_a_deleted_account_leaves_its_approval(review, reviewer):
    decide(review, reviewer)
    reviewer.delete()
    assert review_progress(fresh(review)).approved_by == ("Rui Reviewer (rui)",)
    counted: Any = review_list(None).get()
    assert counted.approval_count == 1


def test_decide_reads_the_review_afresh(review, reviewer, operator):
    stale = fresh(review)
    review_withdraw(review=review, acting_user=operator)
    refused(
        "review_closed",
        lambda: review_decide(review=stale, verdict="approve", number=2, acting_user=reviewer),
    )
