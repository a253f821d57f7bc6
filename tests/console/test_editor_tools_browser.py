"""The form of tools and the dialogs around it, in a real browser on the demo harness: what is done is in the saved draft."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from harnesses.core.parsing import spec_from_document
from harnesses.models import HarnessDraft
from harnesses.selectors import draft_document, draft_get
from harnesses.services import draft_open, harness_commit, harness_create
from livestream.demo import demo_harness
from livestream.retail import TAU2_RETAIL
from tests.conftest import PASSWORD
from tests.console.browser import DESKTOP, PHONE, Visitor, live_server, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MENTION = "Call give_coupon once.\nNever promise more than `give_coupon` gives.\nAsk {{ tool('give-coupon') }} first."


class Editing:
    """A person in the editor of a draft; reads the draft as the server has it."""

    def __init__(self, visitor: Visitor, draft: HarnessDraft) -> None:
        self.visitor = visitor
        self.page = visitor.page
        self.draft = draft
        visitor.go(f"/harnesses/{draft.harness.slug}/drafts/{draft.pk}/")
        self.page.locator(".outline__item").first.wait_for()

    @property
    def form(self) -> Locator:
        return self.page.locator(".tool-form")

    def open(self, name: str) -> None:
        self.page.locator(".outline__item", has_text=re.compile(rf"^\s*{re.escape(name)}\b")).first.click()

    def parameter(self, name: str) -> Locator:
        return self.form.get_by_role("listitem", name=f"Parameter {name}", exact=True)

    def saved(self) -> dict[str, Any]:
        """The draft's content once everything is saved."""
        self.page.wait_for_timeout(50)
        expect(self.page.locator(".status")).to_contain_text("Saved")
        return draft_document(draft_get(self.draft.harness, self.draft.pk))

    def component(self, kind: str, component_id: str) -> dict[str, Any]:
        found: dict[str, Any] = next(item for item in self.saved()[kind] if item["id"] == component_id)
        return found

    def maps(self, tool_id: str, case: int = 0) -> dict[str, list[str]]:
        """Operation argument → path, of one case of a tool."""
        found = self.component("tools", tool_id)["binding"]["cases"][case]["arguments"]
        return {item["argument"]: item["path"] for item in found}


@pytest.fixture
def editing(transactional_db: None, browser: Browser, operator: Any) -> Iterator[Editing]:
    """An operator in a draft of the demo harness; the test fails if the browser reported anything."""
    with live_server() as url:
        harness = harness_create(slug="autumn", title="Autumn", world="demo-shop", acting_user=operator)
        harness_commit(harness=harness, spec=demo_harness(), message="First", acting_user=operator)
        document = demo_harness().document()
        document["prompt"].append({"id": "coupons", "title": "Coupons", "body": MENTION})
        draft = draft_open(harness=harness, document=document, acting_user=operator)
        visitor = open_visitor(browser, url, viewport=DESKTOP)
        visitor.log_in(operator.username, PASSWORD)
        yield Editing(visitor, draft)
        visitor.context.close()
        assert visitor.problems == []


def test_a_tool_is_shaped_and_connected_by_form(editing: Editing) -> None:
    editing.open("price")
    _rename_parameters(editing)
    _shape_parameters(editing)
    _connect(editing)
    _show_results(editing)
    _write_json(editing)
    # Every step can be taken back.
    undo = editing.page.locator("[data-toolbar]").get_by_role("button", name=re.compile("^Undo"))
    while undo.count():
        undo.click()
    original = next(tool for tool in demo_harness().document()["tools"] if tool["id"] == "price")
    assert editing.component("tools", "price") == original


