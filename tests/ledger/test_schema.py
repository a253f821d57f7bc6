"""The API documentation is complete, and works without the internet."""

import re

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema


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
    for address in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert address.startswith("/"), address
        if address.startswith("/static/"):
            assert Client().get(address).status_code == 200, address
