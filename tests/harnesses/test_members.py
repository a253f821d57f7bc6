"""Who works on a harness, its settings, and putting it away: by service and by REST API."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from harnesses.models import Harness, HarnessMember
from harnesses.selectors import harness_get
from harnesses.selectors.members import member_list, team_roles
from harnesses.services import harness_create, harness_update, member_remove, member_set
from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid, NotFound
from ledger.selectors import audit_list, team_get
from ledger.services import team_create, team_delete

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses/autumn"


@pytest.fixture
def harness(operator, world):
    """Its maker, Olga, is its admin."""
    return harness_create(slug="autumn", title="Autumn", world=world, acting_user=operator)


@pytest.fixture
def team(ml_engineer):
    return team_create(slug="night-shift", name="Night shift", members=[ml_engineer.username], acting_user=None)


def members(harness):
    return [(str(item.user or item.team), item.role) for item in member_list(harness)]


# --- members ---------------------------------------------------------------------------------------------------------


def test_the_maker_is_admin_and_gives_people_and_teams_roles(harness, operator, reviewer, team):
    member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=operator)
    member_set(harness=harness, kind="team", name="night-shift", role="reviewer", acting_user=operator)
    member_set(harness=harness, kind="user", name="rui", role="admin", acting_user=operator)
    assert members(harness) == [("olga", "admin"), ("rui", "admin"), ("Night shift", "reviewer")]
    member_remove(harness=harness, kind="user", name="rui", acting_user=operator, reason="Moved on")
    assert members(harness) == [("olga", "admin"), ("Night shift", "reviewer")]
    entries = audit_list(within=("harness", harness.pk), action_prefix="harness_member").order_by("pk")
    assert [(item.action, item.object_label, item.before, item.after) for item in entries] == [
        ("harness_member.added", "user rui in autumn", None, {"role": "viewer"}),
        ("harness_member.added", "team night-shift in autumn", None, {"role": "reviewer"}),
        ("harness_member.changed", "user rui in autumn", {"role": "viewer"}, {"role": "admin"}),
        ("harness_member.removed", "user rui in autumn", {"role": "admin"}, None),
    ]
    assert entries.latest("pk").reason == "Moved on"


def test_the_same_role_again_changes_nothing(harness, operator, reviewer):
    first = member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=operator)
    count = audit_list().count()
    assert member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=operator) == first
    assert audit_list().count() == count


def test_the_last_admin_stays_until_there_is_another(harness, operator, reviewer):
    with pytest.raises(Conflict, match="last admin") as error:
        member_remove(harness=harness, kind="user", name="olga", acting_user=operator)
    assert error.value.code == "last_admin"
    with pytest.raises(Conflict, match="last admin"):
        member_set(harness=harness, kind="user", name="olga", role="viewer", acting_user=operator)
    member_set(harness=harness, kind="user", name="rui", role="admin", acting_user=operator)
    member_remove(harness=harness, kind="user", name="olga", acting_user=operator)
    assert members(harness) == [("rui", "admin")]


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_at_once_leave_one(harness, operator, reviewer):
    member_set(harness=harness, kind="user", name="rui", role="admin", acting_user=operator)
    start, outcomes = threading.Barrier(2), []

    def remove(name, by):
        start.wait()
        try:
            member_remove(harness=harness, kind="user", name=name, acting_user=by)
            outcomes.append("removed")
        except (Conflict, Denied) as error:
            outcomes.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=remove, args=pair) for pair in (("olga", reviewer), ("rui", operator))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert HarnessMember.objects.filter(harness=harness, role="admin").count() == 1
    assert outcomes.count("removed") == 1


@pytest.mark.parametrize(
    ("kind", "name", "role", "error"),
    [
        ("user", "nobody-here", "viewer", NotFound),
        ("user", "rui\x00", "viewer", NotFound),
        ("team", "no-team", "viewer", NotFound),
        ("team", "../x", "viewer", NotFound),
        ("robot", "rui", "viewer", NotFound),
        ("user", "rui", "emperor", Invalid),
        ("user", "rui", "", Invalid),
    ],
)
def test_members_that_make_no_sense_are_refused_by_name(harness, operator, reviewer, kind, name, role, error):
    with pytest.raises(error):
        member_set(harness=harness, kind=kind, name=name, role=role, acting_user=operator)
    assert members(harness) == [("olga", "admin")]


def test_only_who_manages_the_harness_gives_roles(harness, reviewer, platform_engineer):
    with pytest.raises(Denied):
        member_set(harness=harness, kind="user", name="rui", role="admin", acting_user=reviewer)
    member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=platform_engineer)


def test_a_team_with_a_role_cannot_be_removed_unseen(harness, operator, team):
    member_set(harness=harness, kind="team", name="night-shift", role="operator", acting_user=operator)
    with pytest.raises(Conflict, match="the harness autumn"):
        team_delete(team=team, acting_user=None)
    assert [item.harness.slug for item in team_roles(operator, team)] == ["autumn"]
    member_remove(harness=harness, kind="team", name="night-shift", acting_user=operator)
    team_delete(team=team, acting_user=None)
    with pytest.raises(NotFound):
        team_get("night-shift")


# --- settings --------------------------------------------------------------------------------------------------------


def test_only_what_is_named_changes(harness, operator):
    harness_update(harness=harness, description="For the autumn sale", acting_user=operator)
    harness_update(harness=harness, title="Autumn sale", min_approvals=2, acting_user=operator)
    now = harness_get("autumn")
    assert (now.title, now.description, now.access, now.min_approvals) == (
        "Autumn sale",
        "For the autumn sale",
        "open",
        2,
    )
    newest = audit_list(action_prefix="harness.updated").latest("pk")
    assert (newest.before, newest.after) == (
        {"title": "Autumn", "min_approvals": 1},
        {"title": "Autumn sale", "min_approvals": 2},
    )


def test_nothing_new_leaves_no_entry(harness, operator):
    harness_update(harness=harness, title=" Autumn ", access="open", acting_user=operator)
    assert not audit_list(action_prefix="harness.updated").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "x" * 121),
        ("title", "a\x07"),
        ("description", "x" * 4001),
        ("access", "secret"),
        ("access", ""),
        ("min_approvals", 0),
        ("min_approvals", 6),
        ("min_approvals", True),
        ("min_approvals", "2"),
    ],
)
def test_settings_that_make_no_sense_are_told_by_field(harness, operator, field, value):
    with pytest.raises(Invalid) as error:
        harness_update(harness=harness, acting_user=operator, **{field: value})
    assert error.value.field_errors[0].field == field


# --- REST ------------------------------------------------------------------------------------------------------------


def test_members_by_api(api, harness, reviewer, team):
    assert api.put(f"{BASE}/members/user/rui", {"role": "reviewer"}, format="json").json()["title"] == "Rui Reviewer"
    assert api.put(f"{BASE}/members/team/night-shift/", {"role": "engineer"}, format="json").status_code == 200
    rows = api.get(f"{BASE}/members").json()
    assert [(row["kind"], row["name"], row["role"]) for row in rows] == [
        ("user", "olga", "admin"),
        ("team", "night-shift", "engineer"),
        ("user", "rui", "reviewer"),
    ]
    assert api.delete(f"{BASE}/members/user/rui").status_code == 204
    assert api.delete(f"{BASE}/members/user/rui").status_code == 404
    assert api.delete(f"{BASE}/members/user/olga").json()["type"].endswith("last_admin")


@pytest.mark.parametrize("body", [{}, {"role": 3}, {"role": None}, {"rule": "viewer"}, {"role": "viewer", "x": 1}, []])
def test_bad_member_bodies_are_told(api, harness, reviewer, body):
    response = api.put(f"{BASE}/members/user/rui", body, format="json")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert response.json()["errors"]


def test_settings_by_api_change_what_they_name(api, harness):
    body = api.patch(BASE, {"access": "members", "min_approvals": 3}, format="json").json()
    assert (body["title"], body["access"], body["min_approvals"]) == ("Autumn", "members", 3)
    assert api.patch(BASE, {}, format="json").json()["access"] == "members"
    assert api.patch(BASE, {"acess": "open"}, format="json").status_code == 400
    assert api.patch(BASE, {"min_approvals": 9}, format="json").json()["errors"][0]["field"] == "min_approvals"
    assert api.patch(BASE, {"title": None}, format="json").status_code == 400


def test_a_harness_is_put_away_and_taken_back_by_api(api, harness):
    assert api.post(f"{BASE}/archive", {"reason": "Season over"}, format="json").json()["archived_at"]
    assert api.post(f"{BASE}/archive", {}, format="json").status_code == 200
    assert api.post(f"{BASE}/unarchive", {}, format="json").json()["archived_at"] is None
    entries = audit_list(within=("harness", harness.pk)).order_by("pk")
    assert [item.action for item in entries][-2:] == ["harness.archived", "harness.unarchived"]


def test_a_token_cannot_do_what_its_owner_cannot(harness, make_user, make_api_client):
    viewer = make_api_client(make_user(Role.VIEWER, username="vera"))
    for method, path, body in (
        ("patch", "", {"title": "Mine"}),
        ("post", "/archive", {}),
        ("put", "/members/user/vera", {"role": "admin"}),
        ("delete", "/members/user/olga", None),
    ):
        assert getattr(viewer, method)(f"{BASE}{path}", body, format="json").status_code == 403, path
    assert Harness.objects.get().title == "Autumn"


def test_a_token_without_the_scope_cannot_do_what_its_owner_can(harness, operator, make_api_client):
    reader = make_api_client(operator, ["harnesses:read"])
    assert reader.get(f"{BASE}/members").status_code == 200
    assert reader.put(f"{BASE}/members/user/olga", {"role": "admin"}, format="json").status_code == 403
