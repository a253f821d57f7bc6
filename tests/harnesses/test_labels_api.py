"""Labels, planned releases and freezes over REST, and resolving a label on both its ways."""

from __future__ import annotations

import datetime as dt
import json

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client
from django.utils import timezone

from harnesses.models import Harness, HarnessLabel, ScheduledRelease
from harnesses.selectors import label_moves, version_spec
from harnesses.services import harness_create, label_move, member_set
from ledger.core.roles import Role
from ledger.core.tokens import Scope
from ledger.models import ApiToken
from ledger.services import team_create, token_create, token_revoke
from tests.conftest import PASSWORD
from tests.harnesses.release_world import REASON, release, three_versions

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses/autumn"
FREEZES = "/api/v1/freezes"


@pytest.fixture
def harness(admin, world):
    return harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=admin)


@pytest.fixture
def versions(harness, operator, reviewer, make_user):
    return three_versions(harness, operator, reviewer, make_user(Role.REVIEWER, username="rosa"))


@pytest.fixture
def releaser(versions, reviewer, make_api_client):
    """A client of somebody who may release."""
    return make_api_client(reviewer)


def problem(response, status, code=None):
    assert response.status_code == status, response.content[:600]
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["detail"]
    if code is not None:
        assert body["type"] == f"urn:tackroom:problem:{code}"
    return body


def put(client, name, body, **headers):
    return client.put(f"{BASE}/labels/{name}", body, format="json", headers=headers)


def later(**delta) -> str:
    return (timezone.now() + dt.timedelta(**delta)).isoformat()


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_label_is_made_moved_read_and_listed(api, versions, slash):
    made = put(api, f"staging{slash}", {"number": 1})
    assert (made.status_code, made["ETag"], made["Location"]) == (201, '"l1"', f"{BASE}/labels/staging")
    moved = put(api, "staging", {"number": 3, "reason": "Try it"}, **{"If-Match": '"l1"'})
    assert (moved.status_code, moved["ETag"], moved.json()["is_moved"]) == (200, '"l2"', True)
    body = api.get(f"{BASE}/labels/staging{slash}").json()
    assert (body["number"], body["moved_from"], body["reason"]) == (3, 1, "Try it")
    assert (body["moved_by"], body["spec_hash"]) == ("Olga Operator (olga)", versions[2].spec_hash)
    listed = api.get(f"{BASE}/labels{slash}").json()["results"]
    assert [(item["name"], item["is_protected"]) for item in listed] == [("production", True), ("staging", False)]


def test_a_move_sent_twice_makes_one_row(api, versions):
    first = put(api, "staging", {"number": 1}, **{"If-None-Match": "*"})
    second = put(api, "staging", {"number": 1}, **{"If-None-Match": "*"})
    assert (first.status_code, second.status_code, second.json()["is_moved"]) == (201, 200, False)
    assert label_moves(versions[0].harness, "staging").count() == 1


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"If-Match": '"l7"'}, 409, "stale_label"),
        ({"If-None-Match": "*"}, 409, "stale_label"),
        ({"If-Match": "l1"}, 400, "bad_if_match"),
        ({"If-Match": '"r1"'}, 400, "bad_if_match"),
        ({"If-Match": "*"}, 400, "bad_if_match"),
        ({"If-None-Match": '"l1"'}, 400, "bad_if_match"),
    ],
)
def test_a_move_from_another_look_is_refused(api, versions, headers, status, code):
    put(api, "staging", {"number": 1})
    problem(put(api, "staging", {"number": 2}, **headers), status, code)
    assert api.get(f"{BASE}/labels/staging").json()["number"] == 1


@pytest.mark.parametrize("name", ["3", "v3", "latest", "%E7%94%9F%E4%BA%A7", "a" * 41, "A", "a%20b", "a%00b", "a@b"])
def test_names_that_no_label_can_have_are_told_by_field(api, versions, name):
    body = problem(put(api, name, {"number": 1}), 422, "invalid")
    assert [error["field"] for error in body["errors"]] == ["label"]
    problem(api.get(f"{BASE}/labels/{name}"), 404)