def _rename_parameters(editing: Editing) -> None:
    # A renamed parameter carries its way to the operation along, and the focus goes where Tab aimed.
    name = editing.parameter("pieces").get_by_label("Name")
    name.fill("count")
    name.press("Tab")
    expect(editing.parameter("count").get_by_label("Type")).to_be_focused()
    assert editing.maps("price") == {"item": ["item"], "quantity": ["count"]}
    # A name that is taken is told, and the tool stays as it was.
    editing.parameter("count").get_by_label("Name").fill("item")
    editing.parameter("count").get_by_label("Name").press("Enter")
    expect(editing.parameter("count").get_by_text('There already is a parameter "item"')).to_be_visible()
    assert set(editing.component("tools", "price")["input_schema"]["properties"]) == {"item", "count"}
    editing.parameter("count").get_by_label("Name").fill("count")


def _shape_parameters(editing: Editing) -> None:
    page, form = editing.page, editing.form
    # Order by keyboard; allowed values line by line.
    editing.parameter("count").get_by_label("Description").press("Alt+ArrowUp")
    form.get_by_role("button", name="Add parameter").click()
    expect(editing.parameter("parameter").get_by_label("Name")).to_be_focused()
    page.keyboard.type("tone")
    page.keyboard.press("Enter")
    editing.parameter("tone").get_by_text("Allowed:").click()
    editing.parameter("tone").get_by_label("Allowed values, one a line").fill("warm\nplain")
    tool = editing.component("tools", "price")
    assert tool["parameter_order"] == ["count", "item", "tone"]
    assert tool["input_schema"]["properties"]["tone"]["enum"] == ["warm", "plain"]


def _connect(editing: Editing) -> None:
    form = editing.form
    # It reaches nothing yet: said so, and dropped on purpose by one choice.
    form.get_by_label("tone reaches").select_option(label="nothing, on purpose")
    assert editing.component("tools", "price")["binding"]["ignored"] == [["tone"]]
    # A required argument that nobody supplies stands out; one click supplies it.
    form.get_by_role("button", name="Remove parameter item").click()
    missing = form.locator(".map__row--missing")
    expect(missing).to_contain_text("Nobody supplies it")
    assert editing.visitor.axe_violations() == []
    missing.get_by_role("button", name='Add a parameter "item"').click()
    expect(missing).to_have_count(0)
    tool = editing.component("tools", "price")
    assert tool["input_schema"]["required"] == ["item"]
    assert editing.maps("price") == {"quantity": ["count"], "item": ["item"]}
    # A conversion takes the parameter's type along; a fixed value takes the parameter's place.
    form.get_by_label("How quantity is passed").select_option(label="a number, as a text")
    form.get_by_label("Feeds variant").select_option(label="always the same value")
    form.get_by_label("The value of variant").fill("T12-navy-m")
    tool = editing.component("tools", "price")
    assert tool["input_schema"]["properties"]["count"]["type"] == "string"
    assert tool["binding"]["cases"][0]["constants"] == {"variant": "T12-navy-m"}


def _show_results(editing: Editing) -> None:
    form = editing.form
    # What the model reads follows at once.
    shown = form.locator("[data-example]")
    expect(shown).to_contain_text("list_price_yuan: 89")
    form.get_by_label("Name of name for the model").fill("called")
    form.get_by_role("checkbox", name="total_minor", exact=True).uncheck()
    expect(shown).to_contain_text("called: Canvas apron")
    expect(shown).not_to_contain_text("to_pay_yuan")
    form.get_by_label("An example of what the operation gives").fill('{"name": "Beret", "unit_price_minor": 12345}')
    expect(shown).to_have_text("called: Beret\nlist_price_yuan: 123.45")


