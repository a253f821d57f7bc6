"""The API documentation is complete, and works without the internet."""

import re

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from console.api_examples import BODY_EXAMPLES


@pytest.fixture(scope="module")
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_schema_is_valid_openapi(schema):
    validate_schema(schema)


def test_generating_the_schema_gives_no_warning(capsys):
    SchemaGenerator().get_schema(request=None, public=True)
    assert capsys.readouterr().err == ""


def test_every_operation_names_the_token_scheme_and_the_problem_document(schema):
    assert schema["components"]["securitySchemes"]["apiToken"]["scheme"] == "bearer"
    operations = [
        operation for path in schema["paths"].values() for method, operation in path.items() if method != "parameters"
    ]
    assert operations
    for operation in operations:
        assert {"apiToken": []} in operation["security"]
        assert "application/problem+json" in operation["responses"]["default"]["content"]


@pytest.mark.django_db
def test_the_swagger_page_keeps_to_the_content_security_policy():
    response = Client().get("/api/docs/")
    page = response.content.decode()
    policy = response["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    for address in re.findall(r'(?:src|href)="([^"#]+)"', page):
        assert address.startswith("/"), address
        if address.startswith("/static/"):
            assert Client().get(address).status_code == 200, address


def test_every_part_of_an_address_and_every_body_has_an_example_of_its_shape(schema):
    validators = {
        name: Draft202012Validator({**part, "components": schema["components"]})
        for name, part in schema["components"]["schemas"].items()
    }
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", ()):
                assert parameter["in"] != "path" or parameter["example"], f"{method} {path}: {parameter['name']}"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if "$ref" in body:
                name = body["$ref"].rpartition("/")[2]
                example = schema["components"]["schemas"][name]["example"]
                assert list(validators[name].iter_errors(example)) == [], name
                assert set(example) <= set(schema["components"]["schemas"][name]["properties"]), name


def test_the_examples_are_of_the_demo(schema):
    parameters = schema["paths"]["/api/v1/harnesses/{slug}/drafts/{draft_id}/"]["get"]["parameters"]
    assert {item["name"]: item["example"] for item in parameters if item["in"] == "path"}["slug"] == "demo-shop"
    names = set(schema["components"]["schemas"])
    assert set(BODY_EXAMPLES) <= names, "an example of a body that is no more"
