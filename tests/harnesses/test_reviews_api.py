"""The REST resources of reviews, called as a program calls them."""

from __future__ import annotations

import pytest
from django.test import Client

from harnesses.models import Harness, Review
from harnesses.services import harness_archive, harness_create, review_request
from ledger.core.roles import Role
from ledger.core.tokens import Scope
from ledger.selectors import audit_list
from ledger.services import user_set_roles
from tests.conftest import PASSWORD
from tests.harnesses.review_steps import commit
from tests.harnesses.samples import sample_spec

pytestmark = pytest.mark.django_db
BASE = "/api/v1"


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    commit(made, sample_spec(), operator)
    commit(made, sample_spec(rules="Answer in two sentences."), operator)
    return made


@pytest.fixture
def review(harness, operator, reviewer):
    newest = harness.versions.get(number=2)
    return review_request(version=newest, message="Please", reviewers=[reviewer], acting_user=operator)


@pytest.fixture
def reviewer_api(reviewer, make_api_client):
    return make_api_client(reviewer)


def post(client, path, body=None, **headers):
    return client.post(f"{BASE}/{path}", body or {}, format="json", headers=headers)


def problem_of(response, status, code=None):
    assert response.status_code == status, response.content[:500]
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    if code:
        assert body["type"] == f"urn:tackroom:problem:{code}"
    return body


def fields_of(problem):
    return [error["field"] for error in problem["errors"]]


# --- the whole way ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_review_is_requested_talked_about_and_approved(api, reviewer_api, harness, slash):
    suggested = api.get(f"{BASE}/harnesses/autumn/reviewers{slash}").json()
    assert suggested == [{"username": "rui", "name": "Rui Reviewer", "reason": ""}]
    made = post(api, f"harnesses/autumn/reviews{slash}", {"number": 2, "message": "Please", "reviewers": ["rui"]})
    assert made.status_code == 201, made.content
    body = made.json()
    assert (body["state"], body["number"], body["base_number"]) == ("in_review", 2, 1)
    assert (body["approvals"], body["required_approvals"], body["reviewers"]) == (0, 1, ["rui"])
    assert body["you"]["why_not_decide"]
    address = f"reviews/{body['id']}"
    seen = reviewer_api.get(made["Location"]).json()
    assert seen["you"]["can_approve"] is True
    assert "Text of Rules changed" in seen["risk"]["changes"][0]["headline"]

    place = {"component_kind": "prompt", "component_id": "rules", "field": "body", "line": 1}
    thread = post(reviewer_api, f"{address}/threads{slash}", {"body": "Why two?", **place})
    assert (thread.status_code, thread.json()["quote"]) == (201, "Answer in two sentences.")
    one = f"{address}/threads/{thread.json()['id']}"
    assert post(api, f"{one}/comments{slash}", {"body": "Viewers asked."}).status_code == 201
    assert post(api, f"{one}/resolve{slash}").json()["is_resolved"] is True
    assert post(api, f"{one}/reopen{slash}").json()["is_resolved"] is False
    listed = api.get(f"{BASE}/{address}/threads{slash}").json()
    assert [comment["body"] for comment in listed[0]["comments"]] == ["Why two?", "Viewers asked."]

    decided = post(reviewer_api, f"{address}/decisions{slash}", {"verdict": "approve", "number": 2})
    assert (decided.status_code, decided.json()["state"]) == (200, "approved")
    assert decided.json()["approved_by"] == ["Rui Reviewer (rui)"]
    entry = audit_list(action_prefix="review.approved").get()
    assert entry.request_id == decided["X-Request-ID"]


def test_a_review_is_withdrawn_and_moved_on(api, harness, review, ml_engineer, make_api_client):
    commit(harness, sample_spec(rules="By Mei."), ml_engineer)
    moved = post(make_api_client(ml_engineer), f"reviews/{review.pk}/renew", {"number": 3})
    assert (moved.status_code, moved.json()["number"]) == (200, 3)
    assert post(api, f"reviews/{review.pk}/withdraw", {"reason": "Not now"}).json()["state"] == "withdrawn"
    problem_of(post(api, f"reviews/{review.pk}/renew", {"number": 3}), 422)


# --- lists -----------------------------------------------------------------------------------------------------------


