"""The history of a harness on its pages: the list of versions, blame, revert, forks, merging back."""

from __future__ import annotations

import re
from html import unescape

import pytest

from harnesses.core.editing import apply_edits
from harnesses.models import Harness, HarnessDraft, HarnessVersion
from harnesses.selectors import draft_spec, version_spec
from harnesses.services import draft_open, harness_commit, harness_fork, label_move, review_decide, review_request
from ledger.core.roles import Role
from ledger.models import AuditEntry
from tests.console import sample
from tests.console.conftest import SignIn

HARNESS = f"/harnesses/{sample.SLUG}"


def version(harness, number: int) -> HarnessVersion:
    return HarnessVersion.objects.select_related("harness").get(harness=harness, number=number)


def text(response) -> str:
    return unescape(response.content.decode())


def commit(harness, user, *edits: dict, message: str = "Next") -> HarnessVersion:
    """A further version, made by edits of the newest."""
    newest = version(harness, harness.version_count)
    spec = apply_edits(version_spec(newest), list(edits)).spec
    return harness_commit(harness=harness, spec=spec, message=message, acting_user=user).version


def body(section: str, words: str) -> dict:
    return {"op": "set", "kind": "prompt", "id": section, "fields": {"body": words}}


# --- the list ------------------------------------------------------------------------------------------------------------


def test_the_list_tells_where_each_version_stands(operator, reviewer, sign_in: SignIn, harness):
    review = review_request(version=version(harness, 2), message="", reviewers=[reviewer], acting_user=operator)
    label_move(harness=harness, name="staging", version=version(harness, 2), reason="", acting_user=operator)
    page = text(sign_in(operator).get(f"{HARNESS}/versions/"))
    assert page.index('id="v2"') < page.index('id="v1"')
    for words in ("Rename the price tool, shorter answers", "Olga Operator", "In review", "Candidate", ">staging<"):
        assert words in page
    assert f'href="/reviews/{review.pk}/"' in page
    assert version(harness, 2).spec_hash in page


def test_production_is_live_and_what_it_left_is_retired(operator, reviewer, make_user, sign_in: SignIn, harness):
    second = make_user(Role.REVIEWER, username="rosa")
    for number in (1, 2):
        review = review_request(version=version(harness, number), message="", reviewers=[], acting_user=operator)
        for person in (reviewer, second):
            review_decide(review=review, verdict="approve", reason="", number=number, acting_user=person)
        label_move(
            harness=harness,
            name="production",
            version=version(harness, number),
            reason="Ready.",
            confirm="production",
            acting_user=reviewer,
        )
    page = text(sign_in(operator).get(f"{HARNESS}/versions/"))
    newest, oldest = page.split('id="v1"')
    assert "Live" in newest
    assert "Retired" in oldest
    assert f"{HARNESS}/compare/?old=production&new=1" in page


def test_the_list_costs_the_same_for_few_and_for_many(
    operator, sign_in: SignIn, harness, django_assert_max_num_queries
):
    for number in range(12):
        commit(harness, operator, body("role", f"Words {number}."))
    client = sign_in(operator)
    client.get(f"{HARNESS}/versions/")
    with django_assert_max_num_queries(16):
        page = text(client.get(f"{HARNESS}/versions/"))
    assert 'id="v14"' in page


def test_a_viewer_is_offered_nothing_that_is_not_theirs(analyst, sign_in: SignIn, harness):
    page = text(sign_in(analyst).get(f"{HARNESS}/versions/"))
    for words in ("Revert to it", "Fork<", "Edit from here"):
        assert words not in page
    assert "What it changed" in page
    for address in ("versions/1/revert/", "versions/1/fork/", "merge/"):
        assert sign_in(analyst).get(f"{HARNESS}/{address}").status_code == 403


def test_a_version_is_taken_into_a_draft(operator, sign_in: SignIn, harness):
    response = sign_in(operator).post(f"{HARNESS}/drafts/start/", {"from_version": "1"})
    draft = HarnessDraft.objects.get()
    assert response["Location"] == f"{HARNESS}/drafts/{draft.pk}/"
    assert draft_spec(draft) == version_spec(version(harness, 1))


