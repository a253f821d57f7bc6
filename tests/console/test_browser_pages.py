"""The console in a real browser: the way of a harness change, and what must hold on every page."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from harnesses.selectors import version_export, version_get
from inference.engine.null_engine import NullEngine
from inference.services import deployment_probe
from ledger.services import token_create
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, Visitor, open_visitor
from tests.console.furnished import PRICE_QUESTION, furnish

PRICE_ANSWER = "The vacuum lunch box is 129 yuan."

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def visitor(browser: Browser, console_url: str) -> Iterator[Visitor]:
    """A stranger at a desktop; the test fails if the browser reported anything."""
    person = open_visitor(browser, console_url, viewport=DESKTOP)
    yield person
    person.context.close()
    assert person.problems == []


class PriceEngine(NullEngine):
    """Looks the price up by whatever name the prompt gives the tool, and then tells it."""

    def _reply_to(self, messages: list[Any]) -> str:
        if "RESULT" in messages[-1]["content"]:
            return PRICE_ANSWER
        name = re.search(r"tool: (\w*price\w*)", messages[0]["content"])
        return f"CALL {name[1]}; item: K7" if name else self.default_reply


@pytest.fixture
def engine() -> Iterator[NullEngine]:
    with PriceEngine() as running:
        yield running


def renamed_price_tool(folder: Path, old: str, new: str) -> Path:
    """The newest version exported as a zip, its price tool renamed by hand."""
    _, exported = version_export(version_get(sample.SLUG))
    path = folder / "renamed.zip"
    with zipfile.ZipFile(io.BytesIO(exported)) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(f"{old}.json"):
                content = json.dumps({**json.loads(content), "name": new}).encode()
            target.writestr(name, content)
    return path


def test_a_rename_is_imported_understood_and_tried(visitor: Visitor, harness, engine, deployment, operator, tmp_path):
    visitor.log_in(operator.username, PASSWORD)
    page = visitor.page
    page.get_by_role("link", name=sample.TITLE).click()
    expect(page.get_by_role("heading", name="fetch_price")).to_be_visible()

    visitor.import_file(sample.SLUG, renamed_price_tool(tmp_path, "fetch_price", "look_up_price"), "Clearer tool name")
    expect(page.get_by_text("Tool renamed: fetch_price → look_up_price (T1, preserving)")).to_be_visible()
    visitor.commit_import()
    expect(page.get_by_role("heading", name="look_up_price")).to_be_visible()

    visitor.go(f"/harnesses/{sample.SLUG}/compare/?old=2&new=3")
    expect(page.get_by_text("Tool renamed: fetch_price → look_up_price (T1, preserving)")).to_be_visible()
    expect(page.locator(".diff ins").first).to_have_text("look_up_price")

    visitor.start_session(f"{sample.SLUG}@2", f"{sample.SLUG}@3")
    visitor.say(PRICE_QUESTION, lanes=2)
    called = page.locator(".step--call .step__title").all_inner_texts()
    assert called == ["fetch_price", "look_up_price"]
    assert visitor.reached_operations() == ["get_price", "get_price"]
    expect(page.locator(".say--reply").get_by_text(PRICE_ANSWER)).to_have_count(2)


def test_a_turn_has_a_page_of_its_own_with_the_whole_trace(visitor: Visitor, harness, engine, deployment, operator):
    visitor.log_in(operator.username, PASSWORD)
    visitor.start_session(f"{sample.SLUG}@1")
    visitor.say(PRICE_QUESTION)
    page = visitor.page
    page.get_by_role("link", name="Turn 1", exact=True).click()
    expect(page.get_by_role("heading", name="Turn 1")).to_be_visible()
    expect(page.get_by_text("Say that prices may change", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="System message 1")).to_contain_text("tool: get_price")


def test_the_playground_works_without_scripts(
    browser: Browser, console_url: str, harness, engine, deployment, operator
):
    person = open_visitor(browser, console_url, viewport=DESKTOP, has_scripts=False)
    person.log_in(operator.username, PASSWORD)
    person.start_session(f"{sample.SLUG}@1", f"{sample.SLUG}@2")
    person.say(PRICE_QUESTION, lanes=2)
    assert person.reached_operations() == ["get_price", "get_price"]
    person.context.close()


def test_a_comment_that_cannot_be_sent_stays_in_the_field(visitor: Visitor, harness, engine, deployment, operator):
    visitor.log_in(operator.username, PASSWORD)
    visitor.start_session(f"{sample.SLUG}@1")
    page = visitor.page
    comment = page.get_by_label("Say something as a viewer")
    comment.fill("x" * 2001)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("The text has 2,001 characters")).to_be_visible()
    expect(comment).to_have_value("x" * 2001)


def test_an_engine_that_is_down_is_told_and_its_return_is_seen(visitor: Visitor, harness, engine, deployment, operator):
    engine.fail("unhealthy")
    deployment_probe(deployment=deployment)
    visitor.log_in(operator.username, PASSWORD)
    visitor.start_session(f"{sample.SLUG}@1")
    expect(visitor.page.get_by_text("The model engine is not well.")).to_be_visible()
    engine.heal()
    deployment_probe(deployment=deployment)
    expect(visitor.page.get_by_text("The model engine is up.")).to_be_visible()


def test_revoking_a_token_asks_first(visitor: Visitor, operator):
    token_create(owner=operator, name="staging", scopes=["sessions:write"], acting_user=operator)
    visitor.log_in(operator.username, PASSWORD)
    visitor.go("/account/tokens/")
    page = visitor.page
    page.get_by_role("button", name="Revoke staging").click()
    expect(page.get_by_role("dialog")).to_contain_text("stops working at once")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Revoke staging")).to_be_visible()
    page.get_by_role("button", name="Revoke staging").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Revoked", exact=True)).to_be_visible()


def test_every_page_is_accessible_and_fits_a_phone(
    browser: Browser, console_url: str, harness, engine, deployment, operator
):
    addresses = furnish(harness, engine, operator).addresses
    bad: dict[str, list[str]] = {}
    checks: list[tuple[dict[str, int], str, Callable[[Visitor], list[str]]]] = [
        (DESKTOP, "light", Visitor.axe_violations),
        (DESKTOP, "dark", lambda person: person.axe_violations("color-contrast")),
        (PHONE, "light", Visitor.overflowing),
    ]
    for viewport, scheme, check in checks:
        person = open_visitor(browser, console_url, viewport=viewport, scheme=scheme)
        person.go("/login/")
        bad[f"login {viewport['width']} {scheme}"] = check(person)
        person.log_in(operator.username, PASSWORD)
        for name, address in addresses.items():
            person.go(address)
            person.settle()
            bad[f"{name} {viewport['width']} {scheme}"] = check(person)
        expected = [problem for problem in person.problems if "404" not in problem]
        assert expected == []
        person.context.close()
    assert {page: found for page, found in bad.items() if found} == {}


def test_the_theme_is_chosen_and_remembered(visitor: Visitor, operator):
    visitor.log_in(operator.username, PASSWORD)
    visitor.page.locator("summary", has_text=operator.username).click()
    visitor.page.get_by_role("button", name="Dark").click()
    expect(visitor.page.locator("html")).to_have_attribute("data-theme", "dark")
    visitor.go("/audit/")
    expect(visitor.page.locator("html")).to_have_attribute("data-theme", "dark")


def test_keys_go_from_change_to_change(visitor: Visitor, harness, operator):
    visitor.log_in(operator.username, PASSWORD)
    visitor.go(f"/harnesses/{sample.SLUG}/compare/?old=1&new=2")
    visitor.page.keyboard.press("Alt+ArrowDown")
    expect(visitor.page.locator("[data-change]").first).to_be_focused()
    visitor.page.keyboard.press("Alt+ArrowDown")
    expect(visitor.page.locator("[data-change]").nth(1)).to_be_focused()
    visitor.page.keyboard.press("Alt+ArrowUp")
    expect(visitor.page.locator("[data-change]").first).to_be_focused()


def test_the_menu_opens_on_a_phone(browser: Browser, console_url: str, operator):
    person = open_visitor(browser, console_url, viewport=PHONE)
    person.log_in(operator.username, PASSWORD)
    audit = person.page.get_by_role("navigation", name="Main").get_by_role("link", name="Audit")
    expect(audit).to_be_hidden()
    person.page.get_by_role("button", name="Menu").click()
    audit.click()
    expect(person.page.get_by_role("heading", name="Audit")).to_be_visible()
    person.context.close()