@pytest.mark.parametrize("name", ["a/b", "a%2Fb"])
def test_a_name_with_a_slash_is_no_address(api, versions, name):
    problem(put(api, name, {"number": 1}), 404)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ([], 400),
        ({"number": "1"}, 400),
        ({"number": True}, 400),
        ({"number": None}, 400),
        ({"number": 0}, 400),
        ({"number": 2**31}, 400),
        ({"number": 1, "reason": 3}, 400),
        ({"number": 1, "colour": "red"}, 400),
        ({"number": 1, "reason": "x" * 2001}, 422),
        ({"number": 99}, 404),
    ],
)
def test_bodies_of_a_move_that_make_no_sense_are_refused(api, versions, body, status):
    problem(put(api, "staging", body), status)
    assert not HarnessLabel.objects.filter(name="staging").exists()


def test_production_says_everything_that_is_missing(releaser, versions):
    body = problem(
        put(releaser, "production", {"number": 3, "reason": "x", "confirm": "production"}), 409, "not_approved"
    )
    assert [item["code"] for item in body["blockers"]] == ["not_approved"]
    assert "review" in body["blockers"][0]["mend"]
    refused = problem(put(releaser, "production", {"number": 2, "reason": "x"}), 422, "invalid")
    assert refused["errors"][0]["field"] == "confirm"
    moved = put(releaser, "production", {"number": 2, "reason": "Tried", "confirm": "production"})
    assert (moved.status_code, moved.json()["number"]) == (200, 2)


def test_a_preview_tells_the_whole_story(releaser, versions):
    body = releaser.get(f"{BASE}/labels/production/preview?number=3").json()
    assert (body["held_number"], body["number"], body["revision"], body["is_protected"]) == (1, 3, 1, True)
    assert (body["required_approvals"], body["approved_by"], body["verdict"]) == (1, [], "unknown")
    assert [change["kind"] for change in body["changes"]] == ["prompt"]
    assert [blocker["code"] for blocker in body["blockers"]] == ["not_approved"]
    for query, status in (("", 422), ("?number=x", 404), ("?number=99", 404)):
        problem(releaser.get(f"{BASE}/labels/production/preview{query}"), status)


def test_undo_moves_protect_and_remove(releaser, api, versions, admin, make_api_client):
    put(releaser, "production", {"number": 2, "reason": "Tried", "confirm": "production"})
    undo = releaser.post(f"{BASE}/labels/production/undo", {"confirm": "production"}, format="json")
    assert (undo.json()["number"], undo["ETag"]) == (1, '"l3"')
    moves = releaser.get(f"{BASE}/labels/production/moves").json()["results"]
    assert [(move["from_number"], move["to_number"], move["cause"]) for move in moves] == [
        (2, 1, "undo"),
        (1, 2, "move"),
        (None, 1, "move"),
    ]
    problem(api.delete(f"{BASE}/labels/production"), 409, "protected")
    put(api, "staging", {"number": 1})
    problem(api.patch(f"{BASE}/labels/staging", {"is_protected": True}, format="json"), 403)
    managing = make_api_client(admin)
    for body in ({}, {"is_protected": "true"}, {"is_protected": 1}, {"is_protected": None}):
        problem(managing.patch(f"{BASE}/labels/staging", body, format="json"), 400)
    assert managing.patch(f"{BASE}/labels/staging", {"is_protected": True}, format="json").json()["is_protected"]
    managing.patch(f"{BASE}/labels/staging", {"is_protected": False}, format="json")
    assert api.delete(f"{BASE}/labels/staging?reason=Done").status_code == 204
    problem(api.get(f"{BASE}/labels/staging"), 404)
    assert api.get(f"{BASE}/labels/staging/moves").json()["results"][0]["reason"] == "Done"
    problem(api.get(f"{BASE}/labels/never/moves"), 404)


def test_a_token_without_the_scope_moves_nothing(operator, versions, make_api_client):
    client = make_api_client(operator, [Scope.HARNESSES_READ, Scope.HARNESSES_WRITE])
    problem(put(client, "staging", {"number": 1}), 403, "missing_scope")
    problem(client.post(f"{BASE}/releases", {}, format="json"), 403, "missing_scope")
    problem(client.post(FREEZES, {}, format="json"), 403, "missing_scope")
    assert client.get(f"{BASE}/labels").status_code == 200


# --- planned releases and freezes ------------------------------------------------------------------------------------


