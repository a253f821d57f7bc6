"""The REST resources of drafts, called as the editor calls them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from harnesses.models import HarnessDraft
from harnesses.selectors import draft_get, version_list
from harnesses.services import draft_open, draft_save, harness_commit, harness_create, harness_update
from ledger.core.roles import Role
from ledger.core.tokens import Scope
from tests.conftest import PASSWORD
from tests.harnesses.samples import broken_document, sample_document, sample_spec

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses/autumn/drafts"
POSTED = ("check", "prompt", "apply", "merge", "mentions", "search")
NOTHING_SENT: dict = {}


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    harness_commit(harness=made, spec=sample_spec(), message="First", acting_user=operator)
    return made


@pytest.fixture
def draft(harness, operator):
    return draft_open(harness=harness, acting_user=operator)


@pytest.fixture
def post(api, draft):
    return lambda action, body=NOTHING_SENT, **headers: api.post(
        f"{BASE}/{draft.pk}/{action}", body, format="json", headers=headers
    )


@pytest.fixture
def put(api, draft):
    def send(content, if_match='"r1"', method="put", **body):
        headers = {"If-Match": if_match} if if_match is not None else {}
        body = body or {"document": content}
        return getattr(api, method)(f"{BASE}/{draft.pk}", body, format="json", headers=headers)

    return send


def problem(response, status, code=None, field=None):
    assert response.status_code == status, response.content[:600]
    body = response.json()
    assert body["detail"]
    if code:
        assert body["code"] == code
        assert body["type"].endswith(f":{code}")
    if field:
        assert body["errors"][0]["field"].startswith(field), body["errors"]
    return body


# --- opening, reading, saving ----------------------------------------------------------------------------------------


def test_a_draft_is_opened_read_and_saved(api, harness):
    made = api.post(f"{BASE}/", {}, format="json")
    body = made.json()
    assert (made.status_code, made["ETag"]) == (201, '"r1"')
    assert (body["name"], body["state"], body["revision"], body["base_number"]) == (
        "Changes to version 1",
        "open",
        1,
        1,
    )
    read = api.get(made["Location"]).json()
    assert (read["document"], read["updated_by"]) == (sample_spec().document(), "Olga Operator (olga)")
    document = sample_document(rules="Be kind.")
    saved = api.put(made["Location"], {"document": document}, format="json", headers={"If-Match": '"r1"'})
    assert (saved.status_code, saved["ETag"], saved.json()["revision"]) == (200, '"r2"', 2)
    assert saved.json()["prompt_tokens"] > 0
    assert saved.json()["budget_tokens"] == 3_072


def test_a_double_click_opens_one_draft(api, harness):
    for _ in range(2):
        assert api.post(f"{BASE}/", {}, format="json", headers={"Idempotency-Key": "k"}).status_code == 201
    assert HarnessDraft.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"name": 7}, 400, "name"),
        ({"name": "x" * 121}, 422, "name"),
        ({"nmae": "x"}, 400, "nmae"),
        ({"from_version": "1"}, 400, "from_version"),
        ({"from_version": 0}, 400, "from_version"),
        ({"from_version": 2**80}, 400, "from_version"),
        ({"from_version": 99}, 404, None),
        ({"document": []}, 400, "document"),
        ({"document": {}}, 422, "document"),
        ({"document": {"schema_version": 1, "tools": [{"id": 7}]}}, 422, "document.tools[0]"),
        ([], 400, None),
    ],
)
def test_a_draft_that_cannot_be_opened_says_why(api, harness, body, status, field):
    problem(api.post(f"{BASE}/", body, format="json"), status, field=field)
    assert HarnessDraft.objects.count() == 0


def test_a_save_must_say_what_it_started_from(put, draft):
    document = sample_document(rules="Be kind.")
    problem(put(document, if_match=None), 428, "precondition_required")
    for header in ("*", "r1", 'W/"r1"', '"l1"', '"r1", "r2"', '"r-1"', '"r99999999999"', ""):
        problem(put(document, if_match=header), 400, "bad_if_match")
    assert draft_get(draft.harness, draft.pk).revision == 1


def test_a_stale_save_tells_the_current_revision(put, draft, ml_engineer):
    draft_save(draft=draft, revision=1, document=sample_document(rules="Theirs."), acting_user=ml_engineer)
    body = problem(put(sample_document(rules="Mine.")), 409, "stale_draft")
    assert (body["revision"], body["updated_by"]) == (2, "Mei Lin (mei)")
    assert body["updated_at"]


def test_edits_never_wipe_what_they_do_not_name(put, api, draft):
    before = api.get(f"{BASE}/{draft.pk}/").json()["document"]
    edit = {"op": "set", "kind": "tool", "id": "price", "fields": {"title": "Price"}}
    response = put(None, method="patch", edits=[edit])
    assert (response.status_code, response.json()["revision"]) == (200, 2)
    after = api.get(f"{BASE}/{draft.pk}/").json()["document"]
    assert after["tools"][0].pop("title") == "Price"
    before["tools"][0].pop("title")
    assert after == before
    problem(put(None, method="patch", edits=[edit]), 409, "stale_draft")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"edits": "x"}, 400, "edits"),
        ({"edits": [7]}, 422, "edits[0]"),
        (
            {"edits": [{"op": "set", "kind": "tool", "id": "price", "fields": {"name": None}}]},
            422,
            "edits[0].fields.name",
        ),
        ({"edits": [{"op": "set", "kind": "tool", "id": "price", "fields": {"name": "x" * 200_001}}]}, 422, "edits[0]"),
        ({"document": {}}, 400, "document"),
        ({"edits": [], "document": {}}, 400, "document"),
    ],
)
def test_edits_of_the_wrong_shape_name_their_field(put, body, status, field):
    problem(put(None, method="patch", **body), status, field=field)


def test_two_megabytes_are_saved_and_six_are_too_large(put, api, draft):
    document = sample_document()
    document["prompt"] = [{"id": f"s{n}", "title": f"S{n}", "body": "x" * 199_000} for n in range(10)]
    assert put(document).status_code == 200
    assert len(api.get(f"{BASE}/{draft.pk}/").content) > 1_990_000
    document["prompt"] = [{"id": f"s{n}", "title": f"S{n}", "body": "x" * 199_000} for n in range(30)]
    problem(put(document, if_match='"r2"'), 413, "too_large")


def test_drafts_are_listed_without_their_documents(api, harness, draft, operator):
    other = draft_open(harness=harness, name="Other", acting_user=operator)
    api.post(f"{BASE}/{draft.pk}/discard", {"reason": "Not now"}, format="json")
    body = api.get(f"{BASE}/?limit=1").json()
    assert len(body["results"]) == 1
    assert "document" not in body["results"][0]
    assert body["next"]
    assert [item["id"] for item in api.get(f"{BASE}/?state=open").json()["results"]] == [other.pk]
    problem(api.get(f"{BASE}/?state=shut"), 422, field="state")


# --- what nobody has saved -------------------------------------------------------------------------------------------


def test_a_check_tells_findings_mends_and_changes_and_saves_nothing(post, api, draft):
    body = post("check", {"document": broken_document()}).json()
    found = next(item for item in body["findings"] if item["severity"] == "error")
    assert (found["code"], found["component_id"]) == ("unknown_operation", "price")
    assert body["changes"][0]["kind"] == "tool"
    assert (body["verdict"], body["required_review"]) == ("not_preserving", "two_reviewers")
    assert api.get(f"{BASE}/{draft.pk}/").json()["revision"] == 1


def test_a_finding_comes_with_the_edits_that_mend_it(post):
    document = sample_document()
    document["skills"] = [{"id": "s", "name": "s", "description": "d", "body": "b", "allowed_tools": ["gone"]}]
    found = next(
        item for item in post("check", {"document": document}).json()["findings"] if item["code"] == "unknown_tool_id"
    )
    assert found["fix"]["label"]
    mended = post("apply", {"document": document, "edits": found["fix"]["edits"]}).json()
    assert mended["document"]["skills"][0]["allowed_tools"] == []
    assert mended["applied"]


def test_a_prompt_is_rendered_part_by_part_or_says_why_not(post):
    body = post("prompt", {"document": sample_document()}).json()
    assert body["parts"][0]["text"].endswith("Answer in one sentence.")
    assert (body["problem"], body["parts"][0]["kind"]) == (None, "section")
    broken = post("prompt", {"document": sample_document(rules="{{ nobody }}")}).json()
    assert (broken["parts"], broken["prompt_tokens"]) == ([], None)
    assert "nobody" in broken["problem"]["message"]


def test_mentions_and_references_are_found(post):
    document = sample_document(rules='Use get_price, or {{ tool("price") }}.')
    body = post("mentions", {"document": document, "kind": "tool", "component_id": "price", "new_name": "ask"}).json()
    assert [(item["kind"], item["component_id"], item["field"], item["line"]) for item in body["mentions"]] == [
        ("prompt", "rules", "body", 1)
    ]
    assert body["references"] == 1


def test_a_text_is_searched(post):
    document = sample_document(rules="Kind.\nbe KIND, kind!")
    matches = post("search", {"document": document, "find": "kind", "kinds": ["prompt"]}).json()["matches"]
    assert [(item["line"], item["count"]) for item in matches] == [(1, 1), (2, 2)]
    exact = post("search", {"document": document, "find": "KIND", "is_case_sensitive": True}).json()["matches"]
    assert [(item["line"], item["count"]) for item in exact] == [(2, 1)]


def test_a_refused_save_is_merged_and_saved(put, post, draft, ml_engineer):
    theirs = sample_document(tool_name="check_price")
    draft_save(draft=draft, revision=1, document=theirs, acting_user=ml_engineer)
    mine = sample_document(rules="Be kind.")
    problem(put(mine), 409, "stale_draft")
    merged = post("merge", {"document": mine, "base_revision": 1}).json()
    assert (merged["revision"], merged["conflicts"], merged["by"]) == (2, [], "Mei Lin (mei)")
    assert merged["taken"]
    saved = put(merged["document"], if_match='"r2"')
    assert saved.json()["revision"] == 3


def test_a_conflict_tells_all_three_and_how_to_choose(post, draft, ml_engineer):
    draft_save(draft=draft, revision=1, document=sample_document(rules="Theirs."), acting_user=ml_engineer)
    merged = post("merge", {"document": sample_document(rules="Mine."), "base_revision": 1}).json()
    conflict = merged["conflicts"][0]
    assert (conflict["base"], conflict["mine"], conflict["theirs"]) == ("Answer in one sentence.", "Mine.", "Theirs.")
    chosen = post("apply", {"document": merged["document"], "edits": conflict["edits"]["theirs"]}).json()
    assert chosen["document"]["prompt"][0]["body"] == "Theirs."


@pytest.mark.parametrize("action", POSTED)
def test_what_is_no_harness_is_told_by_field(post, action):
    extra: dict[str, Any] = {
        "apply": {"edits": []},
        "merge": {"base_revision": 1},
        "mentions": {"kind": "tool", "component_id": "price"},
        "search": {"find": "x"},
    }
    extra = extra.get(action, {})
    problem(post(action, {"document": {"schema_version": 1, "promt": []}, **extra}), 422, "bad_spec", "document.promt")
    problem(post(action, {"document": [], **extra}), 400, field="document")
    problem(post(action, extra), 400, field="document")
    problem(post(action, {"document": sample_document(), "colour": "red", **extra}), 400, field="colour")


@pytest.mark.parametrize(
    ("action", "body", "status", "field"),
    [
        ("merge", {"base_revision": 0}, 400, "base_revision"),
        ("merge", {"base_revision": "1"}, 400, "base_revision"),
        ("merge", {}, 400, "base_revision"),
        ("mentions", {"kind": "hat", "component_id": "x"}, 400, "kind"),
        ("mentions", {"kind": "tool", "component_id": 7}, 400, "component_id"),
        ("search", {"find": ""}, 422, "find"),
        ("search", {"find": "x" * 1_001}, 422, "find"),
        ("search", {"find": "x", "kinds": ["hat"]}, 400, "kinds"),
        ("search", {"find": "x", "kinds": ["tool"] * 7}, 400, "kinds"),
        ("apply", {"edits": [{"op": "remove", "kind": "tool", "id": "gone"}]}, 422, "edits[0].id"),
    ],
)
def test_questions_of_the_wrong_shape_name_their_field(post, action, body, status, field):
    problem(post(action, {"document": sample_document(), **body}), status, field=field)


def test_a_component_that_is_not_there_is_mentioned_nowhere(post):
    body = {"document": sample_document(), "kind": "tool", "component_id": "gone"}
    assert post("mentions", body).json() == {"mentions": [], "references": 0}


def test_the_saved_draft_is_compared_with_a_version(api, put, draft):
    put(sample_document(rules="Be kind."))
    for query in ("", "?with=1"):
        changes = api.get(f"{BASE}/{draft.pk}/compare{query}").json()["changes"]
        assert [(change["kind"], change["after"]) for change in changes] == [("prompt", "Be kind.")]
    problem(api.get(f"{BASE}/{draft.pk}/compare?with=9"), 404)


# --- the life of a draft ---------------------------------------------------------------------------------------------


def test_a_draft_is_committed(put, post, api, draft):
    put(sample_document(rules="Be kind."))
    response = post("commit", {"message": "Kinder", "revision": 2})
    assert response.status_code == 201, response.content
    assert (response.json()["version"]["number"], response.json()["version"]["source"]) == (2, "editor")
    assert api.get(f"{BASE}/{draft.pk}/").json()["committed_number"] == 2
    again = post("commit", {"message": "Kinder", "revision": 2})
    assert (again.status_code, again.json()["is_new"]) == (200, False)
    problem(put(sample_document(rules="Late."), if_match='"r2"'), 409, "draft_closed")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"revision": 1}, 400, "invalid"),
        ({"message": "m"}, 400, "invalid"),
        ({"message": "", "revision": 1}, 422, "invalid"),
        ({"message": "x" * 2_001, "revision": 1}, 422, "invalid"),
        ({"message": "m", "revision": 9}, 409, "stale_draft"),
        ({"message": "m", "revision": True}, 400, "invalid"),
    ],
)
def test_a_commit_that_cannot_be_made_says_why(post, body, status, code):
    problem(post("commit", body), status, code)
    assert version_list("autumn").count() == 1


def test_errors_keep_a_draft_from_being_committed_and_are_all_told(put, post):
    put(broken_document())
    body = problem(post("commit", {"message": "Try", "revision": 2}), 422, "invalid_harness")
    assert body["findings"]


def test_a_draft_behind_is_rebased(put, post, harness, operator):
    put(sample_document(tool_name="check_price"))
    harness_commit(harness=harness, spec=sample_spec(rules="Be kind."), message="", acting_user=operator)
    problem(post("commit", {"message": "Mine", "revision": 2}), 409, "version_conflict")
    problem(post("rebase", {}, **{"If-Match": '"r1"'}), 409, "stale_draft")
    rebased = post("rebase", {})
    body = rebased.json()
    assert (body["revision"], body["base_number"], body["conflicts"], rebased["ETag"]) == (3, 2, [], '"r3"')
    assert post("commit", {"message": "Mine", "revision": 3}).status_code == 201


def test_a_draft_is_discarded_reopened_and_restored(put, post, api, draft):
    put(sample_document(rules="Be kind."))
    assert post("discard", {}).json()["state"] == "discarded"
    problem(put(sample_document(rules="Late."), if_match='"r2"'), 409, "draft_closed")
    assert post("reopen", {}).json()["state"] == "open"
    rows = api.get(f"{BASE}/{draft.pk}/revisions").json()["results"]
    assert [(row["revision"], row["author"]) for row in rows] == [
        (2, "Olga Operator (olga)"),
        (1, "Olga Operator (olga)"),
    ]
    assert post("restore", {"revision": 1}).json()["revision"] == 3
    problem(post("restore", {"revision": 99}), 404)
    problem(post("restore", {"revision": "1"}), 400, field="revision")
    problem(post("discard", {"reason": "x" * 2_001}), 422, field="reason")


def test_people_in_a_draft_see_one_another(post, api, draft, ml_engineer, make_api_client):
    make_api_client(ml_engineer).post(f"{BASE}/{draft.pk}/presence", {}, format="json")
    people = post("presence", {}).json()["people"]
    assert {(person["username"], person["is_you"]) for person in people} == {("olga", True), ("mei", False)}
    assert api.delete(f"{BASE}/{draft.pk}/presence").status_code == 204


# --- who may ---------------------------------------------------------------------------------------------------------

WRITES = ("commit", "discard", "reopen", "restore", "rebase", "presence")


def test_those_who_may_only_look_write_nothing(draft, reviewer, make_api_client):
    client = make_api_client(reviewer)
    assert client.get(f"{BASE}/{draft.pk}").status_code == 200
    assert client.post(f"{BASE}/{draft.pk}/check", {"document": sample_document()}, format="json").status_code == 200
    problem(client.post(f"{BASE}/", {}, format="json"), 403, "denied")
    for action in WRITES:
        problem(client.post(f"{BASE}/{draft.pk}/{action}", {}, format="json"), 403, "denied")
    for method in ("put", "patch"):
        problem(getattr(client, method)(f"{BASE}/{draft.pk}", {}, format="json"), 403, "denied")


def test_a_token_writes_only_with_its_scope(draft, operator, make_api_client):
    client = make_api_client(operator, [Scope.HARNESSES_READ])
    assert client.post(f"{BASE}/{draft.pk}/check", {"document": sample_document()}, format="json").status_code == 200
    for action in WRITES:
        problem(client.post(f"{BASE}/{draft.pk}/{action}", {}, format="json"), 403, "missing_scope")
    problem(client.put(f"{BASE}/{draft.pk}", {}, format="json"), 403, "missing_scope")


def test_drafts_of_a_harness_for_members_are_not_there_for_others(draft, operator, make_user, make_api_client):
    harness_update(harness=draft.harness, access="members", acting_user=operator)
    client = make_api_client(make_user(Role.OPERATOR, username="sam"))
    for path in ("", f"/{draft.pk}", f"/{draft.pk}/revisions", f"/{draft.pk}/compare"):
        problem(client.get(f"{BASE}{path}"), 404)
    for action in (*POSTED, *WRITES):
        problem(client.post(f"{BASE}/{draft.pk}/{action}", {"document": sample_document()}, format="json"), 404)
    for path in ("operations", "operations/get_price/tool"):
        problem(client.get(f"/api/v1/harnesses/autumn/{path}"), 404)


def test_a_draft_is_found_only_under_its_own_harness(api, draft, operator, world):
    harness_create(slug="winter", title="W", world=world, acting_user=operator)
    problem(api.get(f"/api/v1/harnesses/winter/drafts/{draft.pk}"), 404)


def test_the_editor_saves_with_the_session_and_its_csrf_token(draft, operator):
    client = Client(enforce_csrf_checks=True)
    client.login(username=operator.username, password=PASSWORD)
    body = json.dumps({"document": sample_document(rules="Be kind.")})
    send: dict[str, Any] = {"content_type": "application/json", "headers": {"If-Match": '"r1"'}}
    assert client.put(f"{BASE}/{draft.pk}", body, **send).status_code == 403
    client.get("/harnesses/")
    send["headers"]["X-CSRFToken"] = client.cookies["csrftoken"].value
    assert client.put(f"{BASE}/{draft.pk}", body, **send).status_code == 200


# --- help with components --------------------------------------------------------------------------------------------


def test_operations_are_listed_and_made_into_tools(api, harness):
    operations = api.get("/api/v1/harnesses/autumn/operations").json()
    assert [(item["name"], item["effect"]) for item in operations] == [("get_price", "read"), ("push_card", "write")]
    tool = api.get("/api/v1/harnesses/autumn/operations/push_card/tool").json()
    assert (tool["name"], tool["binding"]["cases"][0]["operation"]) == ("push_card", "push_card")
    assert tool["parameter_order"] == ["item_id", "note"]
    problem(api.get("/api/v1/harnesses/autumn/operations/fly/tool"), 404)


def test_skill_templates_are_skills(api, post):
    templates = api.get("/api/v1/skill-templates").json()
    assert len(templates) >= 3
    body = post("check", {"document": {**sample_document(), "skills": templates}}).json()
    assert [item for item in body["findings"] if item["severity"] == "error"] == []
