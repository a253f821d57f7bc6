"""What the editor asks of a tool and of a file: how a result stands before the model, and which skills a file holds."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from harnesses.core.sample_values import sample_value
from harnesses.core.schemas import schema_problems
from harnesses.ports import catalogue_of, world_names
from harnesses.services import draft_open, harness_commit, harness_create
from tests.harnesses.samples import sample_spec

BASE = "/api/v1/harnesses/autumn/drafts"


@pytest.mark.parametrize("world", world_names())
def test_every_operation_has_a_sample_result_that_its_schema_allows(world):
    for operation in catalogue_of(world).values():
        made = sample_value(operation.output_schema)
        assert schema_problems(operation.output_schema, made) == (), operation.name


def test_samples_of_odd_schemas_are_values_and_no_errors():
    endless = {"$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}
    odd: list[dict[str, Any]] = [
        {},
        {"type": []},
        {"type": "string", "maxLength": -1},
        {"$ref": "#/nowhere"},
        {"enum": []},
        endless,
    ]
    for schema in odd:
        sample_value(schema)
    assert sample_value({"type": "integer", "minimum": 3, "maximum": 5}) == 3
    assert sample_value({"type": "array", "items": {"type": "string"}, "minItems": 2}, "size_name") == ["size name"] * 2
    assert sample_value({"anyOf": [{"type": "null"}, {"type": "string"}]}) is None


@pytest.fixture
def draft(operator, world):
    harness = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    harness_commit(harness=harness, spec=sample_spec(), message="First", acting_user=operator)
    return draft_open(harness=harness, acting_user=operator)


def ask(api, draft, tool, **more):
    return api.post(f"{BASE}/{draft.pk}/example-result", {"tool": tool, **more}, format="json")


def price_tool(operation="get_price", **result):
    case = {"operation": operation, "result": result}
    return {"id": "price", "name": "price", "input_schema": {"type": "object"}, "binding": {"cases": [case]}}


@pytest.mark.django_db
def test_a_result_reads_as_the_binding_shows_it(api, draft, world):
    operation = next(iter(catalogue_of(world)))
    fields = [
        {"path": ["total"], "name": "to_pay", "conversion": {"kind": "scale", "factor": "0.01"}},
        {"path": ["secret"], "is_hidden": True},
    ]
    tool = price_tool(operation, fields=fields, format="lines", wrap=["price"])
    body = ask(api, draft, tool, result={"total": 12900, "secret": "x"}).json()
    assert (body["text"], body["error"]) == ("price.to_pay: 129", None)
    assert body["surface"] == {"price": {"to_pay": 129}}
    assert body["tokens"] > 0


@pytest.mark.django_db
def test_without_a_result_one_is_made_and_what_cannot_be_shown_is_told(api, draft, world):
    operation = next(iter(catalogue_of(world).values()))
    made = ask(api, draft, price_tool(operation.name)).json()
    assert schema_problems(operation.output_schema, made["result"]) == ()
    assert made["text"]
    assert made["mismatch"] == ""
    broken = price_tool(operation.name, fields=[{"path": ["t"], "conversion": {"kind": "epoch"}}])
    body = ask(api, draft, broken, result={"t": "tomorrow"}).json()
    assert body["error"]["path"] == ["t"]
    assert body["text"] == ""
    assert "t" in body["mismatch"]


@pytest.mark.django_db
def test_bad_input_names_the_field(api, draft):
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ({"id": "x", "name": "x"}, {}, "input_schema"),
        ({**price_tool(), "binding": None}, {}, "tool"),
        (price_tool(), {"case": 7}, "case"),
        (price_tool(), {"result": [1]}, "result"),
        ("price", {}, "tool"),
    ]
    for tool, more, field in wrong:
        answer = ask(api, draft, tool, **more)
        assert answer.status_code in (400, 422), (field, answer.content)
        assert any(field in item["field"] for item in answer.json()["errors"]), answer.content
    assert api.post(f"{BASE}/999999/example-result", {"tool": price_tool()}, format="json").status_code == 404


@pytest.mark.django_db
def test_skills_are_read_from_a_file_and_know_the_tools_of_the_draft(api, draft):
    tool = sample_spec().tools[0]
    text = f"---\nname: returns\ndescription: About returns.\nallowed-tools: {tool.name} nowhere\n---\nBe kind.\n"
    body = send(api, draft, "SKILL.md", text.encode()).json()
    assert body["skills"] == [
        {
            "id": "returns",
            "name": "returns",
            "description": "About returns.",
            "body": "Be kind.",
            "allowed_tools": [tool.id],
            "risk": "low",
            "metadata": {},
        }
    ]
    assert "nowhere" in " ".join(body["notes"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("returns", "sizes"):
            archive.writestr(f"{name}/SKILL.md", text.replace("returns", name))
    zipped = send(api, draft, "skills.zip", packed.getvalue()).json()
    assert [skill["name"] for skill in zipped["skills"]] == ["returns", "sizes"]


@pytest.mark.django_db
def test_a_file_without_skills_says_what_is_wrong_and_where(api, draft):
    for content in (b"", b"no front matter", b"---\nname: Wrong Name\n---\nx", b"PK\x03\x04 broken", b"\xff\xfe"):
        answer = send(api, draft, "SKILL.md", content)
        assert answer.status_code in (400, 422), (content, answer.content)
        assert answer.json()["errors"][0]["message"], content
    assert api.post(f"{BASE}/{draft.pk}/skill-file", {}, format="multipart").status_code == 422


def send(api, draft, name, content):
    return api.post(f"{BASE}/{draft.pk}/skill-file", {"file": SimpleUploadedFile(name, content)}, format="multipart")