def test_a_release_is_planned_once_read_and_cancelled(releaser, versions):
    body = {"label": "production", "number": 2, "due_at": later(hours=2), "reason": REASON, "confirm": "production"}
    made = releaser.post(f"{BASE}/releases", body, format="json", headers={"Idempotency-Key": "release-2"})
    again = releaser.post(f"{BASE}/releases", body, format="json", headers={"Idempotency-Key": "release-2"})
    assert (made.status_code, again.status_code, again.json()) == (201, 201, made.json())
    problem(releaser.post(f"{BASE}/releases", body, format="json"), 409, "already_scheduled")
    one = f"{BASE}/releases/{made.json()['id']}"
    assert releaser.get(one).json()["state"] == "scheduled"
    assert releaser.post(f"{one}/cancel", {"reason": "No"}, format="json").json()["state"] == "cancelled"
    assert [item["state"] for item in releaser.get(f"{BASE}/releases").json()["results"]] == ["cancelled"]


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"due_at": "tomorrow"}, 400, "due_at"),
        ({"due_at": "2026-12-24T10:00:00"}, 400, "due_at"),
        ({"due_at": "0001-01-01T00:00:00+14:00"}, 400, "due_at"),
        ({"due_at": 1798105200}, 400, "due_at"),
        ({"due_at": "2020-01-01T00:00:00Z"}, 422, "due_at"),
        ({"due_at": "9999-12-31T00:00:00Z"}, 422, "due_at"),
        ({"label": "v3"}, 422, "label"),
        ({"label": ["production"]}, 400, "label"),
        ({"confirm": "prod"}, 422, "confirm"),
        ({"reason": ""}, 422, "reason"),
        ({"number": 99}, 404, None),
        ({"extra": 1}, 400, "extra"),
    ],
)
def test_plans_that_make_no_sense_are_refused_by_field(releaser, versions, changes, status, field):
    body = {"label": "production", "number": 2, "due_at": later(hours=2), "reason": REASON, "confirm": "production"}
    answer = problem(releaser.post(f"{BASE}/releases", {**body, **changes}, format="json"), status)
    if field is not None:
        assert [error["field"] for error in answer["errors"]] == [field]
    assert not ScheduledRelease.objects.exists()


def test_freezes_of_one_and_of_all_block_and_are_ended(releaser, versions, admin, make_api_client):
    managing = make_api_client(admin)
    problem(releaser.post(f"{BASE}/freezes", {"ends_at": later(hours=1), "reason": "Sale"}, format="json"), 403)
    own = managing.post(f"{BASE}/freezes", {"ends_at": later(hours=1), "reason": "Sale"}, format="json")
    everything = managing.post(
        FREEZES, {"starts_at": later(hours=-1), "ends_at": later(hours=9), "reason": "Holidays"}, format="json"
    )
    assert (own.status_code, everything.status_code, everything.json()["harness"]) == (201, 201, None)
    assert len(releaser.get(f"{BASE}/freezes").json()["results"]) == 2
    assert len(releaser.get(FREEZES).json()["results"]) == 1
    move = {"number": 2, "reason": "Tried", "confirm": "production"}
    assert "Holidays" in problem(put(releaser, "production", move), 409, "frozen")["detail"]
    problem(managing.post(f"{BASE}/freezes/{everything.json()['id']}/cancel", {}, format="json"), 404)
    managing.post(f"{FREEZES}/{everything.json()['id']}/cancel", {}, format="json")
    assert "Sale" in problem(put(releaser, "production", move), 409, "frozen")["detail"]
    managing.post(f"{BASE}/freezes/{own.json()['id']}/cancel", {"reason": "Over"}, format="json")
    assert put(releaser, "production", move).status_code == 200


def test_freezes_that_make_no_sense_are_refused(versions, admin, make_api_client):
    managing = make_api_client(admin)
    for body, status in (
        ({}, 400),
        ({"ends_at": later(hours=1)}, 400),
        ({"ends_at": later(hours=-1), "reason": "x"}, 422),
        ({"starts_at": later(hours=3), "ends_at": later(hours=1), "reason": "x"}, 422),
        ({"ends_at": later(hours=1), "reason": ""}, 422),
        ({"ends_at": "2026-12-24", "reason": "x"}, 400),
    ):
        problem(managing.post(FREEZES, body, format="json"), status)


# --- resolving, through Django ---------------------------------------------------------------------------------------


def resolve(client, query="?label=production", **headers):
    return client.get(f"{BASE}/resolve{query}", headers=headers)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_label_resolves_to_spec_and_hash_with_a_strong_etag(api, versions, slash):
    response = api.get(f"{BASE}/resolve{slash}?label=production")
    body = response.json()
    assert (body["harness"], body["label"], body["number"]) == ("autumn", "production", 1)
    assert (body["spec_hash"], body["spec"]) == (versions[0].spec_hash, version_spec(versions[0]).document())
    assert response["ETag"] == f'"{versions[0].spec_hash}.1"'
    for header in (response["ETag"], f"W/{response['ETag']}", f'"x", {response["ETag"]}', "*"):
        known = resolve(api, **{"If-None-Match": header})
        assert (known.status_code, known.content, known["ETag"]) == (304, b"", response["ETag"])
    assert resolve(api, **{"If-None-Match": '"x"'}).status_code == 200


