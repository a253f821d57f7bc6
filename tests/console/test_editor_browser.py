"""The editor in a real browser: editing and saving, two people at one draft, and what may come between a person and the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Locator, Page, expect

from harnesses.core.spec import HarnessSpec
from harnesses.models import HarnessDraft
from harnesses.selectors import draft_spec
from harnesses.services import draft_open, harness_archive
from ledger.core.roles import Role
from ledger.models import User
from tests.conftest import PASSWORD
from tests.console.browser import DESKTOP, PHONE, Visitor, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED = re.compile(r"^Saved \d\d:\d\d$")


@pytest.fixture
def draft(harness, operator) -> HarnessDraft:
    return draft_open(harness=harness, name="Double eleven", acting_user=operator)


@pytest.fixture
def colleague(make_user) -> User:
    return make_user(Role.OPERATOR, username="li", full_name="Li Wei")


def address(draft: HarnessDraft, place: str = "") -> str:
    return f"/harnesses/{draft.harness.slug}/drafts/{draft.pk}/{place}"


def stored(draft: HarnessDraft) -> HarnessSpec:
    """The draft as the server has it now."""
    return draft_spec(HarnessDraft.objects.get(pk=draft.pk))


def status(page: Page) -> Locator:
    return page.locator(".editor .status")


def outline(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Parts of the harness").get_by_role("button", name=name)


@contextmanager
def editing(
    browser: Browser, url: str, user: User, draft: HarnessDraft, *, expects: Callable[[str], bool] = lambda _: False
) -> Iterator[Visitor]:
    """A person who has the draft open at a desktop; fails on anything the browser reports that is not `expects`-ed."""
    person = open_visitor(browser, url, viewport=DESKTOP)
    person.log_in(user.username, PASSWORD)
    person.go(address(draft))
    expect(status(person.page)).to_have_text(SAVED)
    yield person
    person.context.close()
    assert [problem for problem in person.problems if not expects(problem)] == []


def test_a_draft_is_edited_checked_reordered_taken_back_and_committed(
    browser: Browser, console_url: str, draft: HarnessDraft, operator
):
    with editing(browser, console_url, operator, draft) as person:
        page = person.page
        text = page.get_by_label("Text", exact=True)
        before = text.input_value()

        # A word that is not there is found while it is typed; its mend is one click, and everything is saved by itself.
        text.fill("Ask {{ tool('prise') }} for every price.")
        findings = page.get_by_role("tabpanel", name="Findings")
        expect(findings.get_by_text("prise").first).to_be_visible()
        expect(outline(page, "Your role")).to_contain_text("1 error")
        expect(text).to_have_attribute("aria-invalid", "true")
        findings.get_by_role("button", name=re.compile("price")).first.click()
        expect(text).to_have_value(re.compile(r"tool\(.price.\)"))
        expect(outline(page, "Your role")).not_to_contain_text("error")
        expect(status(page)).to_have_text(SAVED)
        assert "price" in stored(draft).prompt[0].body

        # Undo goes back over all of it, from wherever one is; redo forth.
        outline(page, "fetch_price").click()
        page.keyboard.press("Control+z")
        expect(text).to_have_value(re.compile("prise"))
        page.keyboard.press("Control+z")
        expect(text).to_have_value(before)
        page.keyboard.press("Control+Shift+z")
        expect(text).to_have_value(re.compile("prise"))
        page.keyboard.press("Control+z")
        expect(status(page)).to_have_text(SAVED)
        assert stored(draft).prompt[0].body == before

        # Order by keyboard; a removed part comes back by the message's button.
        outline(page, "Your role").focus()
        page.keyboard.press("Alt+ArrowDown")
        outline(page, "No guarantees").focus()
        page.keyboard.press("Delete")
        expect(outline(page, "No guarantees")).to_have_count(0)
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(outline(page, "No guarantees")).to_be_visible()
        page.keyboard.press("Control+s")
        expect(status(page)).to_have_text(SAVED)
        assert [section.id for section in stored(draft).prompt] == ["rules", "role", "now"]
        assert [hook.id for hook in stored(draft).hooks] == ["no-refunds", "fresh-price", "no-guarantee"]

        # A new part has the focus at its first field, to be typed over.
        page.get_by_role("button", name="Add a hook").click()
        expect(page.get_by_label("Name", exact=True)).to_be_focused()
        page.keyboard.press("Control+z")
        expect(outline(page, "New hook")).to_have_count(0)

        # The address leads to a part, by hand and by the browser's back; the editor is as high as its window.
        page.evaluate("location.hash = 'prompt/now'")
        expect(page.get_by_role("heading", name="On show now")).to_be_visible()
        page.evaluate("location.hash = 'runtime/runtime'")
        expect(page.get_by_role("heading", name="Runtime settings")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="On show now")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollHeight - window.innerHeight") == 0

        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for view in (DESKTOP, PHONE):
                page.set_viewport_size(view)  # type: ignore[arg-type]
                assert (scheme, view["width"], person.axe_violations()) == (scheme, view["width"], [])
                assert person.overflowing() == []
        page.get_by_role("button", name="Parts", exact=True).click()
        outline(page, "On show now").click()
        expect(page.get_by_role("heading", name="On show now")).to_be_visible()
        page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]

        # The commit says what changed by meaning, and leads to the new version.
        page.get_by_role("button", name="Commit", exact=True).click()
        dialog = page.get_by_role("dialog", name="Commit a version")
        expect(dialog.get_by_text("prompt sections reordered", exact=False).first).to_be_visible()
        dialog.get_by_role("button", name="Commit", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("Say in a sentence")
        dialog.get_by_label("What changes, and why").fill("Rules first")
        dialog.get_by_role("button", name="Commit", exact=True).click()
        page.wait_for_url(re.compile(r"/versions/3/$"))
        draft.refresh_from_db()
        assert draft.state == HarnessDraft.State.COMMITTED


def test_two_people_at_one_draft_lose_nothing(
    browser: Browser, console_url: str, draft: HarnessDraft, operator, colleague
):
    def is_conflict(problem: str) -> bool:
        return "409" in problem

    with (
        editing(browser, console_url, operator, draft, expects=is_conflict) as olga,
        editing(browser, console_url, colleague, draft) as li,
    ):
        # Different fields: both are joined without a word.
        li.page.get_by_label("Title", exact=True).fill("Who you are")
        expect(status(li.page)).to_have_text(SAVED)
        olga.page.get_by_label("Text", exact=True).fill("You are the host's helper. Olga wrote this.")
        expect(olga.page.get_by_text("changed this draft too; both are joined")).to_be_visible()
        expect(olga.page.get_by_label("Title", exact=True)).to_have_value("Who you are")
        expect(status(olga.page)).to_have_text(SAVED)
        assert (stored(draft).prompt[0].title, stored(draft).prompt[0].body[-16:]) == (
            "Who you are",
            "Olga wrote this.",
        )

        # An editor without unsaved work takes on what the other saved, when it comes back into view.
        li.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(li.page.get_by_label("Text", exact=True)).to_have_value(re.compile("Olga wrote this"))
        expect(li.page.get_by_text("Olga Operator is editing this harness")).to_be_visible()

        # The same field: each sees both, and chooses.
        olga.page.get_by_label("Text", exact=True).fill("You are the host's assistant. Olga wrote this.")
        expect(status(olga.page)).to_have_text(SAVED)
        li.page.get_by_label("Text", exact=True).fill("You are the host's voice. Olga wrote this.")
        expect(status(li.page)).to_contain_text("Olga Operator changed this draft meanwhile")
        assert "assistant" in stored(draft).prompt[0].body
        li.page.get_by_role("button", name="Look at both").click()
        dialog = li.page.get_by_role("dialog")
        expect(dialog.locator(".conflict__side pre")).to_have_count(3)
        columns = [side.inner_text() for side in dialog.locator(".conflict__side pre").all()]
        assert [re.search(r"host's (\w+)", column)[1] for column in columns] == ["helper", "voice", "assistant"]  # type: ignore[index]
        assert li.axe_violations() == []
        expect(dialog.get_by_role("button", name="Go on with this")).to_be_disabled()
        dialog.get_by_label("Write it anew").check()
        dialog.get_by_label(re.compile("^Your own text")).fill("You are the host's voice and assistant.")
        dialog.get_by_role("button", name="Go on with this").click()
        expect(status(li.page)).to_have_text(SAVED)
        assert stored(draft).prompt[0].body == "You are the host's voice and assistant."
        # What was decided is a step: undo brings one's own text back.
        li.page.keyboard.press("Control+z")
        expect(li.page.get_by_label("Text", exact=True)).to_have_value("You are the host's voice. Olga wrote this.")
        li.page.keyboard.press("Control+Shift+z")
        expect(status(li.page)).to_have_text(SAVED)

        # Away and back: no old text out of the browser's memory.
        li.go(f"/harnesses/{draft.harness.slug}/")
        olga.page.reload()
        expect(status(olga.page)).to_have_text(SAVED)
        olga.page.get_by_label("Title", exact=True).fill("Your part")
        expect(status(olga.page)).to_have_text(SAVED)
        li.page.go_back()
        expect(li.page.get_by_label("Title", exact=True)).to_have_value("Your part")
        expect(li.page.get_by_label("Text", exact=True)).to_have_value("You are the host's voice and assistant.")
        li.problems[:] = [problem for problem in li.problems if "409" not in problem]


def test_no_word_is_lost_to_a_network_a_session_or_a_crash(
    browser: Browser, console_url: str, draft: HarnessDraft, operator
):
    def is_expected(problem: str) -> bool:
        return any(word in problem for word in ("ERR_INTERNET_DISCONNECTED", "40"))

    with editing(browser, console_url, operator, draft, expects=is_expected) as person:
        page = person.page
        text = page.get_by_label("Text", exact=True)

        expect(text).to_be_visible()

        # No network: the text is kept, and saved when it is back.
        person.context.set_offline(True)
        text.fill("Typed in a tunnel.")
        expect(status(page)).to_have_text("Not saved: no connection; your text is safe here")
        person.context.set_offline(False)
        page.get_by_role("button", name="Try now").or_(page.get_by_text(SAVED)).first.click()
        expect(status(page)).to_have_text(SAVED)
        assert stored(draft).prompt[0].body == "Typed in a tunnel."

        # The session ends: typing goes on, and after logging in in another tab it is saved.
        Session.objects.all().delete()
        text.fill("Typed after the session was over.")
        expect(status(page)).to_contain_text("you are signed out; your text is safe here")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Log in").click()
        tab = opened.value
        tab.get_by_label("User name").fill(operator.username)
        tab.get_by_label("Password").fill(PASSWORD)
        tab.get_by_role("button", name="Log in").click()
        tab.wait_for_url(re.compile(r"/drafts/$"))
        tab.close()
        page.bring_to_front()
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(status(page)).to_have_text(SAVED)
        assert stored(draft).prompt[0].body == "Typed after the session was over."

        # A crash with unsaved work: the next page offers it.
        person.context.set_offline(True)
        text.fill("Typed before the crash.")
        expect(status(page)).to_contain_text("Not saved")
        page.close(run_before_unload=False)
        person.context.set_offline(False)
        page = person.page = person.context.new_page()
        person.go(address(draft))
        expect(page.get_by_label("Text", exact=True)).to_have_value("Typed after the session was over.")
        offer = page.get_by_role("alert").filter(has_text="Unsaved changes from")
        expect(offer).to_contain_text("Your role")
        offer.get_by_role("button", name="Restore them").click()
        expect(page.get_by_label("Text", exact=True)).to_have_value("Typed before the crash.")
        expect(status(page)).to_have_text(SAVED)
        assert stored(draft).prompt[0].body == "Typed before the crash."
        page.reload()
        expect(status(page)).to_have_text(SAVED)
        expect(page.get_by_role("alert").filter(has_text="Unsaved changes from")).to_have_count(0)

        # The harness is archived meanwhile: nothing more can be saved; the page says why and keeps the text to be copied.
        harness_archive(harness=draft.harness, reason="Season over", acting_user=None)
        page.get_by_label("Text", exact=True).fill("Typed too late.")
        expect(page.locator("[data-notice]")).to_contain_text(re.compile("Read only.*archived"))
        expect(page.get_by_label("Text", exact=True)).to_have_value("Typed too late.")
        expect(page.get_by_label("Text", exact=True)).not_to_be_editable()
        assert stored(draft).prompt[0].body == "Typed before the crash."
