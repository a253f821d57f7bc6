"""The whole road of a change, walked by three people in a real browser: edit, understand, commit, review, release, roll back.

With `WALK_SCREENSHOTS=DIR` each stop is also photographed, for the operator guide.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from harnesses.models import Harness
from harnesses.services import harness_commit, harness_create, label_move, review_decide, review_request
from ledger.core.roles import Role
from ledger.core.tokens import Scope
from ledger.services import token_create
from livestream.demo import demo_harness
from tests.conftest import PASSWORD
from tests.console.browser import DESKTOP, PHONE, Visitor, live_server, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SLUG = "demo-shop"
SHOTS = os.environ.get("WALK_SCREENSHOTS", "")


@pytest.fixture
def released(transactional_db: None, operator: Any, reviewer: Any, make_user: Any) -> Harness:
    """The demo harness, version 1 in production: approved by two people."""
    second = make_user(Role.REVIEWER, username="rosa", full_name="Rosa Review")
    harness = harness_create(slug=SLUG, title="Demo shop host", world="demo-shop", acting_user=operator)
    version = harness_commit(harness=harness, spec=demo_harness(), message="First", acting_user=operator).version
    review = review_request(version=version, message="", reviewers=[], acting_user=operator)
    for person in (reviewer, second):
        review_decide(review=review, verdict="approve", reason="", number=1, acting_user=person)
    label_move(
        harness=harness,
        name="production",
        version=version,
        reason="Opening",
        confirm="production",
        acting_user=reviewer,
    )
    return harness


def seen(page: Page, name: str) -> None:
    """Photograph a stop of the walk, where asked for."""
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def resolved(url: str, secret: str, etag: str = "") -> httpx.Response:
    """What the stream platform gets for `production`."""
    headers = {"Authorization": f"Bearer {secret}", **({"If-None-Match": etag} if etag else {})}
    return httpx.get(f"{url}/api/v1/harnesses/{SLUG}/resolve?label=production", headers=headers, trust_env=False)


def saved(page: Page) -> None:
    expect(page.locator(".editor .status")).to_have_text(re.compile(r"^Saved \d\d:\d\d"))


def part(page: Page, kind: str, component_id: str) -> Any:
    return page.locator(f'.outline__item[data-kind="{kind}"][data-id="{component_id}"]')


def test_a_change_is_edited_understood_reviewed_released_and_taken_back(
    browser: Browser, released: Harness, operator: Any, reviewer: Any, ml_engineer: Any, platform_engineer: Any
):
    secret = token_create(
        owner=platform_engineer, name="stream", scopes=[Scope.HARNESSES_READ], acting_user=platform_engineer
    ).secret
    with live_server() as url:
        before = resolved(url, secret)
        assert (before.status_code, before.json()["number"]) == (200, 1)
        olga, rui, mei = (open_visitor(browser, url, viewport=DESKTOP) for _ in range(3))
        for visitor, person in ((olga, operator), (rui, reviewer), (mei, ml_engineer)):
            visitor.log_in(person.username, PASSWORD)

        page = olga.page
        edit_by_form(olga)
        two_editors(olga, mei)
        commit_and_ask(olga)
        review_with_a_comment(rui)
        release(rui)
        now = resolved(url, secret, before.headers["ETag"])
        assert (now.status_code, now.json()["number"]) == (200, 2)
        names = {tool["id"]: tool["name"] for tool in now.json()["spec"]["tools"]}
        assert names["card"] == "push_card"
        assert resolved(url, secret, now.headers["ETag"]).status_code == 304

        roll_back(rui)
        after = resolved(url, secret, now.headers["ETag"])
        assert (after.status_code, after.json()["number"]) == (200, 1)
        assert after.headers["ETag"] == before.headers["ETag"]
        page.goto(f"{url}/harnesses/{SLUG}/changelog/")
        for action in ("harness.committed", "review.approved", "label.moved"):
            expect(page.get_by_text(action).first).to_be_visible()
        for visitor in (olga, rui, mei):
            assert [problem for problem in visitor.problems if "409" not in problem] == []
            visitor.context.close()


def edit_by_form(olga: Visitor) -> None:
    """A tool and a section, by form; a stale mention is found while typing and mended by its button."""
    page = olga.page
    olga.go(f"/harnesses/{SLUG}/")
    page.get_by_role("button", name="Edit", exact=True).first.click()
    page.wait_for_url(re.compile(r"/drafts/\d+/"))
    saved(page)
    part(page, "prompt", "rules").click()
    text = page.get_by_label("Text", exact=True)
    text.fill(text.input_value() + "\n- Call show_card for the item you speak of.\n")
    saved(page)
    part(page, "tool", "card").click()
    form = page.locator(".tool-form")
    form.get_by_label("Description", exact=True).first.fill("Puts the card of an item on every viewer's screen.")
    name = form.get_by_label("Name", exact=True).first
    name.fill("push_card")
    name.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("prompt section Rules")
    seen(page, "rename")
    dialog.get_by_role("button", name="None", exact=True).click()
    dialog.get_by_role("button", name=re.compile("^Rename")).click()
    findings = page.get_by_role("tabpanel", name="Findings")
    expect(findings.get_by_text("show_card").first).to_be_visible()
    seen(page, "findings")
    findings.get_by_role("button", name=re.compile("Update")).first.click()
    part(page, "prompt", "rules").click()
    expect(text).to_have_value(re.compile("Call push_card for"))
    saved(page)
    page.get_by_role("tab", name=re.compile("Changes")).click()
    expect(page.get_by_text("Tool renamed: show_card → push_card").first).to_be_visible()
    seen(page, "editor")


def two_editors(olga: Visitor, mei: Visitor) -> None:
    """Two people change the same text; the later one sees both, and writes it anew."""
    address = olga.page.url.partition("#")[0]
    mei.page.goto(address)
    saved(mei.page)
    part(mei.page, "prompt", "role").click()
    part(olga.page, "prompt", "role").click()
    olga.page.get_by_label("Text", exact=True).fill("You answer viewers of the live shop {{ shop.name }}. Be brief.")
    saved(olga.page)
    mei.page.get_by_label("Text", exact=True).fill("You answer viewers of {{ shop.name }}. Be warm.")
    expect(mei.page.locator(".editor .status")).to_contain_text(
        re.compile("Olga Operator.* changed this draft meanwhile")
    )
    mei.page.get_by_role("button", name="Look at both").click()
    dialog = mei.page.get_by_role("dialog")
    expect(dialog.locator(".conflict__side pre")).to_have_count(3)
    seen(mei.page, "conflict")
    assert mei.axe_violations() == []
    dialog.get_by_label("Write it anew").check()
    dialog.get_by_label(re.compile("^Your own text")).fill(
        "You answer viewers of the live shop {{ shop.name }}. Be brief and warm."
    )
    dialog.get_by_role("button", name="Go on with this").click()
    saved(mei.page)
    mei.go(f"/harnesses/{SLUG}/")
    olga.page.reload()
    saved(olga.page)
    part(olga.page, "prompt", "role").click()
    expect(olga.page.get_by_label("Text", exact=True)).to_have_value(re.compile("Be brief and warm"))


def commit_and_ask(olga: Visitor) -> None:
    """Compare with the released version, commit, and ask for a review."""
    page = olga.page
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Compare", exact=True).click()
    expect(opened.value.get_by_text("Tool renamed: show_card → push_card").first).to_be_visible()
    seen(opened.value, "compare")
    opened.value.close()
    page.get_by_role("button", name="Commit", exact=True).click()
    dialog = page.get_by_role("dialog", name="Commit a version")
    dialog.get_by_label("What changes, and why").fill("Name the card tool by what it does; brief and warm")
    seen(page, "commit")
    dialog.get_by_role("button", name="Commit and request review").click()
    page.wait_for_url(re.compile("/reviews/new/"))
    page.get_by_label("What to look at").fill("Does the host still sound like us?")
    seen(page, "request")
    page.get_by_role("button", name="Request review").click()
    expect(page.get_by_text("Somebody else must decide.")).to_be_visible()


def review_with_a_comment(rui: Visitor) -> None:
    """A comment on a line; one approval is not enough where a rule changed."""
    page = rui.page
    rui.go("/reviews/")
    page.get_by_role("link", name="Demo shop host, version 2").click()
    page.get_by_role("article", name="Prompt section Rules").get_by_role("link", name="Comment on line").last.click()
    form = page.get_by_role("form", name=re.compile("^New comment on Prompt section Rules"))
    form.get_by_label("Comment").fill("Good: the card is always shown.")
    form.get_by_role("button", name="Comment").click()
    expect(page.get_by_role("article", name="Thread")).to_contain_text("is always shown")
    seen(page, "review")
    page.get_by_role("button", name="Approve").click()


def release(rui: Visitor) -> None:
    """The second person approves; then production moves, its name typed."""
    page = rui.page
    second = open_visitor(page.context.browser, rui.base_url, viewport=PHONE)  # type: ignore[arg-type]
    second.log_in("rosa", PASSWORD)
    second.go("/reviews/?tab=open")
    second.page.get_by_role("link", name="Demo shop host, version 2").click()
    second.page.get_by_role("button", name="Approve").click()
    expect(second.page.get_by_text("Version 2 is approved.")).to_be_visible()
    assert [*second.axe_violations(), *second.overflowing(), *second.problems] == []
    second.context.close()
    rui.go(f"/harnesses/{SLUG}/versions/2/")
    page.get_by_role("link", name="Release…").click()
    expect(page.get_by_text("Tool renamed: show_card → push_card").first).to_be_visible()
    page.get_by_label("Why").fill("Clearer for the model")
    page.get_by_label("Type production to confirm").fill("production")
    seen(page, "release")
    page.get_by_role("button", name="Move production now").dblclick()
    expect(page.get_by_text("“production” is now at version 2.").or_(page.get_by_text("was already"))).to_be_visible()
    seen(page, "labels")


def roll_back(rui: Visitor) -> None:
    """Two clicks, and viewers get what they had before."""
    page = rui.page
    page.get_by_role("link", name="Undo… the last move of production").click()
    seen(page, "undo")
    page.get_by_role("button", name="Move production back to version 1").click()
    expect(page.get_by_text("“production” is at version 1 again.")).to_be_visible()