def test_a_move_is_seen_with_the_next_request(api, versions, reviewer):
    etag = resolve(api)["ETag"]
    release(versions[1], reviewer)
    moved = resolve(api, **{"If-None-Match": etag})
    assert (moved.status_code, moved.json()["number"], moved["ETag"] != etag) == (200, 2, True)


def test_an_unknown_label_names_those_there_are(api, versions):
    put(api, "staging", {"number": 1})
    for query in ("?label=nope", "?label=v3", "?label=%E7%94%9F", f"?label={'a' * 3000}"):
        assert "production, staging" in problem(resolve(api, query), 404, "not_found")["detail"]
    assert problem(resolve(api, ""), 422)["errors"][0]["field"] == "label"
    problem(resolve(api, "?label=%00"), 400)


def test_people_who_are_logged_in_resolve_too_and_strangers_do_not(versions, operator):
    person = Client()
    assert resolve(person).status_code == 401
    assert person.login(username=operator.username, password=PASSWORD)
    assert resolve(person).json()["number"] == 1


# --- resolving, before Django ----------------------------------------------------------------------------------------


@pytest.fixture
async def ask(transactional_db, monkeypatch):
    """`await ask(secret)` asks the ASGI application; `ask.django` counts the requests that went on to Django."""
    from console import asgi
    from harnesses.selectors import resolving

    class Asking:
        django = 0

        async def __call__(self, secret, *, slug="autumn", query="label=production", **headers):
            if secret:
                headers["Authorization"] = f"Bearer {secret}"
            return await client.get(f"/api/v1/harnesses/{slug}/resolve?{query}", headers=headers)

    asking = Asking()

    async def counted(scope, receive, send):
        asking.django += 1
        await asgi.django_application(scope, receive, send)

    monkeypatch.setattr(asgi.application, "application", counted)
    transport = httpx.ASGITransport(app=asgi.application)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield asking
    await resolving.close_pool()
    await sync_to_async(connections.close_all)()


@sync_to_async
def _made(owner, scopes=(Scope.HARNESSES_READ,)) -> tuple[ApiToken, str]:
    created = token_create(owner=owner, name="stream platform", scopes=scopes, acting_user=owner)
    ApiToken.objects.filter(pk=created.token.pk).update(last_used_at=timezone.now())
    return created.token, created.secret


fast = pytest.mark.django_db(transaction=True)


@fast
async def test_both_ways_give_the_same_answer_with_the_same_headers(ask, versions, analyst):
    token, secret = await _made(analyst)
    before = await ask(secret)
    assert ask.django == 0
    await ApiToken.objects.filter(pk=token.pk).aupdate(last_used_at=None)
    through = await ask(secret)
    assert ask.django == 1
    assert (before.status_code, before.content) == (through.status_code, through.content)
    own = {"x-request-id", "allow"}
    assert {k: v for k, v in before.headers.items() if k not in own} == {
        k: v for k, v in through.headers.items() if k not in own
    }
    sent = {"If-None-Match": before.headers["etag"], "X-Request-ID": "request-12345"}
    known = await ask(secret, **sent)
    assert (ask.django, known.status_code, known.content) == (1, 304, b"")
    assert (known.headers["etag"], known.headers["x-request-id"]) == (before.headers["etag"], "request-12345")


@fast
async def test_a_use_of_the_token_is_noted_by_the_way_through_django(ask, versions, analyst):
    token, secret = await _made(analyst)
    await ApiToken.objects.filter(pk=token.pk).aupdate(last_used_at=timezone.now() - dt.timedelta(seconds=61))
    await ask(secret)
    await ask(secret)
    await token.arefresh_from_db()
    assert token.last_used_at is not None
    assert (ask.django, timezone.now() - token.last_used_at < dt.timedelta(seconds=30)) == (1, True)


@fast
async def test_a_move_counts_at_once_before_django_too(ask, versions, analyst, reviewer):
    _, secret = await _made(analyst)
    etag = (await ask(secret)).headers["etag"]
    await sync_to_async(release)(versions[1], reviewer)
    moved = await ask(secret, **{"If-None-Match": etag})
    assert (ask.django, moved.status_code, moved.json()["number"]) == (0, 200, 2)


