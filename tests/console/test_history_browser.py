"""Understanding a change in a real browser: versions, comparison, revert, fork and merge, at a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from harnesses.core.editing import apply_edits
from harnesses.models import Harness, HarnessVersion
from harnesses.selectors import version_spec
from harnesses.services import draft_open, draft_save, harness_commit, harness_fork
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, Visitor, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HARNESS = f"/harnesses/{sample.SLUG}"
LONG_BODY = "\n".join(f"Rule {number}: say what is true, and nothing else." for number in range(1, 41))


def commit(harness: Harness, user, message: str, *edits: dict) -> None:
    newest = HarnessVersion.objects.get(harness=harness, number=harness.version_count)
    spec = apply_edits(version_spec(newest), list(edits)).spec
    harness_commit(harness=harness, spec=spec, message=message, acting_user=user)


def body(section: str, words: str) -> dict:
    return {"op": "set", "kind": "prompt", "id": section, "fields": {"body": words}}


@pytest.fixture
def history(harness, operator) -> Harness:
    """Four versions, a draft, and a fork of version 3 that changed what version 4 changed too."""
    commit(harness, operator, "Spell the rules out", body("rules", LONG_BODY))
    third = HarnessVersion.objects.select_related("harness").get(harness=harness, number=3)
    fork = harness_fork(version=third, slug="night-host", title="Night host", acting_user=operator)
    commit(fork, operator, "Calmer at night", body("role", "Speak quietly."), body("now", f"Tonight: {sample.ON_SHOW}"))
    commit(
        harness,
        operator,
        "Rule 20 for coupons, quicker answers",
        body("rules", LONG_BODY.replace("Rule 20: say", "Rule 20: of coupons too, say")),
        body("role", "Speak up."),
        {"op": "set", "kind": "runtime", "fields": {"deadline_ms": 4_000}},
        {"op": "move", "kind": "tool", "id": "card", "after": None},
    )
    draft = draft_open(harness=harness, acting_user=operator, name="Warmer tone")
    draft_save(draft=draft, revision=1, edits=[body("role", "Speak up, warmly.")], acting_user=operator)
    return harness


def test_a_change_is_understood_and_taken_back(browser: Browser, console_url: str, history, operator):
    visitor = open_visitor(browser, console_url, viewport=DESKTOP)
    page = visitor.page
    visitor.log_in(operator.username, PASSWORD)
    visitor.go(f"{HARNESS}/versions/")
    page.locator("#v3").get_by_label("before").check()
    page.get_by_role("button", name="Compare the two chosen").click()
    rules = page.locator("#c-prompt-rules")
    expect(rules.locator("ins").first).to_contain_text("of coupons too")
    expect(rules.get_by_text("Rule 2:").first).to_be_hidden()
    rules.get_by_role("button", name="Show 16 equal lines").click()
    expect(rules.get_by_text("Rule 2:").first).to_be_visible()
    page.get_by_role("link", name="One column").click()
    expect(page.locator("#c-prompt-role .diff--unified .is-del")).to_contain_text("You help")
    page.get_by_label("After").select_option(label="Draft: Warmer tone")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#c-prompt-role .diff--unified .is-add")).to_contain_text("warmly")
    assert visitor.axe_violations() == []

    visitor.go(f"{HARNESS}/versions/")
    page.locator("#v3").get_by_role("link", name="Revert to it").click()
    page.get_by_label("Why").fill("Viewers left")
    page.get_by_role("button", name="Revert to version 3").click()
    expect(page.locator("#v5")).to_contain_text("Viewers left")
    page.locator("#v5").get_by_role("link", name="v5", exact=True).click()
    expect(page.locator("#section-rules .blame")).to_contain_text("Last changed in v5")
    visitor.context.close()
    assert visitor.problems == []


def test_a_fork_comes_back_with_its_conflict_decided_on_a_phone_in_the_dark(
    browser: Browser, console_url: str, history, operator
):
    visitor: Visitor = open_visitor(browser, console_url, viewport=PHONE, scheme="dark")
    page = visitor.page
    visitor.log_in(operator.username, PASSWORD)
    for address in (
        f"{HARNESS}/versions/",
        f"{HARNESS}/compare/?old=2&new=4",
        f"{HARNESS}/compare/?old=2&new=4&layout=unified",
        f"{HARNESS}/versions/2/fork/",
        f"{HARNESS}/versions/2/revert/",
        f"{HARNESS}/versions/4/",
    ):
        visitor.go(address)
        assert visitor.overflowing() == [], address
        assert visitor.axe_violations() == [], address
    visitor.go(f"{HARNESS}/versions/")
    page.get_by_role("link", name="Merge its changes").click()
    expect(page.get_by_role("heading", name="Changed on both sides")).to_be_visible()
    assert visitor.overflowing() == []
    assert visitor.axe_violations() == []
    page.get_by_label("night-host").check()
    page.get_by_role("button", name="Open as a draft").click()
    page.wait_for_url("**/drafts/*/")
    expect(page.get_by_text("Merge of night-host, version 2").first).to_be_visible()
    visitor.context.close()
    assert visitor.problems == []
