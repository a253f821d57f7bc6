"""The REST resources of drafts, called as the editor calls them."""

from __future__ import annotations

import pytest

from harnesses.services import draft_open, harness_commit, harness_create
from tests.harnesses.samples import broken_document, sample_document, sample_spec

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses/autumn/drafts"


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    harness_commit(harness=made, spec=sample_spec(), message="First", acting_user=operator)
    return made


@pytest.fixture
def draft(harness, operator):
    return draft_open(harness=harness, acting_user=operator)


def put(api, draft, document, revision=1):
    return api.put(f"{BASE}/{draft.pk}/", {"document": document}, format="json", headers={"If-Match": f'"r{revision}"'})


def test_a_draft_is_opened_read_and_saved(api, harness):
    made = api.post(f"{BASE}/", {}, format="json")
    assert made.status_code == 201, made.content
    body = made.json()
    assert (body["name"], body["revision"], body["base_number"]) == ("Changes to version 1", 1, 1)
    assert made["ETag"] == '"r1"'
    read = api.get(made["Location"])
    assert read.json()["document"] == sample_spec().document()
    saved = api.put(
        made["Location"], {"document": sample_document(rules="Be kind.")}, format="json", headers={"If-Match": '"r1"'}
    )
    assert (saved.status_code, saved["ETag"], saved.json()["revision"]) == (200, '"r2"', 2)
    assert saved.json()["prompt_tokens"] > 0


def test_a_check_tells_findings_and_changes_and_saves_nothing(api, draft):
    body = api.post(f"{BASE}/{draft.pk}/check/", {"document": broken_document()}, format="json").json()
    assert [item["code"] for item in body["findings"] if item["severity"] == "error"] == ["unknown_operation"]
    assert body["changes"]
    assert api.get(f"{BASE}/{draft.pk}/").json()["revision"] == 1


def test_a_prompt_is_rendered_part_by_part(api, draft):
    body = api.post(f"{BASE}/{draft.pk}/prompt/", {"document": sample_document()}, format="json").json()
    assert body["parts"][0]["text"].endswith("Answer in one sentence.")
    assert body["problem"] is None
