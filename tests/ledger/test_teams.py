"""Teams: made, changed and removed, by service and by REST API."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from ledger.core.roles import Role
from ledger.errors import Conflict, Denied, Invalid
from ledger.selectors import audit_list, team_get, team_list, team_people
from ledger.services import team_create, team_delete, team_update

pytestmark = pytest.mark.django_db
BASE = "/api/v1/teams"


@pytest.fixture
def admin(make_user):
    return make_user(Role.ADMIN, username="ada")


@pytest.fixture
def admin_api(admin, make_api_client):
    return make_api_client(admin)


@pytest.fixture
def team(admin, operator):
    return team_create(slug="night-shift", name="Night shift", members=["olga"], acting_user=admin)


def names(slug: str = "night-shift") -> list[str]:
    return list(team_people(team_get(slug)).values_list("username", flat=True))


def test_a_team_is_made_changed_and_removed_with_an_entry_each(admin, team, reviewer, ml_engineer):
    team_update(team=team, members=["olga", "rui"], acting_user=admin)
    team_update(team=team, name="Late shift", add=["mei", "rui"], remove=["olga", "nobody"], acting_user=admin)
    assert (names(), team_get("night-shift").name) == (["mei", "rui"], "Late shift")
    team_update(team=team, name="Late shift", add=["rui"], acting_user=admin)
    team_delete(team=team, acting_user=admin, reason="Merged")
    entries = audit_list(object_type="team").order_by("pk")
    assert [(entry.action, entry.before, entry.after) for entry in entries] == [
        ("team.created", None, {"slug": "night-shift", "name": "Night shift", "members": ["olga"]}),
        ("team.updated", {"members": ["olga"]}, {"members": ["olga", "rui"]}),
        (
            "team.updated",
            {"name": "Night shift", "members": ["olga", "rui"]},
            {"name": "Late shift", "members": ["mei", "rui"]},
        ),
        ("team.deleted", {"slug": "night-shift", "name": "Late shift", "members": ["mei", "rui"]}, None),
    ]


@pytest.mark.parametrize("role", set(Role) - {Role.ADMIN, Role.PLATFORM_ENGINEER})
def test_only_who_manages_teams_changes_them(make_user, team, role):
    person = make_user(role, username="somebody")
    with pytest.raises(Denied, match="Admin, Platform engineer"):
        team_create(slug="mine", name="Mine", acting_user=person)
    with pytest.raises(Denied):
        team_update(team=team, name="Mine", acting_user=person)
    with pytest.raises(Denied):
        team_delete(team=team, acting_user=person)
    assert names() == ["olga"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"slug": "New Team"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"slug": "x" * 65}, "slug"),
        ({"slug": "夜班"}, "slug"),
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": "a\x00"}, "name"),
        ({"members": ["nobody"]}, "members"),
        ({"members": ["olga\x00"]}, "members"),
        ({"members": [f"u{number}" for number in range(501)]}, "members"),
    ],
)
def test_teams_that_make_no_sense_are_told_by_field(admin, operator, values, field):
    with pytest.raises(Invalid) as error:
        team_create(**{"slug": "shift", "name": "Shift", "members": ["olga"], "acting_user": admin, **values})
    assert {item.field for item in error.value.field_errors} == {field}
    assert not team_list().exists()


def test_a_short_name_is_taken_once(admin, team):
    with pytest.raises(Conflict, match="already"):
        team_create(slug="night-shift", name="Another", acting_user=admin)
    assert audit_list(action_prefix="team").count() == 1


@pytest.mark.django_db(transaction=True)
def test_people_added_at_once_are_all_in_the_team(admin, team, make_user):
    people = [make_user(Role.OPERATOR, username=f"p{number}") for number in range(6)]

    def add(person):
        team_update(team=team, add=[person.username], acting_user=None)
        connections.close_all()

    threads = [threading.Thread(target=add, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names() == ["olga", *(person.username for person in people)]


def test_a_closed_account_does_not_count_and_cannot_be_added(admin, team, operator, reviewer):
    operator.is_active = reviewer.is_active = False
    operator.save()
    reviewer.save()
    assert vars(team_get("night-shift"))["member_count"] == 0
    with pytest.raises(Invalid, match="rui"):
        team_update(team=team, add=["rui"], acting_user=admin)
    team_update(team=team, remove=["olga"], acting_user=admin)
    assert names() == []


def test_teams_by_api(admin_api, operator, reviewer):
    made = admin_api.post(BASE, {"slug": "night-shift", "name": "Night shift", "members": ["olga"]}, format="json")
    assert (made.status_code, made["Location"]) == (201, "http://testserver/api/v1/teams/night-shift")
    changed = admin_api.patch(f"{BASE}/night-shift/", {"members": ["rui"]}, format="json").json()
    assert (changed["name"], changed["members"], changed["member_count"]) == ("Night shift", ["rui"], 1)
    listed = admin_api.get(f"{BASE}/").json()["results"]
    assert [(row["slug"], row["member_count"]) for row in listed] == [("night-shift", 1)]
    assert admin_api.delete(f"{BASE}/night-shift").status_code == 204
    assert admin_api.get(f"{BASE}/night-shift").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"slug": "a", "name": 3},
        {"slug": None, "name": "A"},
        {"slug": "a", "name": "A", "members": "olga"},
        {"slug": "a", "name": "A", "members": [1]},
        {"slug": "a", "name": "A", "member": ["olga"]},
    ],
)
def test_bad_team_bodies_are_told(admin_api, body):
    response = admin_api.post(BASE, body, format="json")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")


def test_a_double_click_makes_one_team(admin_api):
    body, headers = {"slug": "night-shift", "name": "Night shift"}, {"HTTP_IDEMPOTENCY_KEY": "once"}
    first = admin_api.post(BASE, body, format="json", **headers)
    again = admin_api.post(BASE, body, format="json", **headers)
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    assert team_list().count() == 1


def test_who_may_not_manage_teams_reads_them_by_api(api, team):
    assert api.get(f"{BASE}/night-shift").json()["members"] == ["olga"]
    assert api.patch(f"{BASE}/night-shift", {"name": "Mine"}, format="json").status_code == 403
    assert api.delete(f"{BASE}/night-shift").status_code == 403
