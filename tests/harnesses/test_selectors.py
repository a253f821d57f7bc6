"""Reading harnesses: lists, versions, comparisons, rendered prompts, exports."""

from __future__ import annotations

import io
import zipfile

import pytest

from harnesses import ports
from harnesses.core.spec import Example
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.runtime.context_budget import MESSAGE_OVERHEAD_TOKENS
from harnesses.selectors import (
    harness_get,
    harness_list,
    version_compare,
    version_export,
    version_findings,
    version_get,
    version_list,
    version_ref,
    version_rendered,
    version_spec,
)
from harnesses.services import harness_archive, harness_commit, harness_create
from ledger.errors import NotFound
from tests.harnesses.samples import sample_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    for spec in (sample_spec(), sample_spec(tool_name="check_price")):
        harness_commit(harness=made, spec=spec, message="", acting_user=operator)
    return made


def test_harnesses_are_listed_by_slug_and_found_by_text(harness, operator, world):
    winter = harness_create(slug="winter", title="Wool", description="Knits too", world=world, acting_user=operator)
    assert list(harness_list()) == [harness, winter]
    assert list(harness_list(search="KNITS")) == [harness, winter]
    assert list(harness_list(search="wool")) == [winter]
    assert list(harness_list(world="elsewhere")) == []
    harness_archive(harness=winter, acting_user=operator)
    assert list(harness_list()) == [harness]
    assert winter in harness_list(with_archived=True)


def test_the_newest_version_is_the_default(harness):
    assert version_get("autumn").number == 2
    assert version_get("autumn", 1).number == 1
    assert version_get("autumn", "1").number == 1


@pytest.mark.parametrize("number", [0, -1, 3, "abc", "1.0", "", " 1", "١", "9" * 30, 2**31, 2**63, "1\0"])
def test_what_is_no_version_is_not_found(harness, number):
    with pytest.raises(NotFound, match="autumn"):
        version_get("autumn", number)


@pytest.mark.parametrize("slug", ["nope", "", "a\0b", "../x", "AUTUMN", "名", "x" * 1000])
def test_what_is_no_harness_is_not_found(harness, slug):
    for read in (harness_get, version_get, version_list):
        with pytest.raises(NotFound):
            read(slug)


def test_a_spec_is_read_from_the_database_once(harness, django_assert_num_queries):
    version = version_get("autumn", 1)
    first = version_spec(version)
    with django_assert_num_queries(0):
        assert version_spec(version) is first
    assert first.spec_hash == version.spec_hash


def test_a_list_of_versions_reads_no_documents(harness, django_assert_num_queries):
    with django_assert_num_queries(2):
        assert [version.parent and version.parent.number for version in version_list("autumn")] == [1, None]


def test_a_version_is_known_to_other_apps_by_its_reference(harness):
    ref = version_ref(version_get("autumn"))
    assert str(ref) == "autumn@2"
    assert ref.spec_hash == version_spec(version_get("autumn")).spec_hash


def test_a_renamed_tool_compares_as_a_preserving_rename(harness):
    comparison = version_compare("autumn", 1, 2)
    assert [(change.action, change.kind, change.component_id) for change in comparison.diff.changes] == [
        ("renamed", "tool", "price")
    ]
    assert (comparison.old.number, comparison.new.number) == (1, 2)
    assert "preserving" in str(comparison.risk)
    assert version_compare("autumn", 2, 2).diff.is_empty


def test_a_rendered_version_counts_tokens_part_by_part(harness):
    ports.register_token_counter(lambda: lambda text: len(text.split()))
    rendered = version_rendered(version_get("autumn"))
    words = len(rendered.text.split())
    assert sum(part.token_count for part in rendered.parts) == words
    assert rendered.total_tokens == words + MESSAGE_OVERHEAD_TOKENS
    assert {part.part.kind for part in rendered.parts} >= {"section", "tools"}
    assert "check_price" in rendered.text


def test_worked_examples_are_shown_and_count(operator, world):
    ports.register_token_counter(lambda: lambda text: len(text.split()))
    made = harness_create(slug="spring", title="Spring", world=world, acting_user=operator)
    plain = sample_spec()
    shown = plain.model_copy(
        update={"examples": (Example(id="thanks", comment="thank you!", reply="You are welcome."),)}
    )
    first = harness_commit(harness=made, spec=plain, message="", acting_user=operator).version
    second = harness_commit(harness=made, spec=shown, message="", acting_user=operator).version
    rendered = version_rendered(second)
    assert rendered.parts[-1].part.kind == "examples"
    assert "user: thank you!\nassistant: You are welcome." in rendered.text
    more = rendered.total_tokens - version_rendered(first).total_tokens
    assert more == 5 + 2 * MESSAGE_OVERHEAD_TOKENS


def test_a_version_renders_in_the_context_that_is_given(operator, world):
    made = harness_create(slug="spring", title="Spring", world=world, acting_user=operator)
    spec = sample_spec(rules="You work for {{ host.name }}.")
    version = harness_commit(harness=made, spec=spec, message="", acting_user=operator).version
    assert "You work for Mara." in version_rendered(version).text
    assert "You work for Ines." in version_rendered(version, {**SAMPLE_CONTEXT, "host": {"name": "Ines"}}).text


def test_findings_of_a_committed_version_hold_no_errors(harness):
    version = version_get("autumn")
    findings = version_findings(version)
    assert all(finding.severity != "error" for finding in findings)
    assert version.warning_count == len(findings)


def test_an_export_is_a_zip_of_the_folder_layout(harness):
    filename, data = version_export(version_get("autumn"))
    assert filename == "autumn-v2.zip"
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert any(name.endswith("harness.yaml") for name in names)
    assert any(name.endswith(".json") for name in names)
    assert version_export(version_get("autumn")) == (filename, data)
