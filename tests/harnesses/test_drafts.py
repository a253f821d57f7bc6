"""Drafts against the real database: nothing that was typed is lost, whoever types at the same time."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from harnesses import presence
from harnesses.core.parsing import spec_from_document
from harnesses.errors import InvalidHarness, StaleDraft
from harnesses.models import DraftRevision, HarnessDraft
from harnesses.selectors import (
    draft_document,
    draft_get,
    draft_list,
    draft_merge,
    draft_spec,
    harness_get,
    revision_list,
    version_list,
    version_spec,
)
from harnesses.services import (
    draft_commit,
    draft_discard,
    draft_open,
    draft_rebase,
    draft_reopen,
    draft_restore,
    draft_save,
    harness_archive,
    harness_commit,
    harness_create,
)
from harnesses.services.drafts import MAX_REVISIONS_KEPT
from ledger.errors import Conflict, Denied, Invalid, NotFound, TackroomError, TooLarge
from ledger.selectors import audit_list
from tests.harnesses.samples import broken_document, many_tools, sample_document, sample_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    harness_commit(harness=made, spec=sample_spec(), message="First", acting_user=operator)
    return made


@pytest.fixture
def draft(harness, operator):
    return draft_open(harness=harness, acting_user=operator)


@pytest.fixture
def save(draft, operator):
    def write(rules="Be kind.", revision=None, acting_user=operator, **values):
        values = values or {"document": sample_document(rules=rules)}
        current = draft_get(draft.harness, draft.pk)
        revision = current.revision if revision is None else revision
        return draft_save(draft=current, revision=revision, acting_user=acting_user, **values)

    return write


def base_number(draft) -> Any:
    return draft.base_version.number


def actions(draft):
    return [entry.action for entry in audit_list(object_type="draft", object_id=draft.pk)][::-1]


# --- opening ---------------------------------------------------------------------------------------------------------


def test_a_draft_begins_with_the_newest_version(draft, operator):
    assert (draft.name, base_number(draft), draft.revision) == ("Changes to version 1", 1, 1)
    assert draft_spec(draft) == sample_spec()
    entry = audit_list(object_type="draft").get()
    assert (entry.action, entry.parent_type, entry.parent_id) == ("draft.opened", "harness", str(draft.harness_id))
    assert entry.actor == operator


def test_a_draft_of_an_empty_harness_is_empty(operator, world):
    harness = harness_create(slug="new-one", title="New", world=world, acting_user=operator)
    draft = draft_open(harness=harness, acting_user=operator)
    assert (draft.name, draft.base_version) == ("First version", None)
    assert draft_document(draft)["tools"] == []


def test_a_draft_may_begin_with_an_older_version_or_with_other_content(harness, operator):
    harness_commit(harness=harness, spec=sample_spec(rules="Be kind."), message="", acting_user=operator)
    older = version_list("autumn").get(number=1)
    draft = draft_open(harness=harness, from_version=older, name="  Back to one ", acting_user=operator)
    assert (base_number(draft), draft.name) == (1, "Back to one")
    other = draft_open(harness=harness, document=sample_document(rules="Sing."), acting_user=operator)
    assert (base_number(other), draft_spec(other).prompt[0].body) == (2, "Sing.")


def test_what_cannot_be_opened_is_refused(harness, operator, reviewer, world):
    with pytest.raises(Denied):
        draft_open(harness=harness, acting_user=reviewer)
    other = harness_create(slug="winter", title="W", world=world, acting_user=operator)
    version = harness_commit(harness=other, spec=sample_spec(), message="", acting_user=operator).version
    with pytest.raises(Invalid):
        draft_open(harness=harness, from_version=version, acting_user=operator)
    with pytest.raises(Invalid) as caught:
        draft_open(harness=harness, document={"schema_version": 1, "tools": [{"id": 7}]}, acting_user=operator)
    assert "document.tools[0].id" in [error.field for error in caught.value.field_errors]
    with pytest.raises(Invalid):
        draft_open(harness=harness, name="x" * 121, acting_user=operator)
    harness_archive(harness=harness, acting_user=None)
    with pytest.raises(Conflict) as archived:
        draft_open(harness=harness_get("autumn"), acting_user=operator)
    assert archived.value.code == "archived"
    assert draft_list(harness).count() == 0


# --- saving ----------------------------------------------------------------------------------------------------------


def test_a_save_is_a_revision_and_keeps_the_order_of_keys(save, draft):
    document = sample_document()
    properties = document["tools"][0]["input_schema"]
    document["tools"][0]["input_schema"] = dict(reversed(list(properties.items())))
    saved = save(document=document)
    assert (saved.is_new, saved.draft.revision) == (True, 2)
    assert next(iter(draft_document(saved.draft)["tools"][0]["input_schema"])) == "additionalProperties"
    assert saved.draft.spec_hash == draft.spec_hash, "the order of keys is no other content"
    assert [item.revision for item in revision_list(draft)] == [2, 1]


def test_saving_what_is_there_changes_nothing_even_when_stale(save, draft):
    save()
    again = save(revision=1)
    assert (again.is_new, again.draft.revision) == (False, 2)


def test_a_save_with_findings_is_kept(save):
    assert save(document=broken_document()).draft.revision == 2


def test_a_save_that_has_not_seen_the_last_one_is_refused_with_who_and_when(save, draft, ml_engineer):
    save(acting_user=ml_engineer)
    with pytest.raises(StaleDraft) as caught:
        save(rules="Be brief.", revision=1)
    assert caught.value.problem_members["revision"] == 2
    assert caught.value.problem_members["updated_by"] == "Mei Lin (mei)"
    assert draft_spec(draft_get(draft.harness, draft.pk)).prompt[0].body == "Be kind."


def test_edits_change_what_they_name_and_nothing_else(save, draft):
    edit = {"op": "set", "kind": "tool", "id": "price", "fields": {"description": "Says what it costs."}}
    saved = save(edits=[edit])
    before, after = draft_document(draft), draft_document(saved.draft)
    assert after["tools"][0].pop("description") == "Says what it costs."
    before["tools"][0].pop("description")
    assert after == before


@pytest.mark.parametrize(
    ("edits", "field"),
    [
        ("no list", "edits"),
        ([7], "edits[0]"),
        ([{}], "edits[0].op"),
        ([{"op": "paint"}], "edits[0].op"),
        ([{"op": "set", "kind": "tool", "id": "price"}], "edits[0]"),
        ([{"op": "set", "kind": "tool", "id": "gone", "fields": {"name": "x"}}], "edits[0].id"),
        ([{"op": "set", "kind": "tool", "id": "price", "fields": {"name": 7}}], "edits[0].fields.name"),
        ([{"op": "set", "kind": "tool", "id": "price", "fields": {"colour": "red"}}], "edits[0].fields.colour"),
        ([{"op": "set", "kind": "tool", "id": "price", "fields": {"name": "x" * 200_001}}], "edits[0].fields.name"),
        ([{"op": "set", "kind": "runtime", "id": "runtime", "fields": {"temperature": 9}}], "edits[0]"),
        ([{"op": "remove", "kind": "hat", "id": "price"}], "edits[0].kind"),
        ([{"op": "remove", "kind": "tool", "id": "price", "force": True}], "edits[0].force"),
        ([{"op": "add", "kind": "tool", "component": {"id": "a"}}], "edits[0].component"),
        ([{"op": "remove", "kind": "tool", "id": "price"}] * 2, "edits[1].id"),
        ([{"op": "remove", "kind": "tool", "id": "price"}] * 501, "edits"),
    ],
)
def test_an_edit_that_cannot_be_made_names_its_field_and_saves_nothing(save, draft, edits, field):
    with pytest.raises(Invalid) as caught:
        save(edits=edits)
    assert caught.value.status == 422
    assert caught.value.field_errors[0].field.startswith(field), caught.value.field_errors
    assert draft_get(draft.harness, draft.pk).revision == 1


def test_two_megabytes_are_saved_and_more_than_the_limit_is_refused(save, draft):
    document = sample_document()
    document["prompt"] = [{"id": f"s{n}", "title": f"S{n}", "body": "x" * 199_000} for n in range(10)]
    assert save(document=document).draft.revision == 2
    document["prompt"] = [{"id": f"s{n}", "title": f"S{n}", "body": "x" * 199_000} for n in range(24)]
    assert save(document=document).draft.revision == 3
    grow: dict[str, Any] = {
        "op": "add",
        "kind": "prompt",
        "component": {"id": "last", "title": "Last", "body": "x" * 199_999},
    }
    with pytest.raises(TackroomError) as caught:
        save(edits=[grow, {**grow, "component": {**grow["component"], "id": "more"}}])
    assert isinstance(caught.value, TooLarge | Invalid)
    assert draft_get(draft.harness, draft.pk).revision == 3


def test_old_revisions_are_thinned_out(save, draft):
    for number in range(MAX_REVISIONS_KEPT + 5):
        save(rules=f"Rule {number}.")
    kept = [item.revision for item in revision_list(draft)]
    assert (len(kept), kept[0]) == (MAX_REVISIONS_KEPT, MAX_REVISIONS_KEPT + 6)


def test_a_spell_of_editing_is_one_entry_of_the_audit(save, draft, ml_engineer):
    save("One."), save("Two."), save("Three.")
    assert actions(draft) == ["draft.opened", "draft.edited"]
    save("Four.", acting_user=ml_engineer), save("Five.", acting_user=ml_engineer), save("Six.")
    assert actions(draft)[2:] == ["draft.edited"] * 2
    HarnessDraft.objects.update(updated_at=timezone.now() - dt.timedelta(minutes=16))
    save("Seven.")
    assert actions(draft)[4:] == ["draft.edited"]
    assert [item.author_name for item in revision_list(draft)][:3] == [
        "Olga Operator (olga)",
        "Olga Operator (olga)",
        "Mei Lin (mei)",
    ]


# --- the life of a draft ---------------------------------------------------------------------------------------------


def test_a_commit_makes_a_version_and_closes_the_draft(save, draft, operator):
    saved = save().draft
    result = draft_commit(draft=saved, revision=2, message="Kinder", acting_user=operator)
    version = result.version
    assert (result.is_new, version.number, version.message, version.source) == (True, 2, "Kinder", "editor")
    assert version_spec(version).prompt[0].body == "Be kind."
    closed = draft_get(draft.harness, draft.pk)
    assert (closed.state, closed.committed_version) == ("committed", version)
    assert actions(draft)[-1] == "draft.committed"


def test_a_commit_that_is_repeated_gives_the_same_version(save, draft, operator):
    saved = save().draft
    first = draft_commit(draft=saved, revision=2, message="Kinder", acting_user=operator)
    second = draft_commit(draft=saved, revision=2, message="Kinder", acting_user=operator)
    assert (second.version, second.is_new) == (first.version, False)
    assert version_list("autumn").count() == 2


def test_what_is_the_newest_version_makes_no_new_one(draft, operator):
    result = draft_commit(draft=draft, revision=1, message="Nothing", acting_user=operator)
    assert (result.is_new, result.version.number) == (False, 1)


def test_a_draft_with_errors_is_not_committed_and_stays_open(save, draft, operator):
    saved = save(document=broken_document()).draft
    with pytest.raises(InvalidHarness):
        draft_commit(draft=saved, revision=2, message="Try", acting_user=operator)
    assert draft_get(draft.harness, draft.pk).state == "open"


@pytest.mark.parametrize("message", ["", "   ", "x" * 2_001])
def test_a_commit_takes_a_message(draft, operator, message):
    with pytest.raises(Invalid) as caught:
        draft_commit(draft=draft, revision=1, message=message, acting_user=operator)
    assert caught.value.field_errors[0].field == "message"


def test_a_commit_of_a_revision_that_is_no_longer_the_last_is_refused(save, draft, operator):
    save()
    with pytest.raises(StaleDraft):
        draft_commit(draft=draft, revision=1, message="Old", acting_user=operator)


def test_a_draft_behind_the_newest_version_is_rebased_before_it_is_committed(save, draft, operator):
    saved = save(document=sample_document(tool_name="check_price")).draft
    harness_commit(harness=draft.harness, spec=sample_spec(rules="Be kind."), message="", acting_user=operator)
    with pytest.raises(Conflict) as caught:
        draft_commit(draft=saved, revision=2, message="Mine", acting_user=operator)
    assert caught.value.code == "version_conflict"
    assert "Rebase" in caught.value.detail
    rebased = draft_rebase(draft=saved, acting_user=operator)
    assert (rebased.merge.conflicts, len(rebased.merge.taken)) == ((), 1)
    assert (base_number(rebased.saved.draft), rebased.saved.draft.revision) == (2, 3)
    spec = version_spec(
        draft_commit(draft=rebased.saved.draft, revision=3, message="Mine", acting_user=operator).version
    )
    assert (spec.tools[0].name, spec.prompt[0].body) == ("check_price", "Be kind.")


def test_a_rebase_keeps_ones_own_where_both_changed_the_same_and_tells_it(save, draft, operator):
    save(rules="Mine.")
    harness_commit(harness=draft.harness, spec=sample_spec(rules="Theirs."), message="", acting_user=operator)
    rebased = draft_rebase(draft=draft, acting_user=operator)
    conflict = rebased.merge.conflicts[0]
    assert (conflict.mine, conflict.theirs, conflict.base) == ("Mine.", "Theirs.", "Answer in one sentence.")
    assert rebased.saved.spec.prompt[0].body == "Mine."
    entry: Any = audit_list(object_type="draft").first()
    assert entry.after["conflicts"] == 1


def test_a_rebase_of_what_is_up_to_date_changes_nothing(draft, operator):
    rebased = draft_rebase(draft=draft, acting_user=operator, revision=1)
    assert (rebased.saved.is_new, rebased.saved.draft.revision) == (False, 1)
    with pytest.raises(StaleDraft):
        draft_rebase(draft=draft, acting_user=operator, revision=7)


def test_a_discarded_draft_is_closed_until_it_is_reopened(save, draft, operator):
    save()
    for _ in range(2):
        assert draft_discard(draft=draft, acting_user=operator, reason="Not now").state == "discarded"
    with pytest.raises(Conflict) as caught:
        save("Late.")
    assert caught.value.code == "draft_closed"
    with pytest.raises(Conflict):
        draft_commit(draft=draft, revision=2, message="Late", acting_user=operator)
    assert draft_spec(draft_reopen(draft=draft, acting_user=operator)).prompt[0].body == "Be kind."
    assert actions(draft)[2:] == ["draft.discarded", "draft.reopened"]


def test_a_committed_draft_is_closed_for_good(draft, operator):
    draft_commit(draft=draft, revision=1, message="As it is", acting_user=operator)
    for action in (draft_discard, draft_reopen, draft_rebase):
        with pytest.raises(Conflict) as caught:
            action(draft=draft, acting_user=operator)
        assert caught.value.code == "draft_closed"


def test_an_earlier_save_is_taken_up_again_and_nothing_is_lost(save, draft, operator):
    save("One."), save("Two.")
    restored = draft_restore(draft=draft, revision=2, acting_user=operator)
    assert (restored.draft.revision, restored.spec.prompt[0].body) == (4, "One.")
    assert draft_restore(draft=draft, revision=3, acting_user=operator).spec.prompt[0].body == "Two."
    assert actions(draft)[-2:] == ["draft.restored"] * 2
    for revision in (0, 99, 2**40):
        with pytest.raises(NotFound):
            draft_restore(draft=draft, revision=revision, acting_user=operator)


def test_only_those_who_may_edit_write_to_drafts(draft, reviewer):
    for action in (draft_discard, draft_reopen, draft_rebase):
        with pytest.raises(Denied):
            action(draft=draft, acting_user=reviewer)
    with pytest.raises(Denied):
        draft_save(draft=draft, revision=1, document=sample_document(), acting_user=reviewer)
    with pytest.raises(Denied):
        draft_commit(draft=draft, revision=1, message="m", acting_user=reviewer)


def test_drafts_of_an_archived_harness_take_no_saves_and_no_commits(save, draft, operator):
    harness_archive(harness=draft.harness, acting_user=None)
    for write in (save, lambda: draft_commit(draft=draft, revision=1, message="m", acting_user=operator)):
        with pytest.raises(Conflict) as caught:
            write()
        assert caught.value.code == "archived"


@pytest.mark.parametrize("draft_id", ["0", "-1", "x", "9" * 40, str(2**63), "١"])
def test_a_draft_that_is_not_there_is_not_found(harness, draft_id):
    with pytest.raises(NotFound):
        draft_get(harness, draft_id)


# --- merging with what was saved meanwhile ---------------------------------------------------------------------------


def test_two_tabs_that_change_different_fields_lose_nothing(save, draft, operator):
    save(document=sample_document(tool_name="check_price"))
    mine = spec_from_document(sample_document(rules="Be kind."))
    merge = draft_merge(draft_get(draft.harness, draft.pk), mine, 1)
    assert merge.conflicts == ()
    saved = save(document=merge.spec.document())
    assert (saved.spec.tools[0].name, saved.spec.prompt[0].body) == ("check_price", "Be kind.")


def test_a_merge_works_from_the_base_version_where_the_revision_is_gone(save, draft):
    save(document=sample_document(tool_name="check_price"))
    DraftRevision.objects.filter(draft=draft, revision=1).delete()
    merge = draft_merge(draft_get(draft.harness, draft.pk), sample_spec(rules="Be kind."), 1)
    assert (merge.conflicts, merge.spec.tools[0].name) == ((), "check_price")


# --- at the same time ------------------------------------------------------------------------------------------------


def run_many(action, count):
    def run(number):
        try:
            return action(number)
        except TackroomError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.mark.django_db(transaction=True)
def test_of_fifty_saves_of_one_revision_exactly_one_wins(draft, operator):
    def write(number):
        document = sample_document(rules=f"Rule {number}.")
        return draft_save(draft=draft, revision=1, document=document, acting_user=operator)

    results = run_many(write, 50)
    won = [result for result in results if not isinstance(result, TackroomError)]
    assert len(won) == 1
    assert {type(result) for result in results if result not in won} == {StaleDraft}
    after = draft_get(draft.harness, draft.pk)
    assert (after.revision, draft_spec(after)) == (2, won[0].spec)
    assert DraftRevision.objects.filter(draft=draft).count() == 2


@pytest.mark.django_db(transaction=True)
def test_fifty_commits_of_one_draft_make_one_version(draft, operator):
    draft_save(draft=draft, revision=1, document=sample_document(rules="Be kind."), acting_user=operator)
    results = run_many(lambda _: draft_commit(draft=draft, revision=2, message="Kinder", acting_user=operator), 50)
    assert {result.version.number for result in results} == {2}
    assert sum(result.is_new for result in results) == 1


@pytest.mark.django_db(transaction=True)
def test_commits_of_many_drafts_of_one_base_make_one_version(harness, operator):
    drafts = [
        draft_open(harness=harness, document=sample_document(rules=f"Rule {n}."), acting_user=operator)
        for n in range(12)
    ]
    results = run_many(lambda n: draft_commit(draft=drafts[n], revision=1, message="Mine", acting_user=operator), 12)
    errors = [result for result in results if isinstance(result, TackroomError)]
    assert len(errors) == 11
    assert {error.code for error in errors} == {"version_conflict"}
    assert version_list("autumn").count() == 2


@pytest.mark.django_db(transaction=True)
def test_saves_and_discards_and_commits_at_once_end_in_one_state(draft, operator):
    def act(number):
        if number % 3 == 0:
            return draft_discard(draft=draft, acting_user=operator)
        if number % 3 == 1:
            return draft_commit(draft=draft, revision=1, message="m", acting_user=operator)
        return draft_save(draft=draft, revision=1, document=many_tools(number), acting_user=operator)

    run_many(act, 12)
    after = draft_get(draft.harness, draft.pk)
    assert after.state in ("committed", "discarded")
    assert (after.committed_version is not None) == (after.state == "committed")


# --- presence --------------------------------------------------------------------------------------------------------


def test_those_who_edit_see_one_another_for_a_while(draft, operator, ml_engineer, monkeypatch):
    presence.arrive(draft.pk, operator)
    people = presence.arrive(draft.pk, ml_engineer)
    assert {(person.username, person.name, person.is_you) for person in people} == {
        ("mei", "Mei Lin", True),
        ("olga", "Olga Operator", False),
    }
    presence.leave(draft.pk, ml_engineer)
    assert [person.username for person in presence.arrive(draft.pk, operator)] == ["olga"]
    later = presence.time.time() + presence.TTL_S + 1
    monkeypatch.setattr(presence.time, "time", lambda: later)
    assert [person.username for person in presence.arrive(draft.pk, ml_engineer)] == ["mei"]
    presence.leave(draft.pk, ml_engineer)


def test_editing_goes_on_where_redis_does_not_answer(draft, operator, settings):
    presence._client.cache_clear()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    try:
        assert [person.is_you for person in presence.arrive(draft.pk, operator)] == [True]
        presence.leave(draft.pk, operator)
    finally:
        presence._client.cache_clear()