@fast
async def test_whoever_may_not_know_goes_on_to_django_and_is_refused(ask, versions, analyst, make_user):
    token, secret = await _made(analyst)
    _, narrow = await _made(analyst, scopes=[Scope.SESSIONS_READ])
    nobody = await sync_to_async(make_user)(username="nobody")
    _, powerless = await _made(nobody)
    asked = [
        ("", "autumn", "label=production", 401),
        ("tkr_wrong", "autumn", "label=production", 401),
        (secret[:-1] + ("A" if secret[-1] != "A" else "B"), "autumn", "label=production", 401),
        (narrow, "autumn", "label=production", 403),
        (powerless, "autumn", "label=production", 404),
        (secret, "nope", "label=production", 404),
        (secret, "autumn", "label=nope", 404),
        (secret, "autumn", "label=v3", 404),
        (secret, "autumn", "", 422),
    ]
    for used, slug, query, status in asked:
        response = await ask(used, slug=slug, query=query)
        assert response.status_code == status, (used[:8], slug, query, response.text)
        assert response.headers["content-type"] == "application/problem+json"
    await sync_to_async(token_revoke)(token=token, acting_user=analyst)
    assert (await ask(secret)).status_code == 401
    assert ask.django == len(asked) + 1


@fast
async def test_a_harness_for_members_only_is_there_for_members_alone(ask, versions, harness, analyst, admin, make_user):
    await Harness.objects.filter(pk=harness.pk).aupdate(access="members")
    _, secret = await _made(analyst)
    _, managing = await _made(admin)
    assert (await ask(managing)).status_code == 200
    assert (await ask(secret)).status_code == 404
    colleague = await sync_to_async(make_user)(Role.ANALYST, username="ines")
    _, team_secret = await _made(colleague)
    await sync_to_async(team_create)(slug="stream", name="Stream", members=["ines"], acting_user=admin)
    await sync_to_async(_add_members)(harness, admin)
    before = ask.django
    assert [(await ask(used)).status_code for used in (secret, team_secret)] == [200, 200]
    assert ask.django == before


def _add_members(harness, admin):
    member_set(harness=harness, kind="user", name="anton", role="viewer", acting_user=admin)
    member_set(harness=harness, kind="team", name="stream", role="viewer", acting_user=admin)


@fast
async def test_odd_requests_get_what_django_says(ask, versions, analyst):
    _, secret = await _made(analyst)
    refused = await ask(secret, Accept="text/html")
    etag = (await ask(secret)).headers["etag"]
    failed = await ask(secret, **{"If-Match": '"other"'})
    assert (refused.status_code, failed.status_code) == (406, 412)
    assert (await ask(secret, query="label=production&label=staging")).status_code in (200, 404)
    assert (await ask(secret, **{"If-None-Match": f"W/{etag}"})).status_code == 304


@fast
async def test_an_outage_of_the_own_connections_is_bridged_by_django(ask, versions, analyst, monkeypatch):
    from harnesses.selectors import resolving

    _, secret = await _made(analyst)
    monkeypatch.setattr(resolving, "QUERY", "SELECT no_such_column")
    response = await ask(secret)
    assert (ask.django, response.status_code, response.json()["number"]) == (1, 200, 1)


def test_the_content_kept_is_bounded():
    from harnesses.selectors.resolving import Contents

    kept = Contents(max_bytes=10)
    for key in range(5):
        kept.keep(key, b"1234")
    assert [kept.get(key) for key in range(5)] == [None, None, None, b"1234", b"1234"]
    kept.get(3)
    kept.keep(9, b"12")
    kept.keep(10, b"1234")
    assert (kept.get(3), kept.get(4)) == (b"1234", None)
    kept.keep(11, b"x" * 11)
    assert kept.get(11) is None


def test_labels_of_a_harness_that_one_may_not_see_are_not_there(harness, versions, analyst, make_api_client):
    Harness.objects.filter(pk=harness.pk).update(access="members")
    client = make_api_client(analyst)
    for address in (
        "labels",
        "labels/production",
        "labels/production/moves",
        "releases",
        "freezes",
        "resolve?label=production",
    ):
        problem(client.get(f"{BASE}/{address}"), 404, "not_found")
    label_move(harness=harness, name="staging", version=versions[0], acting_user=None)
    assert json.dumps(client.get("/api/v1/harnesses").json()).count("autumn") == 0
