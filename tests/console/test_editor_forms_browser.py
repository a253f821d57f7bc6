"""The forms of the editor and its source view in a real browser: what is shown is what is written, and nothing typed is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from harnesses.core.spec import Example, ExampleCall, HarnessSpec
from harnesses.models import HarnessDraft
from harnesses.selectors import draft_spec
from harnesses.services import draft_open
from ledger.models import User
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, Visitor, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED = re.compile(r"^Saved \d\d:\d\d$")
PASTE = """(line, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  line.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
}"""
STOCK = {"in_stock": True, "item": "K7", "name": "Lunch box", "variants": []}


@pytest.fixture
def draft(harness, operator) -> HarnessDraft:
    """A draft of the sample harness with a worked example."""
    example = Example(
        id="any-left",
        comment="any left?",
        calls=(ExampleCall(operation="get_stock", arguments={"item": "K7"}, result=STOCK),),
        reply="Yes.",
    )
    spec = sample.sample_spec().model_copy(update={"examples": (example,)})
    return draft_open(harness=harness, name="Forms", document=spec.document(), acting_user=operator)


@contextmanager
def editing(browser: Browser, url: str, user: User, draft: HarnessDraft, *, blocked: str = "") -> Iterator[Visitor]:
    """A person with the draft open, who must not hear of any script error. `blocked`: a file that does not load."""
    person = open_visitor(browser, url, viewport=DESKTOP)
    if blocked:
        person.context.route(blocked, lambda route: route.abort())
    person.log_in(user.username, PASSWORD)
    person.go(f"/harnesses/{draft.harness.slug}/drafts/{draft.pk}/")
    expect(person.page.locator(".editor .status")).to_have_text(SAVED)
    yield person
    person.context.close()
    expected = ["net::ERR_FAILED"] if blocked else []
    assert [problem for problem in person.problems if not any(text in problem for text in expected)] == []


def choose(page: Page, name: str) -> Locator:
    """Open a component by its name in the outline; gives the place of its form."""
    page.get_by_role("region", name="Parts of the harness").get_by_role("button", name=name).click()
    return page.get_by_role("region", name="What you edit")


def saved(page: Page, draft: HarnessDraft) -> HarnessSpec:
    """The draft on the server, once everything typed is there."""
    expect(page.locator(".editor .status")).to_have_text(SAVED)
    return draft_spec(HarnessDraft.objects.get(pk=draft.pk))


def looks_right(person: Visitor) -> None:
    """No serious accessibility violation, and nothing too wide on a phone."""
    assert person.axe_violations() == []
    person.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert person.overflowing() == []
    person.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


def test_sections_skills_examples_and_settings_are_edited_by_form(browser, console_url, draft, operator):
    with editing(browser, console_url, operator, draft) as person:
        page = person.page

        # A word from the list goes in at the caret, and the section becomes a rule.
        form = choose(page, "Your role")
        text = form.get_by_label("Text", exact=True)
        text.focus()
        page.keyboard.press("Control+Home")
        form.get_by_label("Find a variable or function").fill("topic")
        form.get_by_role("button", name="room.topic").click()
        page.keyboard.type(": ")
        expect(text).to_be_focused()
        expect(text).to_have_value(re.compile(r"^\{\{ room\.topic \}\}: You help"))
        form.get_by_label("A rule (policy)").check()
        section = saved(page, draft).prompt[0]
        assert section.body.startswith("{{ room.topic }}: You help")
        assert section.is_policy
        looks_right(person)

        # A Skill: its Markdown is shown as the model gets it, with today's names; tools by name; notes only once they are named.
        form = choose(page, "size-advice")
        form.get_by_label("Text (Markdown)").fill('Call **{{ tool("price") }}**.\n\n<script>x</script>')
        preview = form.get_by_role("region", name="Preview of the text")
        expect(preview.locator("strong")).to_have_text("get_price")
        expect(preview).to_contain_text("<script>x</script>")
        expect(form.get_by_text(re.compile(r"^\d+ tokens$"))).to_be_visible()
        form.get_by_label("get_price").check()
        form.get_by_label("item_details").uncheck()
        form.get_by_role("button", name="Add a note").click()
        form.get_by_label("Value of note 1").fill("Mina")
        expect(form.get_by_text("Give it a name")).to_be_visible()
        form.get_by_label("Name of note 1").fill("author")
        form.get_by_label("Name of note 1").press("Tab")
        skill = saved(page, draft).skills[0]
        assert (skill.allowed_tools, skill.metadata) == (("price",), {"author": "Mina"})
        looks_right(person)

        # An example by the operation's schema: left out is not empty, and JSON that is none yet stays as typed.
        form = choose(page, "any left?")
        asks = form.get_by_role("group", name="Asks with, call 1")
        asks.get_by_label("item").fill("K11")
        gets = form.get_by_role("group", name="Gets back, call 1")
        gets.get_by_label("in_stock").select_option(label="no (false)")
        gets.get_by_label("variants").fill("[1")
        expect(gets.get_by_text("Kept as typed")).to_be_visible()
        choose(page, "Your role")
        form = choose(page, "any left?")
        expect(gets.get_by_label("variants")).to_have_value("[1")
        gets.get_by_role("button", name="Discard what is typed").click()
        expect(gets.get_by_label("variants")).to_have_value("[]")
        call = saved(page, draft).examples[0].calls[0]
        assert (call.arguments, call.result) == ({"item": "K11"}, {**STOCK, "in_stock": False})
        looks_right(person)

        # Settings: a number out of bounds is told and not stored; the default is one click away.
        form = choose(page, "Runtime settings")
        form.get_by_label("Time for a turn").fill("90")
        expect(form.get_by_text("Between 100 and 600,000. It is still 8000.")).to_be_visible()
        form.get_by_label("Tool rounds in a turn").fill("7")
        expect(form.get_by_label("Time for a turn")).to_have_value("90")
        form.get_by_label("Time for a turn").fill("9000")
        form.get_by_label("Tool rounds in a turn").locator(
            "xpath=ancestor::div[contains(@class,'setting')][1]"
        ).get_by_role("button", name="Back to the default").click()
        runtime = saved(page, draft).runtime
        assert (runtime.deadline_ms, runtime.max_tool_rounds) == (9000, 4)
        looks_right(person)


def test_a_hook_is_a_sentence_of_what_fits_together(browser, console_url, draft, operator):
    with editing(browser, console_url, operator, draft) as person:
        page = person.page
        form = choose(page, "Say that prices may change")
        rule = form.get_by_role("region", name="The rule")
        expect(rule).to_contain_text("When get_price has given its result, then add “Prices hold")

        # Conditions: fields of the results of the tools behind it, tests that suit the field, by keyboard.
        rule.get_by_role("button", name="Add a condition").click()
        subject = rule.get_by_label("Subject of condition 1")
        expect(subject).to_be_focused()
        expect(subject.get_by_role("option")).to_have_text(
            ["the comment", "the argument", "the result's", "the room's"]
        )
        subject.select_option(label="the result's")
        rule.get_by_label("Field of condition 1").select_option(label="total_minor")
        test = rule.get_by_label("Test of condition 1")
        expect(test.get_by_role("option", name="contains any of")).to_have_count(0)
        test.select_option(label="is above")
        expect(rule.get_by_text("above takes exactly one number")).to_be_visible()
        rule.get_by_label("Values of condition 1").fill("5000")
        expect(rule.get_by_text("above takes exactly one number")).to_have_count(0)
        expect(rule).to_contain_text("and the result's total_minor is above 5000, then")

        # Another event: what it cannot do is not offered, the words go along, and going back finds everything as it was.
        event = rule.get_by_label("Event")
        event.select_option(label="the reply is ready")
        action = rule.get_by_label("Action")
        expect(action.get_by_role("option")).to_have_text(["add a text", "check the reply's words"])
        expect(rule.get_by_label("Where it stands").get_by_role("option")).to_have_count(3)
        expect(rule.get_by_text("At Stop there is no result to look at")).to_be_visible()
        event.select_option(label="a tool has given its result")
        expect(rule).to_contain_text("When get_price has given its result")
        looks_right(person)

        # Phrases as tokens: typed, pasted as a list, taken back; the last one that goes leaves a finding, not a broken draft.
        form = choose(page, "No guarantees")
        rule = form.get_by_role("region", name="The rule")
        line = rule.locator(".tokens__input")
        line.fill("promise")
        line.press("Enter")
        line.evaluate(PASTE, "for sure\nabsolutely\npromise")
        expect(rule.locator(".token__text")).to_have_text(["guarantee", "promise", "for sure", "absolutely"])
        line.press("Backspace")
        expect(line).to_have_value("absolutely")
        line.fill("")
        rule.get_by_label("Otherwise").select_option(label="send this reply instead")
        rule.get_by_label("Reply to send instead").fill("I will ask {{ host.name }}.")
        hooks = {hook.id: hook.model_dump(mode="json") for hook in saved(page, draft).hooks}
        assert hooks["no-guarantee"]["action"]["phrases"] == ["guarantee", "promise", "for sure"]
        assert hooks["no-guarantee"]["action"]["replacement"] == "I will ask {{ host.name }}."
        assert hooks["fresh-price"]["when"][0] == {
            "field": "result", "path": ["total_minor"], "op": "above", "values": [5000]
        }  # fmt: skip

        # The source says the same, both ways.
        form.get_by_role("button", name="Source", exact=True).click()
        write_source(page, '"promise"', '"swear"')
        form.get_by_role("button", name="Form", exact=True).click()
        expect(rule.locator(".token__text")).to_have_text(["guarantee", "swear", "for sure"])
        for _ in range(3):
            rule.locator(".token__remove").first.click()
        expect(rule.get_by_text("The phrase is empty")).to_be_visible()
        assert saved(page, draft).hooks[2].model_dump()["action"]["phrases"] == ("",)


def write_source(page: Page, old: str, new: str) -> None:
    """Replace a piece of what the source editor holds, as typing would."""
    page.locator(".source .ace_line").first.wait_for()
    page.evaluate(
        """([old, text]) => {
            const editor = window.ace.edit(document.querySelector(".source .ace_editor"));
            editor.find(old, { regExp: false });
            editor.insert(text);
            editor.focus();
        }""",
        [old, new],
    )


def source_text(page: Page) -> str:
    page.locator(".source .ace_line").first.wait_for()
    text: str = page.evaluate('() => window.ace.edit(document.querySelector(".source .ace_editor")).getValue()')
    return text


def test_source_is_kept_as_typed_told_by_line_and_taken_over_when_it_fits(browser, console_url, draft, operator):
    with editing(browser, console_url, operator, draft) as person:
        page = person.page
        form = choose(page, "No guarantees")
        form.get_by_role("button", name="Source", exact=True).click()

        # What is no JSON is told at its line, and survives leaving the view and a reload.
        write_source(page, '"mode": "forbid",', '"mode": "forbid"')
        expect(form.get_by_text("A comma or “}” was expected")).to_be_visible()
        expect(form.get_by_role("button", name="Line 10")).to_be_visible()
        expect(page.locator(".ace_gutter-cell.ace_error")).to_have_count(1)
        typed = source_text(page)
        form.get_by_role("button", name="Form", exact=True).click()
        page.reload()
        form = choose(page, "No guarantees")
        form.get_by_role("button", name="Source", exact=True).click()
        expect(form.get_by_text("This is what you typed here")).to_be_visible()
        assert source_text(page) == typed

        # JSON that is no hook is told by the server's words; once it is one, it is in the draft.
        write_source(page, '"mode": "forbid"', '"mode": "avoid",')
        expect(form.get_by_text("Not in the draft yet: it does not have the shape of a harness")).to_be_visible()
        expect(form.get_by_role("list", name="What is wrong, by line")).to_contain_text("action.mode")
        write_source(page, '"avoid"', '"require"')
        expect(form.get_by_text("Taken into the draft as you type.")).to_be_visible()
        expect(form.get_by_text("This is what you typed here")).to_have_count(0)
        assert saved(page, draft).hooks[2].model_dump()["action"]["mode"] == "require"

        # Suggestions know the schema and this harness's own words.
        write_source(page, '"event": "Stop"', '"event": ""')
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Control+Space")
        expect(page.locator(".ace_autocomplete")).to_contain_text("SessionStart")
        looks_right(person)
        page.keyboard.type("Stop")
        page.keyboard.press("Escape")

        # What changes elsewhere does not write over a text that is not taken over; the person decides.
        write_source(page, '"name": "No guarantees",', '"name": "No promises"')
        expect(form.get_by_text("A comma or “}” was expected")).to_be_visible()
        page.get_by_role("button", name="Undo", exact=False).first.click()
        write_source(page, '"name": "No promises"', '"name": "No promises",')
        expect(form.get_by_text("This part changed elsewhere")).to_be_visible()
        assert '"No promises"' in source_text(page)
        form.get_by_role("button", name="Use my text").click()
        expect(form.get_by_text("Taken into the draft as you type.")).to_be_visible()
        assert saved(page, draft).hooks[2].name == "No promises"

    # Without Ace a plain text area does.
    with editing(browser, console_url, operator, draft, blocked="**/django_ace/ace/ace.js") as person:
        page = person.page
        form = choose(page, "size-advice")
        form.get_by_role("button", name="Source", exact=True).click()
        area = form.get_by_label("Source of size-advice (JSON)")
        area.fill(area.input_value().replace("Help a viewer", "Help somebody"))
        expect(form.get_by_text("Taken into the draft as you type.")).to_be_visible()
        assert saved(page, draft).skills[0].description.startswith("Help somebody")
        looks_right(person)