# --- blame ---------------------------------------------------------------------------------------------------------------


def test_each_component_tells_who_last_changed_it(operator, sign_in: SignIn, harness):
    commit(harness, operator, {"op": "set", "kind": "runtime", "fields": {"deadline_ms": 900}}, message="Quicker")
    page = text(sign_in(operator).get(f"{HARNESS}/versions/3/"))
    price = page[page.index('id="tool-price"') : page.index('id="tool-stock"')]
    assert f'href="{HARNESS}/compare/?old=1&new=2#c-tool-price"' in price
    assert re.search(
        r"Last changed in v2</a> by Olga Operator \(olga\), .*“Rename the price tool, shorter answers”", price
    )
    assert "There since" in page[page.index('id="tool-stock"') :]
    assert f'href="{HARNESS}/compare/?old=2&new=3#c-runtime-runtime"' in page


# --- revert --------------------------------------------------------------------------------------------------------------


def test_a_revert_shows_what_it_changes_and_makes_a_new_version(operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    page = text(client.get(f"{HARNESS}/versions/1/revert/"))
    assert "Tool renamed: fetch_price → get_price" in page
    assert "becomes version 3" in page
    response = client.post(
        f"{HARNESS}/versions/1/revert/", {"message": "Viewers were lost", "newest": "2"}, follow=True
    )
    assert "Version 3 is what version 1 was." in text(response)
    made = version(harness, 3)
    assert made.spec_hash == version(harness, 1).spec_hash
    assert made.message == "Viewers were lost"
    assert AuditEntry.objects.filter(action="harness.committed", reason="Viewers were lost").count() == 1


def test_a_revert_that_others_overtook_keeps_the_words_and_shows_the_newest(operator, sign_in: SignIn, harness):
    commit(harness, operator, body("role", "Meanwhile."))
    response = sign_in(operator).post(f"{HARNESS}/versions/1/revert/", {"message": "My words", "newest": "2"})
    page = text(response)
    assert response.status_code == 422
    assert "You started from version 2" in page
    assert "My words" in page
    assert '<input type="hidden" name="newest" value="3">' in page


def test_a_revert_to_the_newest_content_changes_nothing(operator, sign_in: SignIn, harness):
    response = sign_in(operator).post(f"{HARNESS}/versions/2/revert/", {"message": "x", "newest": "2"}, follow=True)
    assert "nothing was changed" in text(response)
    assert HarnessVersion.objects.count() == 2


@pytest.mark.parametrize(
    "sent",
    [{}, {"message": "", "newest": "2"}, {"message": "x" * 2001, "newest": "2"}, {"message": "x", "newest": "y"}],
)
def test_a_revert_without_its_fields_is_refused(operator, sign_in: SignIn, harness, sent):
    assert sign_in(operator).post(f"{HARNESS}/versions/1/revert/", sent).status_code == 422 or not sent
    assert HarnessVersion.objects.count() == 2


def test_an_archived_harness_is_not_reverted(operator, sign_in: SignIn, harness):
    Harness.objects.filter(pk=harness.pk).update(archived_at="2026-01-01T00:00Z")
    response = sign_in(operator).post(f"{HARNESS}/versions/1/revert/", {"message": "x", "newest": "2"})
    assert response.status_code == 422
    assert "is archived" in text(response)


# --- forks ---------------------------------------------------------------------------------------------------------------


def test_a_fork_begins_with_the_version_and_both_sides_know_of_each_other(operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    sent = {"title": "Night market", "slug": "night", "description": ""}
    response = client.post(f"{HARNESS}/versions/1/fork/", sent)
    assert response["Location"] == "/harnesses/night/"
    fork = Harness.objects.get(slug="night")
    assert fork.forked_from == version(harness, 1)
    assert version(fork, 1).spec_hash == version(harness, 1).spec_hash
    here, there = text(client.get(f"{HARNESS}/versions/")), text(client.get("/harnesses/night/versions/"))
    assert "was forked from version 1" in here
    assert f"{HARNESS}/merge/?source=night" in here
    assert "Forked from" in there
    assert f"/harnesses/night/merge/?source={sample.SLUG}" in there


@pytest.mark.parametrize(
    ("slug", "message"),
    [(sample.SLUG, "already"), ("No Slug", "cannot be a slug"), ("", "required"), ("a" * 65, "at most 64")],
)
def test_a_slug_that_cannot_be_is_told_at_its_field(operator, sign_in: SignIn, harness, slug, message):
    response = sign_in(operator).post(f"{HARNESS}/versions/1/fork/", {"title": "My title", "slug": slug})
    assert response.status_code == 422
    assert message in text(response)
    assert "My title" in text(response)


# --- merging back --------------------------------------------------------------------------------------------------------


@pytest.fixture
def fork(harness, operator):
    """A fork of version 2. Since then both reworded the role, and each changed something of its own."""
    made = harness_fork(version=version(harness, 2), slug="night", title="Night", acting_user=operator)
    commit(made, operator, body("role", "Theirs."), body("rules", "Never lie."))
    commit(harness, operator, body("role", "Ours."), {"op": "set", "kind": "runtime", "fields": {"deadline_ms": 900}})
    return made


def test_a_merge_shows_what_would_come_and_what_both_changed(operator, sign_in: SignIn, harness, fork):
    client = sign_in(operator)
    assert "Night (night)" in text(client.get(f"{HARNESS}/merge/"))
    page = text(client.get(f"{HARNESS}/merge/?source=night"))
    assert "Prompt section Your role, text" in page
    for words in ("Ours.", "Theirs.", "You help {{ host.name }}", "stream-host version 2, which both come from"):
        assert words in page
    assert "Text of Rules changed" in page
    assert not HarnessDraft.objects.exists()


@pytest.mark.parametrize(
    ("side", "role"), [("mine", "Ours."), ("theirs", "Theirs."), ("base", "You help"), ("x", "Ours.")]
)
def test_the_draft_holds_the_chosen_side_and_everything_else_of_both(
    operator, sign_in: SignIn, harness, fork, side, role
):
    sent = {"source": "night", "newest": "3", "choice-prompt:role:body": side}
    response = sign_in(operator).post(f"{HARNESS}/merge/", sent)
    draft = HarnessDraft.objects.get()
    assert response["Location"] == f"{HARNESS}/drafts/{draft.pk}/"
    spec = draft_spec(draft)
    assert spec.prompt[0].body.startswith(role)
    assert spec.prompt[1].body == "Never lie."
    assert spec.runtime.deadline_ms == 900
    assert harness.versions.count() == 3


def test_a_merge_that_a_commit_overtook_is_shown_again_with_the_choices_kept(operator, sign_in: SignIn, harness, fork):
    commit(harness, operator, body("now", "Later."))
    sent = {"source": "night", "newest": "3", "choice-prompt:role:body": "theirs"}
    response = sign_in(operator).post(f"{HARNESS}/merge/", sent)
    page = text(response)
    assert response.status_code == 422
    assert "was committed meanwhile" in page
    assert re.search(r'value="theirs" checked', page)
    assert '<input type="hidden" name="newest" value="4">' in page
    assert not HarnessDraft.objects.exists()


@pytest.mark.parametrize("source", ["nowhere", "night@99", "night@x", sample.SLUG, f"{sample.SLUG}@1", "@", "%00"])
def test_a_source_that_is_not_there_is_told_at_its_field(operator, sign_in: SignIn, harness, fork, source):
    client = sign_in(operator)
    for response in (
        client.get(f"{HARNESS}/merge/", {"source": source}),
        client.post(f"{HARNESS}/merge/", {"source": source, "newest": "3"}),
    ):
        assert response.status_code == 422
        assert 'role="alert"' in text(response)
    assert not HarnessDraft.objects.exists()


def test_nothing_to_merge_says_so(operator, sign_in: SignIn, harness):
    harness_fork(version=version(harness, 2), slug="night", title="Night", acting_user=operator)
    assert "There is nothing to merge" in text(sign_in(operator).get(f"{HARNESS}/merge/?source=night"))


def test_a_harness_without_relatives_can_be_given_a_source_by_name(operator, sign_in: SignIn, harness):
    page = text(sign_in(operator).get(f"{HARNESS}/merge/"))
    assert "The short name of the harness" in page
    assert draft_open(harness=harness, acting_user=operator).pk
