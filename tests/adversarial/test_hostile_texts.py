"""Texts that are code, in every text that a person or a model can write, on every page, in a real browser under the real policy.

Nothing runs, nothing becomes an element, nothing makes a page wider than a phone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog

from harnesses.core.parsing import spec_from_document
from harnesses.services import (
    draft_open,
    freeze_create,
    harness_commit,
    harness_create,
    harness_update,
    label_move,
    member_set,
    release_schedule,
    review_decide,
    review_request,
    thread_open,
    thread_reply,
)
from inference.services import session_start, turn_take
from ledger.core.roles import Role
from ledger.services import team_create, token_create
from tests.adversarial.furnishing import SLUG, addresses
from tests.adversarial.test_odd_requests import fail_for
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, Visitor, launched_browser, live_server, open_visitor, run_async

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CODE = "\"'><img src=x onerror=pwned=1><script>pwned=1</script><svg/onload=pwned=1>{{7*7}}"
LONG = f"{CODE} {'W' * 90}\u202e"
"""Also a word without an end, and a mark that turns the direction of writing."""
LINKS = (
    "[a](javascript:pwned=1) [b](data:text/html,<script>pwned=1</script>) <a href='javascript:pwned=1'>c</a> ![d](x)"
)
FOUND = """() => ({
  ran: window.pwned === 1,
  elements: document.querySelectorAll('img[src="x"], [onerror], [onload], a[href^="javascript:"], a[href^="data:"]').length,
  scripts: [...document.scripts].filter((node) => !node.src && node.type !== "application/json").length,
})"""


@pytest.fixture
def visitor(transactional_db: None) -> Iterator[Visitor]:
    with launched_browser() as browser, live_server() as url:
        person = open_visitor(browser, url, viewport=PHONE)
        yield person
        person.context.close()


def hostile_document(which: int) -> dict[str, Any]:
    """The sample harness with code in every text of it. Templates hold it without the braces, or else they would not render."""
    document = sample.sample_spec(greeting=f"Greeting {which}.").document()
    plain = LONG.replace("{{7*7}}", "")
    document["prompt"][0].update(title=LONG[:100], body=f"{plain}\n{which}\n{LINKS}")
    document["skills"][0].update(description=plain, body=f"# {plain}\n\n{LINKS}\n\n```\n{plain}\n```\n{which}")
    tool = document["tools"][0]
    tool.update(title=LONG[:100], description=plain)
    tool["input_schema"]["properties"]["item"]["description"] = plain
    document["hooks"][0]["name"] = LONG[:60]
    document["hooks"][0]["action"]["reason"] = plain
    document["runtime"]["fallback_reply"] = plain
    return document


@pytest.fixture
def hostile(make_user, deployment, engine) -> dict[str, Any]:
    ada = make_user(Role.ADMIN, username="ada", full_name=LONG[:140])
    rui = make_user(Role.REVIEWER, username="rui", full_name=CODE[:140])
    harness = harness_create(slug=SLUG, title=LONG[:110], world=sample.WORLD, description=LONG, acting_user=ada)
    for which in (1, 2):
        spec = spec_from_document(hostile_document(which))
        harness_commit(harness=harness, spec=spec, message=f"{LONG} {which}", acting_user=ada)
    version = harness.versions.get(number=2)
    harness_update(harness=harness, description=f"{LONG} again", acting_user=ada)
    draft = draft_open(harness=harness, name=LONG[:110], document=hostile_document(3), acting_user=ada)
    review = review_request(version=version, message=LONG, reviewers=["rui"], acting_user=ada)
    place: dict[str, Any] = {"component_kind": "prompt", "component_id": "role", "field": "body", "line": 1}
    thread = thread_open(review=review, body=LONG, acting_user=rui, **place)
    thread_reply(thread=thread, body=LINKS, acting_user=ada)
    review_decide(review=review, verdict="reject", reason=LONG, number=2, acting_user=rui)
    label_move(harness=harness, name="w" * 40, version=version, reason=LONG, acting_user=ada)
    label_move(harness=harness, name="staging", version=version, reason=LONG, acting_user=ada)
    soon = timezone.now() + dt.timedelta(hours=2)
    plan = release_schedule(harness=harness, name="nightly", version=version, due_at=soon, reason=LONG, acting_user=ada)
    starts = timezone.now() - dt.timedelta(minutes=1)
    freeze = freeze_create(harness=harness, starts_at=starts, ends_at=soon, reason=LONG, acting_user=ada)
    team = team_create(slug="night-shift", name=LONG[:110], members=["ada"], acting_user=ada)
    member_set(harness=harness, kind="team", name=team.slug, role="viewer", acting_user=ada, reason=LONG)
    token = token_create(owner=ada, name=LONG[:90], scopes=["harnesses:read"], acting_user=ada)
    session = session_start(harness_slug=SLUG, seed=0, viewer=CODE[:80], acting_user=ada)
    engine.replies += [f'CALL get_price; item: "{CODE}"', f"{LONG} {LINKS}"]
    run_async(turn_take(session_id=session.pk, comment=LONG, acting_user=ada))
    return {
        "slug": SLUG, "number": 2, "draft_id": draft.pk, "review_id": review.pk, "thread_id": thread.pk, "name": "w" * 40,
        "release_id": plan.pk, "freeze_id": freeze.pk, "session_id": session.pk, "token_id": token.token.pk,
        "file_format": "csv",
    }  # fmt: skip


QUERIES = {
    "harness_compare": "?old=1&new=2",
    "label_move": "?version=1",
    "harness_list": "?search=under",
    "audit_list": f"?search={'W' * 60}",
}
NO_PAGES = {
    *("home", "login", "logout", "schema", "api-docs", "editor_language", "markdown_preview"),
    *("version_export", "audit_export", "harness_changelog_export"),
}


def test_no_text_is_taken_for_code_on_any_page(visitor: Visitor, hostile):
    visitor.log_in("ada", PASSWORD)

    def heard(dialog: Dialog) -> None:
        visitor.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    visitor.page.on("dialog", heard)
    seen, wrong = 0, []
    for item in addresses():
        if item.is_api or item.name in NO_PAGES:
            continue
        values = {**hostile, **({"slug": "night-shift"} if item.name.startswith("team_") else {})}
        if item.name == "turn_detail":
            values["number"] = 1
        address = item.filled(values)
        if visitor.page.request.get(f"{visitor.base_url}{address}").status == 405:
            continue
        visitor.go(address + QUERIES.get(item.name, ""))
        if item.name == "draft_edit":
            visitor.page.get_by_text("Saved").first.wait_for()
        seen += 1
        found = visitor.page.evaluate(FOUND)
        wide = visitor.overflowing()
        if found["ran"] or found["elements"] or found["scripts"] or wide:
            wrong.append(f"{address}: {found} {wide[:3]}")
    assert seen > 30
    fail_for(wrong)
    assert visitor.problems == []


def test_the_editor_shows_hostile_texts_as_texts(visitor: Visitor, hostile):
    visitor.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    visitor.log_in("ada", PASSWORD)
    wrong = []
    for part in ("prompt/role", "skill/sizing", "tool/price", "hook/no-refunds", "runtime/runtime"):
        visitor.go("/harnesses/")
        visitor.go(f"/harnesses/{SLUG}/drafts/{hostile['draft_id']}/#{part}")
        visitor.page.get_by_text("Saved").first.wait_for()
        visitor.page.wait_for_timeout(600)
        found = visitor.page.evaluate(FOUND)
        if found["ran"] or found["elements"] or found["scripts"]:
            wrong.append(f"{part}: {found}")
    fail_for(wrong)
    assert visitor.problems == []
