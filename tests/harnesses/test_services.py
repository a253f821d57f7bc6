"""Writing harnesses: versions are immutable, gapless, audited, and never made for nothing."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection, connections, transaction

from harnesses.core.parsing import spec_from_document
from harnesses.errors import InvalidHarness
from harnesses.models import Harness, HarnessVersion
from harnesses.selectors import harness_get, version_export, version_get, version_list, version_spec
from harnesses.services import (
    harness_archive,
    harness_commit,
    harness_create,
    harness_import,
    harness_import_preview,
    harness_unarchive,
)
from ledger.errors import Conflict, Invalid
from ledger.selectors import audit_list
from tests.harnesses.samples import broken_document, sample_document, sample_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def harness(operator, world):
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)


@pytest.fixture
def commit(harness, operator):
    def make(spec=None, **changes):
        values = {"harness": harness, "spec": spec or sample_spec(), "message": "Why", "acting_user": operator}
        return harness_commit(**{**values, **changes})

    return make


# --- making ----------------------------------------------------------------------------------------------------------


def test_a_new_harness_is_empty_and_audited(harness, operator):
    assert (harness.version_count, harness.created_by) == (0, operator)
    entry = audit_list(object_type="harness", object_id=harness.pk).get()
    assert (entry.action, entry.actor, entry.object_label) == ("harness.created", operator, "autumn")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"slug": "Autumn"}, "slug"),
        ({"slug": "a--b"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"slug": "a" * 65}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"slug": "a\n"}, "slug"),
        ({"title": " "}, "title"),
        ({"title": "x" * 121}, "title"),
        ({"title": "a\0b"}, "title"),
        ({"world": "moon"}, "world"),
    ],
)
def test_a_harness_that_cannot_be_made_is_refused_by_field(operator, world, values, field):
    with pytest.raises(Invalid) as caught:
        harness_create(**{"slug": "ok", "title": "T", "world": world, "acting_user": operator, **values})
    assert caught.value.field_errors[0].field == field
    assert not Harness.objects.exists()


def test_a_slug_is_taken_once(harness, operator, world):
    with pytest.raises(Conflict, match="autumn"):
        harness_create(slug="autumn", title="Other", world=world, acting_user=operator)


# --- committing ------------------------------------------------------------------------------------------------------


def test_versions_are_numbered_from_one_and_know_their_parent(commit, harness):
    first, second = commit(), commit(sample_spec(rules="Be kind."))
    assert (first.is_new, second.is_new) == (True, True)
    assert [version.number for version in version_list("autumn")] == [2, 1]
    assert (first.version.parent, second.version.parent) == (None, first.version)
    assert harness_get("autumn").version_count == harness.version_count == 2


def test_a_commit_is_audited_with_its_reason(commit, operator):
    commit()
    version = commit(sample_spec(rules="Be kind."), message="Kinder").version
    entry = audit_list(action_prefix="harness.committed")[0]
    assert (entry.reason, entry.actor_name) == ("Kinder", "Olga Operator (olga)")
    assert entry.before is not None
    assert entry.before["number"] == 1
    assert entry.after == {"number": 2, "spec_hash": version.spec_hash, "source": "api"}


def test_the_newest_content_again_makes_no_version(commit):
    first = commit().version
    again = commit()
    assert (again.version, again.is_new) == (first, False)
    assert audit_list(action_prefix="harness.committed").count() == 1


def test_earlier_content_again_is_a_new_version(commit):
    commit()
    commit(sample_spec(rules="Be kind."))
    back = commit()
    assert (back.version.number, back.is_new) == (3, True)


def test_keys_in_another_order_are_the_same_content(commit):
    commit()
    document = sample_document()
    schema = document["tools"][0]["input_schema"]
    document["tools"][0]["input_schema"] = dict(reversed(schema.items()))
    assert not commit(spec_from_document(document)).is_new


def test_the_authors_key_order_is_kept(commit):
    version = commit().version
    properties = json.loads(HarnessVersion.objects.get(pk=version.pk).document)["tools"][0]["input_schema"]
    assert list(properties) == ["type", "properties", "required", "additionalProperties"]
    assert list(version_spec(version).tools[0].input_schema) == list(properties)


def test_errors_refuse_a_commit_and_are_all_told(commit):
    with pytest.raises(InvalidHarness) as caught:
        commit(spec_from_document(broken_document()))
    assert "no_such_operation" in str(caught.value)
    assert all(error.message and error.mend for error in caught.value.field_errors)
    assert any("price" in error.field for error in caught.value.field_errors)
    assert not HarnessVersion.objects.exists()


def test_a_prompt_over_its_budget_is_refused(commit):
    with pytest.raises(InvalidHarness, match="token"):
        commit(sample_spec(rules="word " * 20_000))


def test_a_commit_on_an_older_version_is_a_conflict_that_names_the_newest(commit):
    commit(expected_number=0)
    commit(sample_spec(rules="Be kind."), expected_number=1)
    with pytest.raises(Conflict, match="version 2"):
        commit(sample_spec(rules="Be quick."), expected_number=1)
    assert harness_get("autumn").version_count == 2


def test_a_repeated_request_is_harmless(commit):
    first = commit(expected_number=0)
    again = commit(expected_number=0)
    assert (again.version, again.is_new) == (first.version, False)


@pytest.mark.parametrize("message", ["a\0b", "x" * 2_001])
def test_a_message_that_cannot_be_kept_is_refused(commit, message):
    with pytest.raises(Invalid) as caught:
        commit(message=message)
    assert caught.value.field_errors[0].field == "message"


def test_texts_of_every_script_are_kept_and_twins_are_one(commit):
    text = "Say “你好” and שלום to everyone 🧶."
    version = commit(sample_spec(rules=f"{text} caf\u0065\u0301")).version
    assert version_spec(version).prompt[0].body == f"{text} café"
    assert not commit(sample_spec(rules=f"{text} café")).is_new


def test_an_archived_harness_takes_no_commits(commit, harness, operator):
    commit()
    harness_archive(harness=harness, acting_user=operator, reason="season over")
    with pytest.raises(Conflict, match="archived"):
        commit(sample_spec(rules="Be kind."))
    harness_unarchive(harness=harness, acting_user=operator)
    assert commit(sample_spec(rules="Be kind.")).is_new
    actions = [entry.action for entry in audit_list(object_type="harness")]
    assert actions[1:3] == ["harness.unarchived", "harness.archived"]


@pytest.mark.parametrize(
    "sql", ["UPDATE harnesses_harnessversion SET message = 'x'", "DELETE FROM harnesses_harnessversion"]
)
def test_the_database_refuses_to_change_a_version(commit, sql):
    commit()
    with pytest.raises(DatabaseError, match="immutable"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def test_the_orm_refuses_to_change_a_version(commit):
    version = commit().version
    for attempt in (
        version.save,
        version.delete,
        HarnessVersion.objects.all().delete,
        lambda: HarnessVersion.objects.update(message="x"),
        lambda: HarnessVersion.objects.bulk_update([version], ["message"]),
    ):
        with pytest.raises(TypeError, match="immutable"):
            attempt()


def test_removing_an_account_keeps_its_name_on_the_version(commit, operator):
    version = commit().version
    operator.delete()
    stored = HarnessVersion.objects.get(pk=version.pk)
    assert (stored.author, stored.author_name) == (None, "Olga Operator (olga)")


# --- fifty at once ---------------------------------------------------------------------------------------------------


def _commit_in_threads(harness, operator, specs):
    def work(spec):
        try:
            return harness_commit(harness=harness, spec=spec, message="At once", acting_user=operator)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=50) as pool:
        return list(pool.map(work, specs))


@pytest.mark.django_db(transaction=True)
def test_fifty_commits_at_once_all_succeed_without_gaps(harness, operator):
    specs = [sample_spec(rules=f"Rule {number}.") for number in range(50)]
    results = _commit_in_threads(harness, operator, specs)
    assert sorted(result.version.number for result in results) == list(range(1, 51))
    assert all(result.is_new for result in results)
    assert harness_get("autumn").version_count == 50
    assert audit_list(action_prefix="harness.committed").count() == 50
    versions = list(version_list("autumn").order_by("number"))
    assert [version.parent for version in versions] == [None, *versions[:-1]]


@pytest.mark.django_db(transaction=True)
def test_fifty_equal_commits_at_once_make_one_version(harness, operator):
    results = _commit_in_threads(harness, operator, [sample_spec()] * 50)
    assert {result.version.number for result in results} == {1}
    assert sum(result.is_new for result in results) == 1


@pytest.mark.django_db(transaction=True)
def test_of_fifty_commits_on_one_version_one_wins(harness, operator):
    def work(number):
        try:
            spec = sample_spec(rules=f"Rule {number}.")
            harness_commit(harness=harness, spec=spec, message="", acting_user=operator, expected_number=0)
        except Conflict:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(max_workers=50) as pool:
        assert sum(pool.map(work, range(50))) == 1
    assert harness_get("autumn").version_count == 1


# --- importing -------------------------------------------------------------------------------------------------------


def _import(harness, operator, filename, data):
    return harness_import(harness=harness, filename=filename, data=data, message="", acting_user=operator)


def test_an_export_imports_as_the_same_content(commit, harness, operator):
    filename, data = version_export(commit().version)
    outcome = _import(harness, operator, filename, data)
    assert (outcome.commit.is_new, outcome.commit.version.number) == (False, 1)
    assert version_export(version_get("autumn")) == (filename, data)


def test_an_import_into_an_empty_harness_makes_version_one(commit, harness, operator, world):
    filename, data = version_export(commit().version)
    other = harness_create(slug="winter", title="Winter", world=world, acting_user=operator)
    outcome = _import(other, operator, filename, data)
    assert (outcome.commit.version.number, outcome.commit.version.source) == (1, "import")
    assert outcome.commit.version.spec_hash == version_get("autumn").spec_hash
    assert outcome.base_version is None
    assert filename in outcome.commit.version.message


def test_a_preview_tells_the_difference_and_writes_nothing(commit, harness, operator, world):
    first = commit().version
    other = harness_create(slug="winter", title="Winter", world=world, acting_user=operator)
    renamed = commit(sample_spec(tool_name="check_price"), harness=other).version
    filename, data = version_export(renamed)
    before = audit_list().count()
    preview = harness_import_preview(harness=harness, filename=filename, data=data)
    assert [(change.action, change.old_name, change.new_name) for change in preview.diff.changes] == [
        ("renamed", "get_price", "check_price")
    ]
    assert (preview.has_errors, preview.is_unchanged, preview.base_version) == (False, False, first)
    assert harness_get("autumn").version_count == 1
    assert audit_list().count() == before


@pytest.mark.parametrize(
    ("filename", "data"),
    [
        ("a.zip", b"PK\x03\x04 broken"),
        ("a.json", b"{"),
        ("a.json", b""),
        ("a.png", b"\x89PNG\r\n"),
        ("a.md", b"\xff\xfe"),
    ],
)
def test_a_file_that_is_no_harness_is_refused_with_the_reason(harness, operator, filename, data):
    with pytest.raises(Invalid) as caught:
        _import(harness, operator, filename, data)
    assert caught.value.field_errors
    assert not HarnessVersion.objects.exists()
