"""The audit by REST API: filters, pages, files, and whose entries are whose to see."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from unittest.mock import patch

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections
from django.utils import timezone

from harnesses.services import harness_archive, harness_create, harness_update
from ledger import audit_export
from ledger.core.roles import Role
from ledger.models import AuditEntry
from ledger.services import team_create, token_create

BASE = "/api/v1/audit"


@pytest.fixture
def happened(operator, reviewer, world, platform_engineer):
    """Two harnesses, a team and a token, by two people."""
    autumn = harness_create(slug="autumn", title="Autumn", world=world, acting_user=operator)
    harness_create(slug="winter", title="Winter", world=world, acting_user=operator)
    harness_archive(harness=autumn, acting_user=platform_engineer, reason="=HYPERLINK season over")
    team_create(slug="night-shift", name="Nacht 夜", acting_user=platform_engineer)
    token_create(owner=reviewer, name="ci", scopes=["harnesses:read"], acting_user=reviewer)
    return autumn


def actions(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["action"] for row in response.json()["results"]]


@pytest.mark.django_db
def test_entries_are_filtered(api, happened):
    assert actions(api.get(f"{BASE}?action=team")) == ["team.created"]
    assert actions(api.get(f"{BASE}/?action=harness.archived")) == ["harness.archived"]
    assert actions(api.get(f"{BASE}?actor=rui&action=token")) == ["token.created"]
    assert "harness.archived" in actions(api.get(f"{BASE}?search=SEASON"))
    assert actions(api.get(f"{BASE}?harness=winter&action=harness")) == ["harness.created"]
    assert actions(api.get(f"{BASE}?harness=autumn&actor=petra")) == ["harness.archived"]
    assert actions(api.get(f"{BASE}?actor=nobody")) == []


@pytest.mark.django_db
def test_an_entry_tells_who_what_when_and_why(api, happened):
    row = api.get(f"{BASE}?action=harness.archived", HTTP_X_REQUEST_ID="r" * 20).json()["results"][0]
    assert (row["actor"], row["username"], row["object_type"], row["object_label"]) == (
        "Petra Platform (petra)",
        "petra",
        "harness",
        "autumn",
    )
    assert row["reason"] == "=HYPERLINK season over"
    assert dt.datetime.fromisoformat(row["created_at"]).tzinfo


@pytest.mark.django_db
def test_days_and_times_bound_the_entries(api, happened):
    now = timezone.now()
    later = (now + dt.timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tomorrow = (now + dt.timedelta(days=1)).date().isoformat()
    assert actions(api.get(f"{BASE}?since={later}")) == []
    assert "team.created" in actions(api.get(f"{BASE}?until={later}&since=2020-01-01"))
    assert actions(api.get(f"{BASE}?since={tomorrow}")) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=yesterday", "since"),
        ("since=2026-13-01", "since"),
        ("until=2026-02-30", "until"),
        ("until=2026-02-03T10:00:00", "until"),
        ("search=a%07b", "search"),
        ("actor=" + "x" * 201, "actor"),
        ("cursor=nonsense", "cursor"),
    ],
)
def test_filters_that_make_no_sense_are_told_by_field(api, query, field):
    response = api.get(f"{BASE}?{query}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.django_db
def test_pages_follow_one_another_while_entries_come_in(api, happened, operator):
    before = list(AuditEntry.objects.values_list("pk", flat=True))
    seen, address = [], f"{BASE}?limit=2"
    while address:
        body = api.get(address).json()
        seen += [row["id"] for row in body["results"]]
        harness_update(harness=happened, title=f"Autumn {len(seen)}", acting_user=operator)
        address = body["next"]
    assert seen == before


@pytest.mark.django_db
def test_entries_of_a_harness_for_members_only_are_hidden(api, happened, reviewer, make_api_client, operator):
    harness_update(harness=happened, access="members", acting_user=operator)
    outsider = make_api_client(reviewer)
    rows = outsider.get(BASE).json()["results"]
    assert rows
    assert "autumn" not in json.dumps(rows)
    assert outsider.get(f"{BASE}?harness=autumn").status_code == 404
    assert outsider.get(f"{BASE}?search=season").json()["results"] == []
    assert actions(api.get(f"{BASE}?harness=autumn"))[0] == "harness.updated"


@pytest.mark.django_db
def test_who_may_not_see_the_audit_sees_that_of_the_harnesses_they_see(happened, make_user, make_api_client):
    viewer = make_api_client(make_user(Role.VIEWER, username="vera"))
    refused = viewer.get(BASE)
    assert refused.status_code == 403
    assert "?harness=" in refused.json()["detail"]
    assert "harness.archived" in actions(viewer.get(f"{BASE}?harness=autumn"))
    assert viewer.get(f"{BASE}/export?format=csv").status_code == 403


@pytest.mark.django_db
def test_the_scope_is_asked_for(operator, make_api_client):
    assert make_api_client(operator, ["harnesses:read"]).get(BASE).status_code == 403


@pytest.mark.django_db
def test_an_unknown_format_is_no_address(api):
    assert api.get(f"{BASE}/export?format=pdf").status_code == 404


# --- files -----------------------------------------------------------------------------------------------------------


def read(response) -> str:
    async def pieces() -> bytes:
        text = b"".join([piece async for piece in response.streaming_content])
        await sync_to_async(connections.close_all)()
        return text

    assert response.status_code == 200
    return async_to_sync(pieces)().decode()


@pytest.mark.django_db(transaction=True)
def test_a_csv_holds_every_entry_and_no_formula(api, happened):
    response = api.get(f"{BASE}/export?format=csv")
    text = read(response)
    assert response["Content-Disposition"] == 'attachment; filename="audit.csv"'
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [int(row["id"]) for row in rows] == list(AuditEntry.objects.values_list("pk", flat=True))
    archived = next(row for row in rows if row["action"] == "harness.archived")
    assert archived["reason"] == "'=HYPERLINK season over"
    assert "Nacht 夜" in next(row for row in rows if row["action"] == "team.created")["after"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("chunk_rows", [1, 2, 1000])
def test_json_lines_are_the_same_however_they_are_cut(api, happened, chunk_rows):
    with patch.object(audit_export, "CHUNK_ROWS", chunk_rows):
        lines = read(api.get(f"{BASE}/export?format=jsonl&harness=autumn")).splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["action"] for row in rows][:1] == ["harness.archived"]
    assert rows[0] == api.get(f"{BASE}?harness=autumn").json()["results"][0]


@pytest.mark.django_db(transaction=True)
def test_an_export_ends_although_people_go_on_working(api, happened, operator):
    write = audit_export.json_rows

    def write_while_something_happens(entries):
        harness_update(harness=happened, title=f"Autumn {entries[0].pk}", acting_user=operator)
        return write(entries)

    count = AuditEntry.objects.count()
    _, head, _ = audit_export._FORMATS["jsonl"]
    busy = {"jsonl": ("application/jsonl", head, write_while_something_happens)}
    with patch.object(audit_export, "CHUNK_ROWS", 1), patch.dict(audit_export._FORMATS, busy):
        assert len(read(api.get(f"{BASE}/export?format=jsonl")).splitlines()) == count