def _write_json(editing: Editing) -> None:
    page, form = editing.page, editing.form
    # The same schema as JSON, both ways; what is no JSON is told with its line and changes nothing.
    before = editing.component("tools", "price")
    form.get_by_role("button", name="JSON", exact=True).click()
    source = form.locator(".schema-json")
    source.locator(".ace_text-input").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(
        '{"type": "object",\n "properties": {"item": {"type": "string", "x-note": 1}},\n "required": ["item"'
    )
    expect(source.get_by_text("Line 3:")).to_be_visible()
    assert editing.component("tools", "price") == before
    page.keyboard.insert_text("]}")
    expect(source.get_by_text("Line 3:")).to_be_hidden()
    form.get_by_role("button", name="Form", exact=True).click()
    expect(editing.parameter("item").get_by_text("Also set: x-note.")).to_be_attached()
    editing.parameter("item").get_by_label("Description").fill("Which item")
    assert editing.component("tools", "price")["input_schema"]["properties"]["item"]["x-note"] == 1


def test_one_tool_covers_two_operations_and_values_are_translated(editing: Editing) -> None:
    page, form = editing.page, editing.form
    editing.open("stock")
    form.get_by_role("button", name="Add another operation").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Operation").select_option(label="Price after coupons (get_price)")
    dialog.get_by_role("button", name="Add", exact=True).click()
    binding = editing.component("tools", "stock")["binding"]
    assert binding["switch"] == ["action"]
    assert [(case["when"], case["operation"]) for case in binding["cases"]] == [
        ("get_stock", "get_stock"),
        ("get_price", "get_price"),
    ]
    assert editing.maps("stock", 1) == {"item": ["item"], "variant": ["variant"]}
    second = form.get_by_role("group", name="Operation get_price")
    second.get_by_label("is", exact=True).fill("price")
    second.get_by_label("is", exact=True).press("Enter")
    schema = editing.component("tools", "stock")["input_schema"]
    assert schema["properties"]["action"]["enum"] == ["get_stock", "price"]
    # Another operation keeps what still fits.
    second.get_by_label("Does").select_option(label="List coupons (list_coupons)")
    assert editing.maps("stock", 1) == {"item": ["item"]}
    form.get_by_role("button", name="Remove the operation list_coupons").click()
    binding = editing.component("tools", "stock")["binding"]
    assert (binding["switch"], len(binding["cases"])) == (None, 1)
    expect(form.get_by_label("action reaches")).to_be_visible()
    # A recode pairs the model's values with the operation's; the values that the model may write follow.
    editing.open("policy")
    form.get_by_label("How topic is passed").select_option(label="values translated")
    form.get_by_label("The model's value for topic 1", exact=True).fill("post")
    form.get_by_role("button", name="Remove the pair topic 2").click()
    tool = editing.component("tools", "policy")
    assert tool["binding"]["cases"][0]["arguments"][0]["recode"][0] == {"operation": "shipping", "surface": "post"}
    assert tool["input_schema"]["properties"]["topic"]["enum"][:2] == ["post", "exchanges"]
    # On a phone everything is there and nothing sticks out.
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(form.get_by_label("Feeds topic")).to_be_visible()
    assert editing.visitor.overflowing() == []