def test_reviews_are_listed_by_state_harness_and_who(api, reviewer_api, harness, review, operator, ml_engineer):
    other = commit(harness, sample_spec(rules="By Mei."), ml_engineer)
    second = review_request(version=other, acting_user=ml_engineer)

    def ids(client, query):
        return [item["id"] for item in client.get(f"{BASE}/reviews?{query}").json()["results"]]

    assert ids(api, "") == [second.pk, review.pk]
    assert ids(api, "state=open&harness=autumn") == [second.pk, review.pk]
    assert ids(api, "state=rejected") == []
    assert ids(api, "author=me") == [review.pk]
    assert ids(reviewer_api, "asked=me") == [review.pk]
    assert ids(reviewer_api, "waiting=me") == [second.pk, review.pk]
    assert ids(api, "waiting=me") == [second.pk], "Olga is an admin of the harness, and wrote no part of the second"
    first = reviewer_api.get(f"{BASE}/harnesses/autumn/reviews?limit=1").json()
    assert [item["id"] for item in first["results"]] == [second.pk]
    assert [item["id"] for item in reviewer_api.get(first["next"]).json()["results"]] == [review.pk]


def test_a_list_takes_the_same_queries_for_one_and_for_many(
    api, review, world, operator, django_assert_max_num_queries
):
    for number in range(5):
        other = harness_create(slug=f"h-{number}", title="Other", world=world, acting_user=operator)
        review_request(version=commit(other, sample_spec(), operator), acting_user=operator)
    with django_assert_max_num_queries(6):
        api.get(f"{BASE}/reviews")


@pytest.mark.parametrize(
    ("query", "field"),
    [("state=nonsense", "state"), ("asked=rui", "asked"), ("author=%F0%9F%A7%B5", "author"), ("cursor=x", "cursor")],
)
def test_a_filter_that_makes_no_sense_is_a_422(api, review, query, field):
    assert fields_of(problem_of(api.get(f"{BASE}/reviews?{query}"), 422)) == [field]


def test_a_harness_that_is_not_there_is_a_404(api, review):
    problem_of(api.get(f"{BASE}/reviews?harness=nope"), 404, "not_found")
    problem_of(api.get(f"{BASE}/harnesses/nope/reviewers"), 404, "not_found")


# --- who may ---------------------------------------------------------------------------------------------------------


def test_a_token_decides_no_more_than_its_owner(make_user, make_api_client, harness):
    root = make_user(Role.ADMIN, username="root", is_superuser=True)
    review = review_request(version=harness.versions.get(number=2), acting_user=root)
    body = {"verdict": "approve", "number": 2}
    problem_of(post(make_api_client(root), f"reviews/{review.pk}/decisions", body), 403, "own_change")
    assert review.decisions.count() == 0


def test_a_logged_in_author_is_refused_like_their_token(operator, review):
    client = Client()
    client.login(username=operator.username, password=PASSWORD)
    body = {"verdict": "approve", "number": 2}
    response = client.post(f"{BASE}/reviews/{review.pk}/decisions", body, content_type="application/json")
    assert problem_of(response, 403, "own_change")["detail"].startswith("You wrote a part of this change")


def test_the_admin_site_offers_no_way_round(make_user, review):
    root = make_user(Role.ADMIN, username="root", is_superuser=True)
    client = Client()
    client.force_login(root)
    for name in ("review", "reviewdecision", "reviewthread", "reviewcomment"):
        for path in (f"/admin/harnesses/{name}/add/", f"/admin/harnesses/{name}/{review.pk}/change/"):
            response = client.post(path, {"state": "approved", "verdict": "approve"})
            assert response.status_code in (403, 404), path
    assert Review.objects.get().state == "in_review"


def test_the_scope_and_the_role_are_both_needed(reviewer, make_api_client, review):
    body = {"verdict": "approve", "number": 2}
    narrow = make_api_client(reviewer, [Scope.HARNESSES_READ, Scope.HARNESSES_WRITE])
    problem_of(post(narrow, f"reviews/{review.pk}/decisions", body), 403, "missing_scope")
    wide = make_api_client(reviewer, [Scope.REVIEWS_WRITE])
    user_set_roles(user=reviewer, roles=["viewer"], acting_user=None)
    problem_of(post(wide, f"reviews/{review.pk}/decisions", body), 403, "denied")


def test_reviews_of_a_hidden_harness_are_not_there(reviewer_api, review):
    Harness.objects.update(access="members")
    assert reviewer_api.get(f"{BASE}/reviews").json()["results"] == []
    for path in ("", "/threads"):
        problem_of(reviewer_api.get(f"{BASE}/reviews/{review.pk}{path}"), 404, "not_found")
    bodies = {
        "decisions": {"verdict": "approve", "number": 2},
        "withdraw": {},
        "renew": {"number": 2},
        "threads": {"body": "Hm."},
    }
    for path, body in bodies.items():
        problem_of(post(reviewer_api, f"reviews/{review.pk}/{path}", body), 404)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("review_id", ["0", "99999", str(2**63), "9" * 40, "abc", "-1", "%00", "١"])
