"""The REST resources of harnesses, called as a program calls them."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from harnesses.selectors import harness_get, version_export, version_get
from harnesses.services import harness_commit, harness_create
from ledger.core.tokens import Scope
from ledger.selectors import audit_list
from tests.conftest import PASSWORD
from tests.harnesses.samples import broken_document, many_tools, sample_document, sample_spec

pytestmark = pytest.mark.django_db
BASE = "/api/v1/harnesses"


@pytest.fixture
def harness(operator, world):
    made = harness_create(slug="autumn", title="Autumn knits", world=world, acting_user=operator)
    harness_commit(harness=made, spec=sample_spec(), message="First", acting_user=operator)
    return made


def _commit(api, spec, **values):
    return api.post(f"{BASE}/autumn/versions/", {"spec": spec, "message": "Why", **values}, format="json")


def _assert_problem(response, status, code=None):
    assert response.status_code == status, response.content[:500]
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["detail"]
    if code:
        assert body["type"] == f"urn:tackroom:problem:{code}"
    return body


# --- reading ---------------------------------------------------------------------------------------------------------


def test_harnesses_are_listed_in_pages(api, harness):
    body = api.get(f"{BASE}/?search=knits&limit=1").json()
    assert (body["next"], body["results"][0]["slug"], body["results"][0]["version_count"]) == (None, "autumn", 1)


@pytest.mark.parametrize("query", ["limit=99999999999999999999", "limit=-1", "limit=x"])
def test_odd_pages_are_no_error(api, harness, query):
    assert api.get(f"{BASE}/?{query}").status_code == 200


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_version_is_read_with_and_without_a_slash(api, harness, slash):
    response = api.get(f"{BASE}/autumn/versions/1{slash}")
    body = response.json()
    assert response.status_code == 200
    assert (body["number"], body["author"], body["message"]) == (1, "Olga Operator (olga)", "First")
    assert (body["parent"], body["source"], body["harness"]) == (None, "api", "autumn")
    assert body["spec"] == sample_spec().document()
    assert next(iter(body["spec"]["tools"][0]["input_schema"])) == "type"
    assert response["ETag"] == f'"{body["spec_hash"]}"'


def test_a_version_that_is_known_already_is_not_sent_again(api, harness):
    etag = api.get(f"{BASE}/autumn/versions/1/")["ETag"]
    for header in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        response = api.get(f"{BASE}/autumn/versions/1/", headers={"If-None-Match": header})
        assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag)
    assert api.get(f"{BASE}/autumn/versions/1/", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("number", ["0", "2", "-1", "abc", "1e3", "9" * 40, str(2**63), "%00", "١", "1%20"])
def test_a_version_that_is_not_there_is_a_404(api, harness, number):
    _assert_problem(api.get(f"{BASE}/autumn/versions/{number}/"), 404, "not_found")


@pytest.mark.parametrize("slug", ["nope", "a%00b", "%E5%90%8D", "AUTUMN", "x" * 3000])
@pytest.mark.parametrize("rest", ["", "versions/", "versions/1/", "versions/1/export/", "compare/?from=1&to=1"])
def test_a_harness_that_is_not_there_is_a_404(api, harness, slug, rest):
    _assert_problem(api.get(f"{BASE}/{slug}/{rest}"), 404, "not_found")


def test_versions_are_listed_newest_first_without_content(api, harness, operator):
    harness_commit(harness=harness, spec=sample_spec(rules="Be kind."), message="", acting_user=operator)
    results = api.get(f"{BASE}/autumn/versions/").json()["results"]
    assert [(item["number"], item["parent"]) for item in results] == [(2, 1), (1, None)]
    assert "spec" not in results[0]


def test_an_export_is_a_zip_to_save(api, harness):
    for headers in ({}, {"Accept": "application/zip"}):
        response = api.get(f"{BASE}/autumn/versions/1/export/", headers=headers)
        assert response["Content-Type"] == "application/zip"
        assert response["Content-Disposition"] == 'attachment; filename="autumn-v1.zip"'
        assert response.content == version_export(version_get("autumn", 1))[1]


def test_two_versions_are_compared(api, harness, operator):
    harness_commit(harness=harness, spec=sample_spec(tool_name="check_price"), message="", acting_user=operator)
    body = api.get(f"{BASE}/autumn/compare/?from=1&to=2").json()
    assert [(change["action"], change["old_name"], change["new_name"]) for change in body["changes"]] == [
        ("renamed", "get_price", "check_price")
    ]
    assert "preserving" in json.dumps(body["risk"])


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 422), ("?from=1", 422), ("?from=x&to=1", 404), ("?from=1&to=99", 404), (f"?from=1&to={10**30}", 404)],
)
def test_a_comparison_without_two_versions_is_refused(api, harness, query, status):
    _assert_problem(api.get(f"{BASE}/autumn/compare/{query}"), status)


# --- who may ---------------------------------------------------------------------------------------------------------


def test_nobody_reads_without_logging_in(harness):
    response = Client().get(f"{BASE}/autumn/")
    _assert_problem(response, 401)
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_read_token_reads_and_writes_nothing(operator, make_api_client, harness):
    reader = make_api_client(operator, [Scope.HARNESSES_READ])
    assert reader.get(f"{BASE}/autumn/").status_code == 200
    _assert_problem(_commit(reader, sample_document(rules="x")), 403, "missing_scope")


def test_a_logged_in_person_is_judged_by_role(reviewer, harness):
    client = Client()
    client.login(username=reviewer.username, password=PASSWORD)
    assert client.get(f"{BASE}/autumn/").status_code == 200
    body = {"spec": sample_document(rules="x"), "message": "Try"}
    _assert_problem(client.post(f"{BASE}/autumn/versions/", body, content_type="application/json"), 403, "denied")


def test_a_session_needs_its_csrf_token_to_write(operator, harness):
    client = Client(enforce_csrf_checks=True)
    client.login(username=operator.username, password=PASSWORD)
    body = {"spec": sample_document(rules="x"), "message": "m"}
    problem = client.post(f"{BASE}/autumn/versions/", body, content_type="application/json")
    assert "CSRF" in _assert_problem(problem, 403)["detail"]


def test_a_method_that_is_not_there_is_a_405(api, harness):
    for response in (api.delete(f"{BASE}/"), api.put(f"{BASE}/autumn/versions/1/"), api.get(f"{BASE}/autumn/import/")):
        _assert_problem(response, 405, "method_not_allowed")


# --- writing ---------------------------------------------------------------------------------------------------------


def test_a_harness_is_made_and_committed_to(api, world, operator):
    created = api.post(f"{BASE}/", {"slug": "autumn", "title": "Autumn", "world": world}, format="json")
    assert (created.status_code, created["Location"]) == (201, "http://testserver/api/v1/harnesses/autumn")
    response = _commit(api, sample_document(), expected_number=0)
    body = response.json()
    assert response.status_code == 201
    assert (body["is_new"], body["version"]["number"], body["version"]["source"]) == (True, 1, "api")
    assert api.get(response["Location"]).json()["spec_hash"] == body["version"]["spec_hash"]
    entry = audit_list(action_prefix="harness.committed").get()
    assert (entry.actor, entry.request_id) == (operator, response["X-Request-ID"])


def test_unchanged_content_is_a_200(api, harness):
    response = _commit(api, sample_document())
    assert (response.status_code, response.json()["is_new"]) == (200, False)
    assert harness_get("autumn").version_count == 1


def test_a_conflict_names_the_newest_version(api, harness):
    problem = _assert_problem(_commit(api, sample_document(rules="x"), expected_number=0), 409, "version_conflict")
    assert "version 1" in problem["detail"]


def test_errors_in_a_harness_are_told_one_by_one(api, harness):
    problem = _assert_problem(_commit(api, broken_document()), 422, "invalid_harness")
    assert all({"field", "message", "mend", "code"} <= set(error) for error in problem["errors"])
    assert "no_such_operation" in json.dumps(problem["errors"])
    assert {finding["severity"] for finding in problem["findings"]} >= {"error"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "spec"),
        ({"spec": [], "message": "m"}, "spec"),
        ({"spec": "x", "message": "m"}, "spec"),
        ({"spec": {"schema_version": 1}}, "message"),
        ({"spec": {"schema_version": 1}, "message": "m", "expected_number": -1}, "expected_number"),
        ({"spec": {"schema_version": 1}, "message": "m", "expected_number": 10**30}, "expected_number"),
    ],
)
def test_a_request_of_the_wrong_shape_is_a_400_by_field(api, harness, body, field):
    problem = _assert_problem(api.post(f"{BASE}/autumn/versions/", body, format="json"), 400, "invalid")
    assert field in [error["field"] for error in problem["errors"]]


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema_version": 99},
        {"schema_version": 1, "promt": []},
        {"schema_version": 1, "tools": {}},
        {"schema_version": 1, "tools": [None]},
        {"schema_version": True, "prompt": "x"},
        {"schema_version": 1, "runtime": {"deadline_ms": 10**40}},
        {"schema_version": 1, "prompt": [{"id": "x" * 500, "title": "T", "body": "b"}]},
    ],
    ids=str,
)
def test_a_document_that_is_no_harness_is_a_422_by_field(api, harness, document):
    problem = _assert_problem(_commit(api, document), 422, "bad_spec")
    assert all(error["field"].startswith("spec") for error in problem["errors"])


def test_a_section_of_a_megabyte_is_refused_with_the_limit(api, harness):
    problem = _assert_problem(_commit(api, sample_document(rules="word " * 200_000)), 422)
    assert "prompt" in json.dumps(problem["errors"])


def test_three_hundred_tools_are_refused_or_kept_whole(api, harness):
    document = many_tools(300)
    _assert_problem(_commit(api, document), 422, "invalid_harness")  # Over the token budget.
    document["runtime"] = {"context_budget_tokens": 1_000_000}
    response = _commit(api, document)
    assert response.status_code == 201
    assert len(api.get(response["Location"]).json()["spec"]["tools"]) == 300


@pytest.mark.parametrize(
    ("body", "telling"),
    [
        (b'{"spec": {"schema_version": 1, "schema_version": 1}, "message": "m"}', "twice"),
        (b'{"spec": {"schema_version": NaN}, "message": "m"}', "NaN"),
        (b'{"spec": ' + b'{"a":' * 50 + b"1" + b"}" * 50 + b', "message": "m"}', "nested"),
        (b'{"spec": {"schema_version": 1, "x": "\\u0000"}, "message": "m"}', "U+0000"),
        (b'{"spec": {"schema_version": 1}, "message": "a\\u0000b"}', "U+0000"),
        (b'{"spec": {"schema_version": 1}, "message": "\\udfff"}', "U+DFFF"),
        (b"not json", "line 1"),
    ],
)
def test_json_that_cannot_be_trusted_is_a_400(api, harness, body, telling):
    response = api.generic("POST", f"{BASE}/autumn/versions/", body, content_type="application/json")
    assert telling in _assert_problem(response, 400, "malformed")["detail"]


@pytest.mark.parametrize("text", ["你好，主播", "‮שלום‬ مرحبا", "🧶👩‍🎤", "caf\u00e9", "a\r\nb", "{% raw %}"])
def test_texts_of_every_script_are_kept_or_refused_and_never_break(api, harness, text):
    response = _commit(api, sample_document(rules=text))
    if response.status_code == 422:
        assert response.json()["errors"]
    else:
        body = api.get(response["Location"]).json()["spec"]["prompt"][0]["body"]
        assert body == text.replace("\r\n", "\n")


def test_decomposed_letters_are_the_same_content(api, harness):
    assert _commit(api, sample_document(rules="café")).status_code == 201
    assert _commit(api, sample_document(rules="cafe\u0301")).status_code == 200


@pytest.mark.parametrize(
    "text", ["{{ ''.__class__.__mro__ }}", "{{ 'a' * 999999999 }}", "{% for x in range(9**9) %}{% endfor %}"]
)
def test_a_template_that_reaches_out_or_never_ends_is_refused(api, harness, text):
    _assert_problem(_commit(api, sample_document(rules=text)), 422, "invalid_harness")


def test_nul_in_the_query_is_a_400(api, harness):
    _assert_problem(api.get(f"{BASE}/?search=%00"), 400, "malformed")


# --- importing -------------------------------------------------------------------------------------------------------


def _zip(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def _symlink():
    link = zipfile.ZipInfo("harness.yaml")
    link.create_system = 3
    link.external_attr = 0o120777 << 16
    return _zip([(link, "/etc/passwd")])


def _post_file(api, data, filename="upload.zip", path="import"):
    url = f"{BASE}/autumn/{path}/"
    return api.post(url, {"file": SimpleUploadedFile(filename, data), "message": "From a file"}, format="multipart")


def test_an_export_imports_unchanged_as_a_form_and_as_a_raw_body(api, harness):
    filename, data = version_export(version_get("autumn", 1))
    assert _post_file(api, data, filename).status_code == 200
    url = f"{BASE}/autumn/import?filename={filename}"
    response = api.generic("POST", url, data, content_type="application/zip")
    assert (response.status_code, response.json()["is_new"]) == (200, False)


def test_an_import_makes_a_version_and_a_preview_does_not(api, harness, operator, world):
    other = harness_create(slug="other", title="Other", world=world, acting_user=operator)
    changed = sample_spec(tool_name="check_price")
    version = harness_commit(harness=other, spec=changed, message="", acting_user=operator).version
    filename, data = version_export(version)
    preview = _post_file(api, data, filename, "import/preview").json()
    assert [change["action"] for change in preview["changes"]] == ["renamed"]
    assert (preview["base_number"], preview["has_errors"], harness_get("autumn").version_count) == (1, False, 1)
    response = _post_file(api, data, filename)
    body = response.json()
    assert response.status_code == 201
    assert (body["version"]["number"], body["version"]["source"]) == (2, "import")
    assert body["version"]["message"] == "From a file"
    assert isinstance(body["notes"], list)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 this is no zip",
        _zip([]),
        _zip([("../../etc/passwd", "x")]),
        _zip([("/etc/passwd", "x")]),
        _zip([("harness.yaml", "schema_version: 1\n"), ("harness.yaml/../../x", "x")]),
        _symlink(),
        _zip([("harness.yaml", b"\0" * 60_000_000)]),
        _zip([(f"skills/s{number}/SKILL.md", "x") for number in range(5_000)]),
        _zip([("harness.yaml", b"\xff\xfe\xfa")]),
        _zip([("harness.yaml", "a: &a [*a, *a]\n")]),
        _zip([("skills/x/SKILL.md", "no front matter")]),
        _zip([("skills/x/SKILL.md", "---\nname: ../x\ndescription: d\n---\nbody")]),
        _zip([("inner.zip", _zip([("harness.yaml", "schema_version: 1\n")]))]),
        b"",
        b"\0" * 1000,
        "名".encode("gbk"),
    ],
    ids=range(16),
)
def test_a_bad_upload_is_a_clear_4xx_and_changes_nothing(api, harness, data):
    for filename in ("upload.zip", "\u202egpj.exe", "n" * 400 + ".zip"):
        response = _post_file(api, data, filename)
        assert 400 <= response.status_code < 500, response.content[:300]
        assert _assert_problem(response, response.status_code)["errors"]
    assert harness_get("autumn").version_count == 1


def test_an_upload_past_the_limit_is_a_413(api, harness):
    response = api.generic("POST", f"{BASE}/autumn/import/", b"x" * 25_000_001, content_type="application/zip")
    _assert_problem(response, 413, "too_large")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/zip"),
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"--x", "multipart/form-data"),
        (
            b'--x\r\nContent-Disposition: form-data; name="message"\r\n\r\nhi\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
    ],
)
def test_a_request_without_a_file_says_how_to_send_one(api, harness, body, content_type):
    response = api.generic("POST", f"{BASE}/autumn/import/", body, content_type=content_type)
    assert response.status_code in (400, 422)
    _assert_problem(response, response.status_code)


def test_a_message_with_nul_in_a_form_is_a_400(api, harness):
    values = {"file": SimpleUploadedFile("a.zip", b"x"), "message": "a\0b"}
    _assert_problem(api.post(f"{BASE}/autumn/import/", values, format="multipart"), 400, "invalid")