def test_parts_are_renamed_searched_copied_and_added(editing: Editing, operator: Any) -> None:
    page = editing.page
    dialog = page.get_by_role("dialog")
    # A rename lists what mentions the name by hand; what is left unticked stays. What goes by id follows by itself.
    editing.open("give_coupon")
    editing.form.get_by_label("Name", exact=True).first.fill("hand_coupon")
    editing.form.get_by_label("Name", exact=True).first.press("Enter")
    dialog.get_by_role("checkbox", name=re.compile("Call give_coupon")).uncheck()
    dialog.get_by_role("checkbox", name=re.compile("Never promise more")).wait_for()
    assert editing.visitor.axe_violations() == []
    dialog.get_by_role("button", name="Rename and change").click()
    expect(dialog).to_have_count(0)
    changed = MENTION.replace("`give_coupon`", "`hand_coupon`")
    assert editing.component("prompt", "coupons")["body"] == changed
    assert editing.component("tools", "give-coupon")["name"] == "hand_coupon"
    # Search and replace: one line, then all, then taken back.
    page.get_by_role("button", name="Search and replace").click()
    dialog.get_by_label("Find").fill("coupon")
    dialog.get_by_label("Replace with").fill("voucher")
    group = dialog.get_by_role("region", name="Prompt section: Coupons")
    group.get_by_role("button", name="Replace in text, line 2").click()
    expect(group.get_by_role("button", name="Replace in text, line 2")).to_have_count(0)
    body = editing.component("prompt", "coupons")["body"].split("\n")
    assert body[0] == "Call give_coupon once."
    assert body[1] == "Never promise more than `hand_voucher` gives."
    dialog.get_by_role("button", name=re.compile(r"^Replace all \d+")).click()
    told = page.locator("[data-toast]").filter(has_text="replaced")
    expect(told).to_be_visible()
    saved = editing.saved()
    assert "{{ tool('give-coupon') }}" in next(item for item in saved["prompt"] if item["id"] == "coupons")["body"]
    assert next(item for item in saved["tools"] if item["id"] == "coupons")["name"] == "vouchers"
    told.get_by_role("button", name="Undo").click()
    assert editing.component("tools", "coupons")["name"] == "coupons"
    # A tool from the catalogue comes filled in.
    editing.open("human")
    page.get_by_role("button", name="Add a tool").click()
    dialog.get_by_label("Operation").fill("stock")
    dialog.get_by_role("checkbox", name=re.compile("get_stock")).check()
    dialog.get_by_role("button", name="Add tool").click()
    made = next(tool for tool in editing.saved()["tools"] if tool["name"] == "get_stock")
    assert made["binding"]["cases"][0]["operation"] == "get_stock"
    # A skill from a file: the tools it may use are found by name.
    page.get_by_role("button", name="Add a skill").click()
    skill = "---\nname: coupon-care\ndescription: When coupons matter.\nallowed-tools: hand_coupon\n---\nBe kind.\n"
    dialog.get_by_label("File", exact=True).set_input_files(
        {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": skill.encode()}
    )
    dialog.get_by_role("button", name="Add skill").click()
    expect(dialog).to_have_count(0)
    assert editing.component("skills", "coupon-care")["allowed_tools"] == ["give-coupon"]
    _copy_from_elsewhere(editing, operator)


def _copy_from_elsewhere(editing: Editing, operator: Any) -> None:
    """From a harness of another world: a clash of names is mended, what is needed comes along, an unknown operation is told."""
    page, dialog = editing.page, editing.page.get_by_role("dialog")
    other = harness_create(slug="retail", title="Retail", world=TAU2_RETAIL, acting_user=operator)
    tool = {
        "id": "order", "name": "stock", "input_schema": {"type": "object", "properties": {}},
        "binding": {"cases": [{"operation": "get_order", "constants": {"order_id": "#W0000000"}}]},
    }  # fmt: skip
    skill = {
        "id": "orders",
        "name": "orders",
        "description": "Orders.",
        "body": 'Use {{ tool("order") }}.',
        "allowed_tools": ["order"],
    }
    spec = spec_from_document({"schema_version": 1, "tools": [tool], "skills": [skill]})
    harness_commit(harness=other, spec=spec, message="Other", acting_user=operator)
    page.get_by_role("button", name="Copy a skill from another harness").click()
    dialog.get_by_label("Find a harness").fill("ret")
    dialog.get_by_role("checkbox", name=re.compile("^orders")).check()
    dialog.get_by_role("button", name="Copy too").click()
    expect(dialog.get_by_text("which this harness's world does not have")).to_be_visible()
    expect(dialog.get_by_label('"stock" is taken here')).to_have_value("stock_2")
    dialog.get_by_role("button", name="Copy 2 components").click()
    expect(dialog).to_have_count(0)
    copied = editing.component("tools", "order")
    assert (copied["name"], copied["binding"]) == ("stock_2", None)
    assert editing.component("skills", "orders")["allowed_tools"] == ["order"]