def test_a_review_that_is_not_there_is_a_404(api, review, review_id):
    problem_of(api.get(f"{BASE}/reviews/{review_id}"), 404, "not_found")
    body = {"verdict": "approve", "number": 1}
    problem_of(post(api, f"reviews/{review_id}/decisions", body), 404, "not_found")
    problem_of(post(api, f"reviews/{review.pk}/threads/{review_id}/comments", {"body": "x"}), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "number"),
        ({"number": 99}, 422, "number"),
        ({"number": 0}, 400, "number"),
        ({"number": True}, 400, "number"),
        ({"number": 10**30}, 400, "number"),
        ({"number": "two"}, 400, "number"),
        ({"number": 2, "message": ["x"]}, 400, "message"),
        ({"number": 2, "message": "x" * 100_000}, 422, "message"),
        ({"number": 2, "reviewers": "rui"}, 400, "reviewers"),
        ({"number": 2, "reviewers": ["olga"]}, 422, "reviewers"),
        ({"number": 2, "reviewers": [None]}, 400, "reviewers[0]"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_by_field(api, harness, body, status, field):
    assert field in fields_of(problem_of(post(api, "harnesses/autumn/reviews", body), status))
    assert not Review.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "verdict"),
        ({"verdict": "approve"}, 400, "number"),
        ({"verdict": "maybe", "number": 2}, 400, "verdict"),
        ({"verdict": {"x": 1}, "number": 2}, 400, "verdict"),
        ({"verdict": "reject", "number": 2}, 422, "reason"),
        ({"verdict": "reject", "number": 2, "reason": "  "}, 422, "reason"),
        ({"verdict": "reject", "number": 2, "reason": "x" * 100_000}, 422, "reason"),
    ],
)
def test_a_decision_that_makes_no_sense_is_told_by_field(reviewer_api, review, body, status, field):
    assert field in fields_of(problem_of(post(reviewer_api, f"reviews/{review.pk}/decisions", body), status))


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "body"),
        ({"body": ""}, 400, "body"),
        ({"body": "x", "extra": 1}, 400, "extra"),
        ({"body": "x" * 100_000}, 422, "body"),
        ({"body": "x", "component_kind": "moon"}, 400, "component_kind"),
        ({"body": "x", "component_kind": "prompt", "component_id": "nope"}, 422, "component_id"),
        ({"body": "x", "component_kind": "prompt", "component_id": "rules", "field": "body", "line": 0}, 400, "line"),
        ({"body": "x", "component_kind": "prompt", "component_id": "rules", "field": "body", "line": 9}, 422, "line"),
    ],
)
def test_a_comment_that_makes_no_sense_is_told_by_field(reviewer_api, review, body, status, field):
    assert field in fields_of(problem_of(post(reviewer_api, f"reviews/{review.pk}/threads", body), status))


def test_nul_is_a_400_and_odd_scripts_are_kept(reviewer_api, review):
    raw = b'{"body": "a\\u0000b"}'
    response = reviewer_api.generic("POST", f"{BASE}/reviews/{review.pk}/threads", raw, content_type="application/json")
    problem_of(response, 400, "malformed")
    text = "‮שלום‬ 你好 🧵 <b>{{ x }}</b>"
    made = post(reviewer_api, f"reviews/{review.pk}/threads", {"body": text})
    assert made.json()["comments"][0]["body"] == text


def test_a_decision_on_a_version_that_moved_is_a_409(reviewer_api, harness, review, operator):
    commit(harness, sample_spec(rules="Meanwhile."), operator)
    body = {"verdict": "approve", "number": 2}
    problem = problem_of(post(reviewer_api, f"reviews/{review.pk}/decisions", body), 409, "stale_review")
    assert "version 3" in problem["detail"]


def test_an_archived_harness_answers_409(api, reviewer_api, harness, review, operator):
    harness_archive(harness=harness, acting_user=operator)
    body = {"verdict": "approve", "number": 2}
    problem_of(post(reviewer_api, f"reviews/{review.pk}/decisions", body), 409, "archived")
    problem_of(post(api, "harnesses/autumn/reviews", {"number": 1}), 409, "archived")


def test_a_repeated_request_with_a_key_is_carried_out_once(api, reviewer_api, harness):
    key = {"Idempotency-Key": "click-1"}
    first = post(api, "harnesses/autumn/reviews", {"number": 2}, **key)
    again = post(api, "harnesses/autumn/reviews", {"number": 2}, **key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Review.objects.count() == 1
    for _ in range(2):
        post(reviewer_api, f"reviews/{first.json()['id']}/threads", {"body": "Once"}, **key)
    assert Review.objects.get().threads.count() == 1
