"""Every error of the REST API is a problem document, and none of them gives a secret away."""

import json
import logging

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from django.urls import path
from rest_framework import exceptions, serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.test import APIClient
from rest_framework.views import APIView

from ledger.errors import Conflict, Denied, Invalid, NotFound, TooLarge, Unavailable
from ledger.request_context import current_request_id

RAISED: dict[str, Exception] = {
    "not-found": NotFound("There is no such thing."),
    "conflict": Conflict("It changed.", code="version_conflict"),
    "invalid": Invalid.field("slug", "Wrong.", "Mend it."),
    "denied": Denied("No."),
    "large": TooLarge("Too much."),
    "down": Unavailable("The engine does not answer."),
    "http404": Http404("secret table name"),
    "forbidden": PermissionDenied("You may not."),
    "too-big": RequestDataTooBig("x"),
    "suspicious": SuspiciousOperation("odd"),
    "throttled": exceptions.Throttled(wait=12.4),
    "media": exceptions.UnsupportedMediaType("text/x"),
    "bug": RuntimeError("password=hunter2"),
}
EXPECTED = {
    "not-found": (404, "not_found"),
    "conflict": (409, "version_conflict"),
    "invalid": (422, "invalid"),
    "denied": (403, "denied"),
    "large": (413, "too_large"),
    "down": (503, "unavailable"),
    "http404": (404, "not_found"),
    "forbidden": (403, "denied"),
    "too-big": (413, "too_large"),
    "suspicious": (400, "malformed"),
    "throttled": (429, "too_many_requests"),
    "media": (415, "unsupported_media_type"),
    "bug": (500, "internal"),
}


class RaisingView(APIView):
    permission_classes = (AllowAny,)
    authentication_classes = ()

    def get(self, request, name):
        raise RAISED[name]


class _Inner(serializers.Serializer):
    number = serializers.IntegerField(max_value=3)


class _Outer(serializers.Serializer):
    name = serializers.CharField()
    inner = _Inner(many=True)

    def validate(self, attrs):
        raise serializers.ValidationError("Never right.")


class EchoView(APIView):
    permission_classes = (AllowAny,)
    authentication_classes = ()

    def post(self, request):
        if "name" in request.data or "inner" in request.data:
            _Outer(data=request.data).is_valid(raise_exception=True)
        return Response(request.data)


urlpatterns = [path("api/raise/<str:name>/", RaisingView.as_view()), path("api/echo/", EchoView.as_view())]
handler404 = "ledger.api.handlers.page_not_found"
pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def client():
    return APIClient(raise_request_exception=False)


def _post(client, body, content_type="application/json"):
    return client.generic("POST", "/api/echo/", body, content_type=content_type)


@pytest.mark.parametrize("name", RAISED)
def test_every_exception_becomes_a_problem_document(client, name):
    response = client.get(f"/api/raise/{name}/")
    status, code = EXPECTED[name]
    body = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert (response.status_code, body["status"]) == (status, status)
    assert body["type"] == f"urn:tackroom:problem:{code}"
    assert body["title"]
    assert body["detail"]
    assert body["instance"] == f"/api/raise/{name}/"
    assert body["request_id"] == response["X-Request-ID"]


def test_a_bug_is_logged_with_the_request_id_and_not_told(client, caplog):
    with caplog.at_level(logging.ERROR):
        response = client.get("/api/raise/bug/", headers={"X-Request-ID": "request-42"})
    assert "hunter2" not in response.content.decode()
    assert "request-42" in caplog.text
    assert "hunter2" in caplog.text


def test_field_errors_carry_field_message_and_mend(client):
    assert client.get("/api/raise/invalid/").json()["errors"] == [
        {"field": "slug", "message": "Wrong.", "mend": "Mend it.", "code": "invalid"}
    ]


def test_nested_errors_are_told_by_path(client):
    body = _post(client, json.dumps({"inner": [{"number": 1}, {"number": 9}, {}]})).json()
    found = {error["field"]: error for error in body["errors"]}
    assert set(found) == {"name", "inner[1].number", "inner[2].number"}
    assert found["inner[2].number"]["mend"] == "Add this field."
    assert found["inner[1].number"]["code"] == "max_value"


def test_an_error_of_the_whole_input_has_no_field(client):
    body = _post(client, json.dumps({"name": "a", "inner": []})).json()
    assert [error["field"] for error in body["errors"]] == [""]
    assert body["detail"] == "Never right."


def test_retry_after_is_told(client):
    assert client.get("/api/raise/throttled/")["Retry-After"] == "13"


def test_an_unknown_address_and_a_wrong_method_are_problems(client):
    for response, status in ((client.get("/api/nowhere/"), 404), (client.delete("/api/echo/"), 405)):
        assert response.status_code == status
        assert response["Content-Type"] == "application/problem+json"
    assert client.get("/nowhere/")["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("body", "telling"),
    [
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1e999}', "too large"),
        (b"[" * 60 + b"]" * 60, "nested"),
        (b'{"a": ', "line 1"),
        (b"\xff\xfe{}", "UTF-8"),
        (b'{"a": "x\\u0000y"}', "U+0000"),
        (b'{"a": {"b": ["\\u0000"]}}', "a.b[0]"),
        (b'{"a\\u0000": 1}', "key"),
        (b'{"a": "\\ud800"}', "U+D800"),
        (b'{"a": "raw\0nul"}', "line 1"),
    ],
)
def test_json_that_cannot_be_trusted_is_a_400_that_says_why(client, body, telling):
    response = _post(client, body)
    assert response.status_code == 400
    assert telling in response.json()["detail"]


def test_a_body_past_the_limit_is_a_413(client):
    assert _post(client, b'"' + b"a" * 5_000_000 + b'"').status_code == 413


def test_another_content_type_is_a_415(client):
    response = _post(client, b"a=1", "application/x-www-form-urlencoded")
    assert response.status_code == 415


def test_texts_of_every_script_come_through(client):
    value = {"名字": "שלום 🧶", "twins": ["é", "é"]}
    assert _post(client, json.dumps(value)).json() == value


@pytest.mark.parametrize("query", ["?q=%00", "?a%00=1"])
def test_nul_in_the_query_is_a_400(client, query):
    response = client.get(f"/api/raise/conflict/{query}")
    assert response.status_code == 400
    assert "NUL" in response.json()["detail"]
    assert client.get("/api/raise/conflict/?q=%2500").status_code == 409


@pytest.mark.parametrize("offered", ["short", "x" * 65, "line\nbreak-in-it", "semi;colon-id"])
def test_an_insane_request_id_is_replaced(client, offered):
    given = client.get("/api/raise/denied/", headers={"X-Request-ID": offered})["X-Request-ID"]
    assert given != offered
    assert len(given) == 32


def test_the_request_id_is_forgotten_when_the_request_is_finished(client):
    client.get("/api/raise/denied/")
    assert current_request_id() == ""


async def test_the_request_id_reaches_asynchronous_requests_too(async_client):
    response = await async_client.get("/api/raise/denied/", headers={"X-Request-ID": "async-request-7"})
    assert response["X-Request-ID"] == response.json()["request_id"] == "async-request-7"
