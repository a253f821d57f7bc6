"""Going back, forking, merging back, and who last changed what: by service and by REST API."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from harnesses.core.parsing import spec_from_document
from harnesses.errors import InvalidHarness
from harnesses.models import Harness
from harnesses.selectors import (
    common_ancestor,
    draft_spec,
    harness_get,
    version_blame,
    version_get,
    version_list,
    version_spec,
)
from harnesses.selectors.history import _blame_key
from harnesses.services import (
    harness_archive,
    harness_commit,
    harness_create,
    harness_fork,
    harness_merge_from,
    harness_update,
    version_revert,
)
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, NotFound
from ledger.selectors import audit_list
from tests.harnesses.samples import sample_document, sample_spec

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses"


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    for message, spec in (
        ("First", sample_spec()),
        ("Kinder", sample_spec(rules="Be kind.")),
        ("Renamed", sample_spec(rules="Be kind.", tool_name="check_price")),
    ):
        harness_commit(harness=made, spec=spec, message=message, acting_user=operator)
    return made


def ancestor_number(merged) -> Any:
    return merged.ancestor.number


def base_number(draft) -> Any:
    return draft.base_version.number


def ancestor_of(first, second) -> Any:
    return common_ancestor(first, second)


def commit(harness, operator, **changes):
    return harness_commit(harness=harness, spec=sample_spec(**changes), message="m", acting_user=operator).version


# --- revert ----------------------------------------------------------------------------------------------------------


def test_a_revert_is_a_new_version_and_changes_no_old_one(harness, operator):
    result = version_revert(version=version_get("autumn", 1), message="", acting_user=operator)
    assert (result.is_new, result.version.number, result.version.message) == (True, 4, "Revert to version 1")
    assert version_spec(result.version) == sample_spec()
    assert version_list("autumn").count() == 4


def test_a_revert_to_what_is_newest_changes_nothing(harness, operator):
    result = version_revert(version=version_get("autumn", 3), message="Same", acting_user=operator)
    assert (result.is_new, result.version.number) == (False, 3)


def test_a_revert_that_has_not_seen_the_newest_is_refused(harness, operator, reviewer):
    version = version_get("autumn", 1)
    with pytest.raises(Conflict) as caught:
        version_revert(version=version, message="", expected_number=2, acting_user=operator)
    assert caught.value.code == "version_conflict"
    with pytest.raises(Denied):
        version_revert(version=version, message="", acting_user=reviewer)


def test_a_version_that_would_be_refused_today_is_not_reverted_to(harness, operator, demo_catalogue):
    del demo_catalogue["get_price"]
    with pytest.raises(InvalidHarness):
        version_revert(version=version_get("autumn", 1), message="", acting_user=operator)


# --- forks -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def fork(harness, operator):
    return harness_fork(version=version_get("autumn", 2), slug="winter", title="Winter", acting_user=operator)


def test_a_fork_begins_with_that_version_and_remembers_it(fork, operator):
    winter = harness_get("winter")
    assert (winter.forked_from, winter.version_count, winter.world) == (version_get("autumn", 2), 1, "test-shop")
    assert version_spec(version_get("winter")) == version_spec(version_get("autumn", 2))
    actions = [entry.action for entry in audit_list(object_type="harness", object_id=fork.pk)][::-1]
    assert actions == ["harness.created", "harness.forked", "harness.committed"]


def test_a_fork_of_a_harness_for_members_is_for_its_members_too(harness, operator, reviewer):
    harness_update(harness=harness, access="members", acting_user=operator)
    fork = harness_fork(version=version_get("autumn"), slug="winter", title="W", acting_user=operator)
    assert harness_get("winter").access == Harness.Access.MEMBERS
    assert fork.access == Harness.Access.MEMBERS
    with pytest.raises(NotFound):
        harness_fork(version=version_get("autumn"), slug="spring", title="S", acting_user=reviewer)


def test_a_fork_that_fails_leaves_nothing_behind(harness, operator, demo_catalogue):
    with pytest.raises(Conflict):
        harness_fork(version=version_get("autumn"), slug="autumn", title="Again", acting_user=operator)
    del demo_catalogue["get_price"]
    with pytest.raises(InvalidHarness):
        harness_fork(version=version_get("autumn"), slug="winter", title="W", acting_user=operator)
    assert not Harness.objects.filter(slug="winter").exists()


def test_the_changes_of_a_fork_come_back_as_a_draft(harness, fork, operator):
    commit(fork, operator, rules="Be brief.")
    merged = harness_merge_from(harness=harness, version=version_get("winter"), acting_user=operator)
    spec = draft_spec(merged.draft)
    assert (spec.prompt[0].body, spec.tools[0].name) == ("Be brief.", "check_price")
    assert (merged.ancestor, merged.merge.conflicts) == (version_get("autumn", 2), ())
    assert (base_number(merged.draft), merged.draft.name) == (3, "Merge of winter, version 2")
    assert version_list("autumn").count() == 3


def test_what_both_changed_is_a_conflict_and_ones_own_stays(harness, fork, operator):
    commit(harness, operator, rules="Ours.")
    commit(fork, operator, rules="Theirs.")
    merged = harness_merge_from(harness=harness, version=version_get("winter"), acting_user=operator)
    conflict = merged.merge.conflicts[0]
    assert (conflict.mine, conflict.theirs, conflict.field) == ("Ours.", "Theirs.", "body")
    assert draft_spec(merged.draft).prompt[0].body == "Ours."


def test_the_origin_comes_into_a_fork_and_forks_of_one_origin_into_one_another(harness, fork, operator):
    merged = harness_merge_from(harness=fork, version=version_get("autumn", 3), acting_user=operator)
    assert (ancestor_number(merged), draft_spec(merged.draft).tools[0].name) == (2, "check_price")
    other = harness_fork(version=version_get("autumn", 1), slug="spring", title="S", acting_user=operator)
    ancestor = ancestor_of(version_get("spring"), version_get("winter"))
    assert (ancestor.harness.slug, ancestor.number) == ("autumn", 1)
    grandchild = harness_fork(version=version_get("winter"), slug="night", title="N", acting_user=operator)
    assert ancestor_of(version_get(grandchild), version_get(harness)).number == 2
    assert ancestor_of(version_get(other), version_get("autumn", 3)).number == 1


def test_harnesses_that_have_nothing_in_common_are_merged_without_loss(harness, operator, world):
    alone = harness_create(slug="alone", title="A", world=world, acting_user=operator)
    document = sample_document()
    document["prompt"] = [{"id": "greeting", "title": "Greeting", "body": "Say hello."}]
    document["tools"] = []
    harness_commit(harness=alone, spec=spec_from_document(document), message="m", acting_user=operator)
    merged = harness_merge_from(harness=harness, version=version_get("alone"), acting_user=operator)
    assert merged.ancestor is None
    assert {section.id for section in draft_spec(merged.draft).prompt} == {"rules", "greeting"}
    assert [tool.id for tool in draft_spec(merged.draft).tools] == ["price"]


def test_a_merge_that_makes_no_sense_is_refused(harness, fork, operator, reviewer):
    with pytest.raises(Invalid) as caught:
        harness_merge_from(harness=harness, version=version_get("autumn", 1), acting_user=operator)
    assert caught.value.field_errors[0].code == "same_harness"
    with pytest.raises(Denied):
        harness_merge_from(harness=harness, version=version_get("winter"), acting_user=reviewer)
    harness_archive(harness=harness, acting_user=None)
    with pytest.raises(Conflict):
        harness_merge_from(harness=harness_get("autumn"), version=version_get("winter"), acting_user=operator)


# --- blame -----------------------------------------------------------------------------------------------------------


def blamed(number):
    return {
        (item.kind, item.component_id): item.version.number for item in version_blame(version_get("autumn", number))
    }


EXPECTED = {
    1: {("prompt", "rules"): 1, ("tool", "price"): 1, ("runtime", "runtime"): 1},
    2: {("prompt", "rules"): 2, ("tool", "price"): 1, ("runtime", "runtime"): 1},
    3: {("prompt", "rules"): 2, ("tool", "price"): 3, ("runtime", "runtime"): 1},
}


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (3, 1, 2), (3, 3, 3)])
def test_each_component_is_blamed_on_the_version_that_last_changed_it(harness, order):
    for version in version_list("autumn"):
        cache.delete(_blame_key(version.pk))
    assert {number: blamed(number) for number in order} == {number: EXPECTED[number] for number in order}


def test_blame_names_who_and_why(harness):
    item = version_blame(version_get("autumn"))[0]
    assert (item.component_name, item.version.message) == ("Rules", "Kinder")
    assert item.version.author_name == "Olga Operator (olga)"


def test_a_long_history_is_read_once(harness, operator):
    for number in range(60):
        commit(harness, operator, rules=f"Rule {number}.", tool_name="check_price")
    assert blamed(63)[("runtime", "runtime")] == 1
    commit(harness, operator, rules="The last one.", tool_name="check_price")
    with CaptureQueriesContext(connection) as queries:
        assert blamed(64) == {("prompt", "rules"): 64, ("tool", "price"): 3, ("runtime", "runtime"): 1}
    walks = [query["sql"] for query in queries if '"document"' in query["sql"] and '"number" <= 64' in query["sql"]]
    assert len(walks) == 1
    assert '"number" >= 63' in walks[0], "only what came after the blame that is remembered"


# --- over REST -------------------------------------------------------------------------------------------------------


def test_a_revert_a_fork_and_a_merge_over_rest(api, harness):
    response = api.post(f"{BASE}/autumn/versions/1/revert", {"message": "Back"}, format="json")
    assert (response.status_code, response.json()["version"]["number"]) == (201, 4)
    made = api.post(f"{BASE}/autumn/fork/", {"slug": "winter", "title": "Winter", "number": 3}, format="json")
    assert (made.status_code, made.json()["slug"]) == (201, "winter")
    assert api.get(made["Location"]).json()["title"] == "Winter"
    merged = api.post(f"{BASE}/autumn/merge-from/", {"slug": "winter"}, format="json")
    body = merged.json()
    assert (merged.status_code, body["ancestor"], body["conflicts"]) == (201, "autumn@3", [])
    assert api.get(merged["Location"]).json()["id"] == body["id"]


def test_blame_over_rest(api, harness):
    rows = api.get(f"{BASE}/autumn/versions/3/blame").json()
    assert [(row["kind"], row["number"], row["message"]) for row in rows] == [
        ("prompt", 2, "Kinder"),
        ("tool", 3, "Renamed"),
        ("runtime", 1, "First"),
    ]


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("versions/1/revert", {"message": 7}, 400, "message"),
        ("versions/1/revert", {"mesage": "x"}, 400, "mesage"),
        ("versions/1/revert", {"message": "x" * 2_001}, 422, "message"),
        ("versions/9/revert", {}, 404, None),
        ("fork", {}, 400, "slug"),
        ("fork", {"slug": "Not A Slug", "title": "T"}, 422, "slug"),
        ("fork", {"slug": "autumn", "title": "T"}, 409, None),
        ("fork", {"slug": "winter", "title": ""}, 422, "title"),
        ("fork", {"slug": "winter", "title": "T", "number": "1"}, 400, "number"),
        ("fork", {"slug": "winter", "title": "T", "number": 99}, 404, None),
        ("merge-from", {"slug": "nope"}, 404, None),
        ("merge-from", {"slug": "autumn"}, 422, "slug"),
        ("merge-from", {"slug": ["autumn"]}, 400, "slug"),
        ("merge-from", {"slug": "a\u0000b"}, 400, None),
    ],
)
def test_bad_requests_name_the_field(api, harness, path, body, status, field):
    response = api.post(f"{BASE}/autumn/{path}", body, format="json")
    assert response.status_code == status, response.content
    if field:
        assert response.json()["errors"][0]["field"] == field


def test_versions_of_two_harnesses_are_compared(api, harness, fork, operator):
    commit(fork, operator, rules="Be brief.")
    changes = api.get(f"{BASE}/autumn/compare?from=2&to=winter@2").json()["changes"]
    assert [(change["before"], change["after"]) for change in changes] == [("Be kind.", "Be brief.")]
    assert api.get(f"{BASE}/autumn/compare?from=autumn@2&to=winter@1").json()["changes"] == []


@pytest.mark.parametrize(
    ("query", "status"),
    [("from=1", 422), ("from=1&to=", 422), ("from=1&to=@2", 422), ("from=1&to=a@b@c", 422), ("from=1&to=nope@1", 404),
     ("from=1&to=winter@9", 404), ("from=1&to=winter@", 422), ("from=1&to=%00", 400)],
)  # fmt: skip
def test_a_comparison_with_what_is_not_there_is_refused(api, harness, fork, query, status):
    assert api.get(f"{BASE}/autumn/compare?{query}").status_code == status


def test_nobody_compares_with_a_harness_they_may_not_see(harness, fork, operator, make_user, make_api_client):
    harness_update(harness=fork, access="members", acting_user=operator)
    stranger = make_api_client(make_user(Role.OPERATOR, username="sam"))
    assert stranger.get(f"{BASE}/autumn/compare?from=1&to=winter@1").status_code == 404
    assert stranger.post(f"{BASE}/autumn/merge-from", {"slug": "winter"}, format="json").status_code == 404
    assert stranger.post(f"{BASE}/winter/fork", {"slug": "x", "title": "X"}, format="json").status_code == 404
