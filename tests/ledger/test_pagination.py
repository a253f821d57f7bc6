"""Lists are paged by a cursor: nothing twice, nothing left out, whatever is added meanwhile."""

from __future__ import annotations

import base64

import pytest

from harnesses.services import harness_create

pytestmark = pytest.mark.django_db
HARNESSES = "/api/v1/harnesses/"


@pytest.fixture
def add(operator, world):
    return lambda slug: harness_create(slug=slug, title=slug, world=world, acting_user=operator)


def slugs(body):
    return [item["slug"] for item in body["results"]]


def test_pages_follow_one_another_and_lead_back(api, add):
    for letter in "abcdefg":
        add(letter)
    first = api.get(f"{HARNESSES}?limit=3").json()
    assert (slugs(first), first["previous"]) == (["a", "b", "c"], None)
    add("bb")
    second = api.get(first["next"]).json()
    third = api.get(second["next"]).json()
    assert (slugs(second), slugs(third), third["next"]) == (["d", "e", "f"], ["g"], None)
    assert slugs(api.get(second["previous"]).json()) == ["b", "bb", "c"]


def test_a_page_holds_at_most_two_hundred(api, add):
    for number in range(201):
        add(f"h{number}")
    for limit, length in (("200", 200), ("99999999999999999999", 200), ("0", 50), ("-1", 50), ("x", 50), ("", 50)):
        body = api.get(f"{HARNESSES}?limit={limit}").json()
        assert len(body["results"]) == length
        assert body["next"]


@pytest.mark.parametrize(
    "cursor",
    ["x", "\u5546", base64.b64encode(b"o=x").decode(), base64.b64encode(b"r=maybe").decode()],
)
def test_a_cursor_that_is_none_is_refused(api, add, cursor):
    response = api.get(HARNESSES, {"cursor": cursor})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "cursor"


@pytest.mark.parametrize("position", ["zzz", "2026-99-99", "%00", "9" * 40])
def test_a_forged_position_is_no_server_error(api, position):
    cursor = base64.b64encode(f"p={position}".encode()).decode()
    response = api.get("/api/v1/sessions/", {"cursor": cursor})
    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "bad_cursor"


def test_an_offset_is_refused_and_not_passed_over(api, add):
    response = api.get(f"{HARNESSES}?limit=1&offset=1")
    assert response.status_code == 422
    assert "next" in response.json()["errors"][0]["mend"]
