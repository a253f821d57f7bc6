"""The pages about people: members, settings, teams, audit and changelogs; in a browser at both widths."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from harnesses.selectors import harness_get
from harnesses.selectors.members import member_list
from harnesses.services import harness_update, member_set
from ledger.core.roles import Role
from ledger.selectors import audit_list, team_get, team_people
from ledger.services import team_create
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, live_server, open_visitor

BASE = f"/harnesses/{sample.SLUG}"
SETTINGS = {"title": "Stream host", "description": "Kept text", "access": "open", "min_approvals": "2"}


@pytest.fixture
def admin(make_user):
    return make_user(Role.ADMIN, username="ada", full_name="Ada Admin")


@pytest.fixture
def team(operator):
    return team_create(slug="night-shift", name="Night shift", members=["olga"], acting_user=None)


def roles() -> dict[str, str]:
    return {str(item.user or item.team): item.role for item in member_list(harness_get(sample.SLUG))}


def text_of(response) -> str:
    return response.content.decode()


# --- members and settings --------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_members_are_added_changed_and_removed(operator, reviewer, team, sign_in, harness):
    client = sign_in(operator)
    client.post(f"{BASE}/members/", {"kind": "user", "name": "rui", "role": "reviewer"})
    client.post(f"{BASE}/members/", {"kind": "team", "name": "night-shift", "role": "operator"})
    client.post(f"{BASE}/members/change/", {"kind": "user", "name": "rui", "role": "admin"})
    assert roles() == {"olga": "admin", "rui": "admin", "Night shift": "operator"}
    page = text_of(client.get(f"{BASE}/members/"))
    assert "Rui Reviewer" in page
    assert reverse("console:team_detail", args=["night-shift"]) in page
    client.post(f"{BASE}/members/remove/", {"kind": "user", "name": "rui"})
    assert roles() == {"olga": "admin", "Night shift": "operator"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"kind": "user", "name": "nobody", "role": "viewer"}, "There is no active user"),
        ({"kind": "team", "name": "nobody", "role": "viewer"}, "There is no team"),
        ({"kind": "robot", "name": "nobody", "role": "viewer"}, "not one of the available choices"),
        ({"kind": "user", "name": "nobody", "role": "emperor"}, "not one of the available choices"),
        ({"kind": "user", "name": "", "role": "viewer"}, "required"),
        ({"kind": "user", "name": "olga", "role": "viewer"}, "last admin"),
        ({}, "required"),
    ],
)
def test_a_member_that_cannot_be_added_is_told_and_stays_typed(operator, sign_in, harness, form, message):
    response = sign_in(operator).post(f"{BASE}/members/", form)
    assert response.status_code == 422
    assert message in text_of(response)
    assert not form.get("name") or f'value="{form["name"]}"' in text_of(response)
    assert roles() == {"olga": "admin"}


@pytest.mark.django_db
def test_the_last_admin_is_told_why_they_stay(operator, sign_in, harness):
    response = sign_in(operator).post(f"{BASE}/members/remove/", {"kind": "user", "name": "olga"}, follow=True)
    assert "last admin" in text_of(response)
    assert roles() == {"olga": "admin"}


@pytest.mark.django_db
def test_settings_are_saved_and_a_mistake_keeps_what_was_typed(operator, sign_in, harness):
    client = sign_in(operator)
    assert client.post(f"{BASE}/settings/", SETTINGS).status_code == 302
    saved = harness_get(sample.SLUG)
    assert (saved.title, saved.min_approvals) == ("Stream host", 2)
    response = client.post(f"{BASE}/settings/", {**SETTINGS, "title": "a\x07", "min_approvals": "6"})
    assert response.status_code == 422
    assert "U+0007" in text_of(response) or "less than or equal to 5" in text_of(response)
    assert "Kept text" in text_of(response)


@pytest.mark.django_db
def test_a_harness_is_put_away_and_taken_back(operator, sign_in, harness):
    client = sign_in(operator)
    assert client.post(f"{BASE}/settings/archive/", {"reason": "x" * 2001}).status_code == 422
    client.post(f"{BASE}/settings/archive/", {"reason": "Season over"})
    assert harness_get(sample.SLUG).is_archived
    page = text_of(client.get(f"{BASE}/settings/"))
    assert "Take back into use" in page
    assert BASE not in text_of(client.get("/harnesses/"))
    assert BASE in text_of(client.get("/harnesses/?archived=1"))
    assert reverse("console:draft_start", args=[sample.SLUG]) not in page
    client.post(f"{BASE}/settings/unarchive/")
    assert not harness_get(sample.SLUG).is_archived


@pytest.mark.django_db
def test_who_does_not_manage_reads_and_is_refused(reviewer, sign_in, harness):
    client = sign_in(reviewer)
    for tab in ("members", "settings"):
        page = text_of(client.get(f"{BASE}/{tab}/"))
        assert "An admin of this harness can" in page
        assert client.post(f"{BASE}/{tab}/", {}).status_code == 403
    for address in ("members/change", "members/remove", "settings/archive", "settings/unarchive"):
        assert client.post(f"{BASE}/{address}/", {}).status_code == 403


@pytest.mark.django_db
def test_the_tabs_are_the_same_on_every_page_of_a_harness(operator, sign_in, harness):
    client = sign_in(operator)
    for name in ("components", "prompt", "findings", "versions", "compare", "members", "settings", "changelog"):
        pages = {"components": "/versions/2/", "prompt": "/versions/2/prompt/", "findings": "/versions/2/findings/"}
        page = text_of(client.get(BASE + pages.get(name, f"/{name}/")))
        (tabs,) = re.findall(r'<nav class="tabs".*?</nav>', page, re.DOTALL)
        assert [label.lower() for label in re.findall(r'aria-current="page">(\w+)', tabs)] == [name]
        labels = re.findall(r">([A-Z]\w+)", tabs)
        assert labels[:2] == ["Components", "Prompt"]
        assert labels[-3:] == ["Members", "Settings", "Changelog"]


# --- teams -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_team_is_made_filled_renamed_and_removed(admin, operator, reviewer, sign_in):
    client = sign_in(admin)
    made = client.post("/teams/new/", {"name": "Night shift", "slug": "night-shift"})
    assert made["Location"] == "/teams/night-shift/"
    for username in ("olga", "rui"):
        client.post("/teams/night-shift/add/", {"username": username})
    client.post("/teams/night-shift/remove/", {"username": "olga"})
    client.post("/teams/night-shift/rename/", {"name": "Late shift"})
    assert list(team_people(team_get("night-shift")).values_list("username", flat=True)) == ["rui"]
    page = text_of(client.get("/teams/night-shift/"))
    assert "<h1>Late shift</h1>" in page
    assert "team.updated" in page
    assert "Late shift" in text_of(client.get("/teams/"))
    assert client.post("/teams/night-shift/delete/")["Location"] == "/teams/"
    assert client.get("/teams/night-shift/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "form", "message"),
    [
        ("/teams/new/", {"name": "Kept name", "slug": "Night Shift"}, "cannot be a slug"),
        ("/teams/new/", {"name": "Kept name", "slug": "night-shift"}, "already"),
        ("/teams/new/", {"name": "", "slug": "Kept name"}, "required"),
        ("/teams/night-shift/rename/", {"name": "Kept name" * 20}, "at most 120"),
        ("/teams/night-shift/rename/", {"name": "Kept name\x07"}, "U+0007"),
        ("/teams/night-shift/add/", {"username": "Kept name"}, "There is no active user"),
    ],
)
def test_a_team_that_cannot_be_changed_like_that_keeps_what_was_typed(admin, team, sign_in, address, form, message):
    response = sign_in(admin).post(address, form)
    assert response.status_code == 422
    assert message in text_of(response)
    assert "Kept name" in text_of(response)


@pytest.mark.django_db
def test_a_team_with_a_role_is_not_removed_and_says_where(admin, operator, team, sign_in, harness):
    member_set(harness=harness, kind="team", name="night-shift", role="operator", acting_user=operator)
    page = text_of(sign_in(admin).post("/teams/night-shift/delete/", follow=True))
    assert f"the harness {sample.SLUG}" in page
    assert team_get("night-shift")


@pytest.mark.django_db
def test_who_does_not_manage_teams_reads_them(operator, team, sign_in):
    client = sign_in(operator)
    page = text_of(client.get("/teams/night-shift/"))
    assert "Olga Operator" in page
    assert "Take out" not in page
    for verb in ("rename", "add", "remove", "delete"):
        assert client.post(f"/teams/night-shift/{verb}/", {}).status_code == 403


# --- audit -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_audit_shows_old_and_new_beside_each_other(operator, sign_in, harness):
    harness_update(harness=harness, title="Another title", min_approvals=3, acting_user=operator)
    page = text_of(sign_in(operator).get("/audit/?area=harness"))
    assert f"<dt>title</dt><dd><del>{sample.TITLE}</del>" in page
    assert "<ins>Another title</ins>" in page
    assert "<del>1</del>" in page


@pytest.mark.django_db
def test_the_audit_is_filtered_by_person_harness_and_day(operator, reviewer, sign_in, harness):
    member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=operator)
    client = sign_in(operator)
    page = text_of(client.get(f"/audit/?harness={sample.SLUG}&area=harness_member&person=olga&since=2020-01-01"))
    assert "user rui in" in page
    assert "1 entry" in page
    assert f"/audit/export.csv?harness={sample.SLUG}&amp;area=harness_member" in page
    assert "Nothing matches" in text_of(client.get("/audit/?until=2020-01-01"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("since=2026-13-01", "valid date"),
        ("since=2026-02-02&until=2026-02-01", "before the first"),
        ("harness=nothing", "There is no harness"),
        ("area=weather", "not one of the available choices"),
    ],
)
def test_a_filter_that_makes_no_sense_is_told_and_exports_nothing(operator, sign_in, harness, query, message):
    client = sign_in(operator)
    response = client.get(f"/audit/?{query}")
    assert response.status_code == 422
    assert message in text_of(response)
    assert client.get(f"/audit/export.csv?{query}").status_code == 422
    assert client.get("/audit/export.pdf").status_code == 404


@pytest.mark.django_db
def test_a_changelog_shows_the_harness_and_its_parts_alone(operator, reviewer, sign_in, harness, team):
    member_set(harness=harness, kind="user", name="rui", role="viewer", acting_user=operator)
    page = text_of(sign_in(reviewer).get(f"{BASE}/changelog/"))
    for action in ("harness.created", "harness.committed", "harness_member.added"):
        assert action in page
    assert "team.created" not in page


@pytest.mark.django_db
def test_pages_about_people_cost_the_same_for_few_and_many(
    operator, make_user, sign_in, harness, django_assert_max_num_queries
):
    client = sign_in(operator)
    for number in range(15):
        make_user(Role.VIEWER, username=f"p{number}")
        member_set(harness=harness, kind="user", name=f"p{number}", role="viewer", acting_user=operator)
    for address in (f"{BASE}/members/", f"{BASE}/settings/", f"{BASE}/changelog/", "/audit/", "/teams/"):
        with django_assert_max_num_queries(10):
            assert client.get(address).status_code == 200


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_people_are_managed_in_the_browser_at_both_widths(browser, admin, operator, reviewer, team, harness):
    with live_server() as url:
        person = open_visitor(browser, url, viewport=DESKTOP)
        page = person.page
        person.log_in("ada", PASSWORD)
        person.go(f"{BASE}/members/")
        page.get_by_label("A team").check()
        page.get_by_label("User name or team").fill("night-shift")
        page.get_by_label("Role", exact=True).select_option("reviewer")
        page.get_by_role("button", name="Add member").click()
        page.get_by_role("link", name="Night shift").wait_for()
        page.get_by_role("button", name="Remove Night shift").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        assert roles()["Night shift"] == "reviewer"
        page.get_by_role("button", name="Remove Night shift").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.get_by_role("link", name="Night shift")).to_have_count(0)
        person.go(f"{BASE}/settings/")
        page.get_by_label("Why").fill("Season over")
        page.get_by_role("button", name="Archive this harness").click()
        page.get_by_role("dialog").get_by_role("button", name="Archive").click()
        page.get_by_role("button", name="Take back into use").click()
        page.get_by_role("button", name="Archive this harness").wait_for()
        person.go("/audit/")
        page.get_by_label("User name").fill("ada")
        page.get_by_role("button", name="Filter").click()
        page.wait_for_url("**person=ada**")
        expect(page.get_by_text("harness.archived")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("link", name="Export CSV").click()
        assert "Season over" in download.value.path().read_text()
        addresses = [f"{BASE}/{tab}/" for tab in ("members", "settings", "changelog")] + [
            "/audit/",
            "/teams/",
            "/teams/night-shift/",
        ]
        for viewport in (DESKTOP, PHONE):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            for address in addresses:
                person.go(address)
                assert person.overflowing() == [], address
                assert person.axe_violations() == [], address
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        person.go(f"{BASE}/changelog/")
        expect(page.get_by_role("navigation", name="Harness").get_by_role("link", name="Changelog")).to_be_in_viewport()
        assert person.problems == []
        person.context.close()
    assert [entry.action for entry in audit_list(actor="ada").order_by("pk")][-2:] == [
        "harness.archived",
        "harness.unarchived",
    ]
