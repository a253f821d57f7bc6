"""The pages: who sees which, what they show, that their links lead somewhere, and that bad input is told and not lost."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from console.demo import Login
from harnesses.core.spec import HarnessSpec
from harnesses.selectors import version_get
from harnesses.services import (
    draft_commit,
    draft_open,
    draft_save,
    harness_commit,
    harness_create,
    label_move,
    review_request,
)
from inference.services import session_start
from ledger.core.roles import ROLE_PERMISSIONS, Permission, Role
from ledger.selectors import token_list
from ledger.services import token_create
from tests.console import sample
from tests.console.conftest import SignIn

pytestmark = pytest.mark.django_db

HARNESS_PAGES = [
    "/harnesses/",
    f"/harnesses/{sample.SLUG}/",
    f"/harnesses/{sample.SLUG}/versions/",
    f"/harnesses/{sample.SLUG}/versions/1/",
    f"/harnesses/{sample.SLUG}/versions/1/prompt/",
    f"/harnesses/{sample.SLUG}/versions/2/findings/",
    f"/harnesses/{sample.SLUG}/compare/?old=1&new=2",
    "/deployments/",
    "/audit/",
    "/account/tokens/",
    "/account/password/",
]


def test_pages_ask_strangers_to_log_in(client: Client, harness):
    for address in [*HARNESS_PAGES, "/", "/harnesses/new/", "/playground/"]:
        response = client.get(address)
        assert response.status_code == 302, address
        assert response["Location"].startswith(reverse("console:login")), address


@pytest.mark.parametrize("role", list(Role))
def test_every_role_reads_harness_pages(make_user, sign_in: SignIn, harness, deployment, role: Role):
    client = sign_in(make_user(role, username=f"a-{role.value}"))
    expected = dict.fromkeys(HARNESS_PAGES, 200)
    if Permission.VIEW_AUDIT not in ROLE_PERMISSIONS[role]:
        expected["/audit/"] = 403
    assert {address: client.get(address).status_code for address in HARNESS_PAGES} == expected


@pytest.mark.parametrize("address", ["/harnesses/new/", f"/harnesses/{sample.SLUG}/import/", "/playground/"])
def test_pages_for_changing_are_refused_to_analysts_with_the_roles_that_may(analyst, sign_in: SignIn, harness, address):
    response = sign_in(analyst).get(address)
    assert response.status_code == 403
    assert "Operator" in response.content.decode()


# --- links, empty places, queries ------------------------------------------------------------------------------------


def links_of(html: str) -> set[str]:
    """The addresses within the console that a page links to."""
    found = re.findall(r'(?:href|hx-get)="([^"#][^"]*)"', html)
    return {
        address.replace("&amp;", "&")
        for address in found
        if address.startswith(("/", "?")) and "/static/" not in address
    }


def test_every_link_of_every_page_leads_somewhere(platform_engineer, sign_in: SignIn, harness, deployment):
    client = sign_in(platform_engineer)
    session = session_start(harness_slug=sample.SLUG, acting_user=platform_engineer)
    seen: dict[str, int] = {}
    for page in [*HARNESS_PAGES, "/harnesses/new/", f"/harnesses/{sample.SLUG}/import/", f"/playground/{session.pk}/"]:
        for link in links_of(client.get(page).content.decode()):
            address = page.partition("?")[0] + link if link.startswith("?") else link
            if address not in seen and not address.startswith("/admin/"):
                seen[address] = client.get(address).status_code
    assert len(seen) > 15
    assert {address: status for address, status in seen.items() if status not in (200, 302)} == {}


def test_the_navigation_offers_what_the_person_may_see(analyst, operator, sign_in: SignIn, harness):
    assert 'href="/playground/"' not in sign_in(analyst).get("/audit/").content.decode()
    assert 'href="/playground/"' in sign_in(operator).get("/audit/").content.decode()


def test_empty_places_say_what_to_do(operator, sign_in: SignIn):
    client = sign_in(operator)
    harness_create(slug="bare", title="Bare", world=sample.WORLD, acting_user=operator)
    assert "Import the first one" in client.get("/harnesses/bare/").content.decode()
    assert "Import the first one" in client.get("/harnesses/bare/versions/").content.decode()
    assert "Import the first one" in client.get("/harnesses/bare/compare/").content.decode()
    assert "No harness has a version yet" in client.get("/playground/").content.decode()
    assert "No deployment yet" in client.get("/deployments/").content.decode()
    assert "No tokens yet" in client.get("/account/tokens/").content.decode()
    assert "Nothing matches" in client.get("/audit/?search=nowhere").content.decode()


def test_the_list_of_harnesses_costs_the_same_for_one_and_for_many(
    operator, sign_in: SignIn, harness, django_assert_max_num_queries
):
    client = sign_in(operator)
    for number in range(12):
        harness_create(slug=f"h-{number}", title=f"Harness {number}", world=sample.WORLD, acting_user=operator)
    with django_assert_max_num_queries(10):
        page = client.get("/harnesses/").content.decode()
    assert "Harness 11" in page
    assert "Rename the price tool" in page


def test_the_list_tells_labels_open_work_and_what_waits(operator, reviewer, sign_in: SignIn, harness):
    version = version_get(sample.SLUG, 2)
    label_move(harness=harness, name="staging", version=version, reason="Try it", acting_user=operator)
    draft = draft_open(harness=harness, name="Warmer words", acting_user=operator)
    review_request(version=version, acting_user=operator)
    harness_create(slug="bare", title="Bare", world=sample.WORLD, acting_user=operator)

    mine = sign_in(operator).get("/harnesses/").content.decode()
    for words in ("staging v2", "1 draft", "1 review", "Your open drafts", f"/drafts/{draft.pk}/"):
        assert words in mine
    assert "1 review waits for you" not in mine
    theirs = sign_in(reviewer).get("/harnesses/").content.decode()
    assert "1 review waits for you" in theirs
    assert "Your open drafts" not in theirs

    found = sign_in(operator).get("/harnesses/?search=bare").content.decode()
    assert "/harnesses/bare/" in found
    assert f'href="/harnesses/{sample.SLUG}/"' not in found
    assert "Nothing matches" in sign_in(operator).get("/harnesses/?search=nowhere").content.decode()


def test_a_version_tells_where_it_stands_and_what_it_came_from(operator, analyst, sign_in: SignIn, harness):
    draft = draft_open(harness=harness, name="Warmer words", acting_user=operator)
    edits = [{"op": "set", "kind": "prompt", "id": "role", "fields": {"body": "Be warm."}}]
    saved = draft_save(draft=draft, revision=draft.revision, edits=edits, acting_user=operator)
    version = draft_commit(draft=draft, revision=saved.draft.revision, message="Be warm", acting_user=operator).version
    address = f"/harnesses/{sample.SLUG}/versions/{version.number}/"
    asking = f"/harnesses/{sample.SLUG}/reviews/new/?version={version.number}"
    page = sign_in(operator).get(address).content.decode()
    for words in ("Candidate", "Not reviewed", asking, f"/drafts/{draft.pk}/", "Warmer words", "Be warm"):
        assert words in page
    assert asking not in sign_in(analyst).get(address).content.decode()

    review = review_request(version=version, acting_user=operator)
    label_move(harness=harness, name="staging", version=version, reason="Try it", acting_user=operator)
    page = sign_in(operator).get(address).content.decode()
    for words in (f"/reviews/{review.pk}/", "In review", f"/harnesses/{sample.SLUG}/labels/staging/history/"):
        assert words in page
    assert asking not in page


def test_pages_of_a_version_need_few_queries(operator, sign_in: SignIn, harness, django_assert_max_num_queries):
    client = sign_in(operator)
    client.get(f"/harnesses/{sample.SLUG}/")
    for address in HARNESS_PAGES[1:7]:
        with django_assert_max_num_queries(20):
            client.get(address)


@pytest.mark.parametrize(
    "address",
    [
        "/harnesses/nothing/",
        f"/harnesses/{sample.SLUG}/versions/99/",
        f"/harnesses/{sample.SLUG}/versions/99999999999999999999/",
        "/playground/00000000-0000-0000-0000-000000000000/",
        "/nowhere/",
    ],
)
def test_what_is_not_there_is_a_page_of_its_own(operator, sign_in: SignIn, harness, address: str):
    response = sign_in(operator).get(address)
    assert response.status_code == 404
    assert "This page does not exist" in response.content.decode()


def test_a_version_is_told_in_words(operator, sign_in: SignIn, harness):
    page = sign_in(operator).get(f"/harnesses/{sample.SLUG}/").content.decode()
    assert "<strong>When</strong> a viewer&#x27;s comment arrives" in page
    assert "total_minor shown as total_yuan, multiplied by 0.01" in page
    assert "fetch_price" in page


def test_the_rendered_prompt_shows_tokens_of_each_part_and_the_budget(operator, sign_in: SignIn, harness):
    page = sign_in(operator).get(f"/harnesses/{sample.SLUG}/versions/1/prompt/").content.decode()
    assert re.search(r"<strong>\d+</strong> of 3,072 tokens", page)
    assert "tool: get_price" in page


def test_a_comparison_tells_the_meaning_first(operator, sign_in: SignIn, harness):
    page = sign_in(operator).get(f"/harnesses/{sample.SLUG}/compare/?old=1&new=2").content.decode()
    meaning, text = (
        page.index("Tool renamed: get_price → fetch_price (T1, preserving)"),
        page.index("What the model reads"),
    )
    assert meaning < text
    assert "<ins>fetch_price</ins>" in page


@pytest.mark.parametrize("query", ["old=1&new=77", "old=x&new=2", "new=%F0%9F%90%B4"])
def test_a_comparison_with_a_version_that_is_not_there_says_so_at_the_field(operator, sign_in: SignIn, harness, query):
    response = sign_in(operator).get(f"/harnesses/{sample.SLUG}/compare/?{query}")
    assert response.status_code == 422
    assert "There is no version" in response.content.decode()


# --- forms: what is wrong is told at the field, and nothing typed is lost ------------------------------------------------


def test_a_harness_is_made_and_asks_for_its_first_version(operator, sign_in: SignIn):
    form = {"title": "Autumn sale", "slug": "autumn-sale", "world": sample.WORLD, "description": ""}
    response = sign_in(operator).post("/harnesses/new/", form)
    assert response["Location"] == "/harnesses/autumn-sale/import/"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("slug", "Not A Slug", "cannot be a slug"),
        ("slug", "new", "cannot be a slug"),
        ("slug", sample.SLUG, "already"),
        ("title", "", "required"),
        ("title", "a\x00b", "Null characters"),
        ("title", "a\x07b", "U+0007"),
        ("world", "atlantis", "not one of the available choices"),
        ("description", "x" * 4001, "4,001 characters"),
    ],
)
def test_a_harness_that_cannot_be_made_keeps_what_was_typed(operator, sign_in: SignIn, harness, field, value, message):
    form = {
        "title": "Autumn sale",
        "slug": "autumn-sale",
        "world": sample.WORLD,
        "description": "Kept text",
        field: value,
    }
    response = sign_in(operator).post("/harnesses/new/", form)
    page = response.content.decode()
    assert response.status_code == 422
    assert message in page
    assert f'id="id_{field}_error"' in page
    assert field == "description" or "Kept text" in page


def upload(name: str, content: bytes) -> dict[str, object]:
    return {"step": "preview", "message": "Kept message", "text": "", "upload": SimpleUploadedFile(name, content)}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.json", b"", "The file is empty"),
        ("broken.json", b'{"tools": [', "Not valid JSON"),
        ("twice.json", b'{"tools": [], "tools": []}', "twice"),
        ("nan.json", b'{"tools": NaN}', "NaN"),
        ("latin.json", b'{"tools": "\xe9"}', "UTF-8"),
        ("photo.png", b"\x89PNG\r\n\x1a\n\x00\x00", "Nothing was imported"),
        ("not-a.zip", b"PK\x03\x04 but not a zip", "Nothing was imported"),
        ("deep.json", b"[" * 5000 + b"]" * 5000, "nested deeper"),
        ("big.json", b" " * 20_000_001, "the limit is 20"),
    ],
)
def test_a_file_that_is_no_harness_says_why_and_keeps_the_message(
    operator, sign_in: SignIn, harness, name, content, message
):
    response = sign_in(operator).post(f"/harnesses/{sample.SLUG}/import/", upload(name, content))
    page = response.content.decode()
    assert response.status_code == 422
    assert message in page
    assert "Kept message" in page


@pytest.mark.parametrize(
    ("text", "message"), [("", "Choose a file"), ("{", "Not valid JSON"), ("a\x00", "Null characters")]
)
def test_pasted_text_that_is_no_harness_stays_in_the_field(operator, sign_in: SignIn, harness, text, message):
    form = {"step": "preview", "text": text, "message": "Kept message"}
    page = sign_in(operator).post(f"/harnesses/{sample.SLUG}/import/", form).content.decode()
    assert message in page
    assert "Kept message" in page


def pasted(spec: HarnessSpec) -> dict[str, str]:
    return {"step": "preview", "text": json.dumps(spec.document()), "message": "Shorter"}


def test_an_import_is_previewed_then_committed(operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    preview = client.post(f"/harnesses/{sample.SLUG}/import/", pasted(sample.sample_spec(price_name="tell_price")))
    page = client.get(preview["Location"]).content.decode()
    assert "Tool renamed: fetch_price → tell_price (T1, preserving)" in page
    draft = preview["Location"].partition("draft=")[2]
    done = client.post(
        f"/harnesses/{sample.SLUG}/import/", {"step": "commit", "draft": draft, "message": "Better name"}
    )
    assert done["Location"] == f"/harnesses/{sample.SLUG}/versions/3/"
    assert version_get(sample.SLUG).message == "Better name"


def test_a_version_committed_meanwhile_is_told_before_anything_is_written(operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    preview = client.post(f"/harnesses/{sample.SLUG}/import/", pasted(sample.sample_spec(price_name="tell_price")))
    draft = preview["Location"].partition("draft=")[2]
    harness_commit(harness=harness, spec=sample.sample_spec(greeting="Hello."), message="", acting_user=operator)
    response = client.post(f"/harnesses/{sample.SLUG}/import/", {"step": "commit", "draft": draft, "message": "Mine"})
    assert "Version 3 was committed meanwhile" in response.content.decode()
    assert "Mine" in response.content.decode()
    assert version_get(sample.SLUG).number == 3


def test_somebody_elses_upload_cannot_be_seen(operator, ml_engineer, sign_in: SignIn, harness):
    preview = sign_in(operator).post(
        f"/harnesses/{sample.SLUG}/import/", pasted(sample.sample_spec(price_name="secret_name"))
    )
    response = sign_in(ml_engineer).get(preview["Location"])
    assert "secret_name" not in response.content.decode()
    assert "has expired" in response.content.decode()


def test_a_token_is_shown_once_and_revoked(operator, sign_in: SignIn):
    client = sign_in(operator)
    made = client.post("/account/tokens/", {"name": "staging", "scopes": ["sessions:write"], "ttl_days": 30})
    assert re.search(r"tkr_\w{8}_", made.content.decode())
    later = client.get("/account/tokens/").content.decode()
    assert not re.search(r"tkr_\w{8}_", later)
    token = token_list(owner=operator).get()
    client.post(f"/account/tokens/{token.pk}/revoke/")
    assert "Revoked" in client.get("/account/tokens/").content.decode()


def test_a_token_without_scopes_keeps_its_name(operator, sign_in: SignIn):
    page = sign_in(operator).post("/account/tokens/", {"name": "staging", "ttl_days": 30}).content.decode()
    assert 'value="staging"' in page
    assert "required" in page


def test_other_peoples_tokens_cannot_be_revoked_here(operator, ml_engineer, sign_in: SignIn):
    token = token_create(owner=ml_engineer, name="mine", scopes=["sessions:read"], acting_user=ml_engineer).token
    assert sign_in(operator).post(f"/account/tokens/{token.pk}/revoke/").status_code == 404


def test_a_session_that_cannot_be_started_keeps_the_choices(operator, sign_in: SignIn, harness, deployment):
    form = {
        "version": f"{sample.SLUG}@1",
        "other": f"{sample.SLUG}@1",
        "checkpoint": "null-model",
        "viewer": "wren",
        "seed": "-1",
    }
    page = sign_in(operator).post("/playground/", form).content.decode()
    assert "This is the same version" in page
    assert "greater than or equal to 0" in page
    assert 'value="wren"' in page


def test_wrong_logins_are_told_in_words(client: Client, operator: AbstractUser):
    page = client.post("/login/", {"username": operator.username, "password": "wrong"}).content.decode()
    assert "do not match" in page
    assert f'value="{operator.username}"' in page


def test_demo_logins_are_shown_in_a_demo_alone(client: Client, settings, db, monkeypatch):
    login = Login("operator", "demo-password-1", "Operator")
    monkeypatch.setattr("console.views.accounts.read_logins", lambda: [login])
    settings.DEMO_LOGINS = False
    assert "demo-password-1" not in client.get("/login/").content.decode()
    settings.DEMO_LOGINS = True
    assert "demo-password-1" in client.get("/login/").content.decode()


def test_the_policy_for_scripts_and_styles_is_strict(client: Client, db):
    response = client.get("/login/")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=", response.content.decode())
