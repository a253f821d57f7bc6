"""Mends: one click settles the finding, adds no error, and loses nothing."""

from __future__ import annotations

from collections import Counter

import pytest

from harnesses.core.editing import apply_edits
from harnesses.core.findings import Finding
from harnesses.core.mends import MENDABLE, Mend, mends
from harnesses.core.parsing import spec_from_document
from harnesses.core.spec import HarnessSpec
from harnesses.core.validation import validate
from tests.harnesses.validation_cases import CASES
from tests.harnesses.validation_world import (
    CATALOGUE,
    TEXT,
    Change,
    a_map,
    add_hook,
    add_parameter,
    all_of,
    body,
    case,
    put,
    rewrite,
    sound,
    tool,
    when,
)


def spec_after(change: Change) -> HarnessSpec:
    document = sound()
    change(document)
    return spec_from_document(document)


def mended(change: Change, code: str) -> tuple[str, HarnessSpec] | None:
    """The label of the mend of the first finding of that code that has one, and the harness after it."""
    spec = spec_after(change)
    findings = validate(spec, CATALOGUE)
    for index, mend in mends(spec, findings, CATALOGUE).items():
        if findings[index].code == code:
            return mend.label, apply_edits(spec, list(mend.edits)).spec
    return None


def counted(findings: tuple[Finding, ...]) -> Counter[str]:
    return Counter(item.code for item in findings if item.severity == "error")


@pytest.mark.parametrize(("code", "change"), [(entry[0], entry[5]) for entry in CASES])
def test_every_mend_settles_its_finding_and_adds_no_error(code: str, change: Change) -> None:
    spec = spec_after(change)
    findings = validate(spec, CATALOGUE)
    for index, mend in mends(spec, findings, CATALOGUE, previous=spec_from_document(sound())).items():
        after = validate(apply_edits(spec, list(mend.edits)).spec, CATALOGUE)
        assert findings[index] not in after, mend.label
        added = counted(after) - counted(findings)
        assert not added, f"{mend.label}: {added}"


def test_most_findings_have_a_mend() -> None:
    """Where one safe edit exists there is a mend: what is listed here needs a decision, or words that only a person finds."""
    without = {
        "skill_description_empty", "skill_description_long", "schema_invalid", "schema_remote_ref", "schema_dangling_ref",
        "schema_endless", "condition_field_unavailable", "condition_path_missing", "hooks_contradict",
        "replacement_violates_rule", "fallback_violates_rule", "rewrites_undo", "example_unreachable", "template_syntax",
    }  # fmt: skip
    # These have one where what was meant is clear; see below.
    sometimes = {
        "schema_not_object", "unbound_tool", "paths_overlap", "condition_unknown_field", "replace_unknown_field",
        "template_unknown_variable",
    }  # fmt: skip
    codes = {entry[0] for entry in CASES}
    assert codes - MENDABLE == without
    helped = {entry[0] for entry in CASES if mended(entry[5], entry[0]) is not None}
    assert codes - without - helped == sometimes


@pytest.mark.parametrize(
    ("code", "change", "label"),
    [
        ("duplicate_id", lambda d: d["tools"][1].update(id="price"), "Give the later one the id price-2"),
        ("duplicate_name", lambda d: d["tools"][1].update(name="get_price"), "Rename it to get_price_2"),
        ("illegal_name", put(lambda d: d["skills"][0], name="Size--Advice"), "Rename it to size-advice"),
        ("illegal_name", put(tool, name="查价"), "Rename it to price"),
        ("unused_parameter", add_parameter("mood", TEXT), "Say that it is ignored"),
        (
            "unknown_tool_id",
            put(lambda d: d["skills"][0], allowed_tools=["get_price"]),
            "Use price",
        ),
        ("unknown_tool_id", put(lambda d: d["skills"][0], allowed_tools=["price", "gone"]), "Take gone out"),
        ("template_unknown_variable", body("Hello {{ viewr.name }}."), "Use viewer"),
        ("template_unknown_variable", body("Hello {{ viewer_name }}."), "Use viewer.name"),
        ("template_unknown_tool", body('Ask {{ tool("get_price") }}.'), "Use price"),
        ("template_unknown_argument", body('Give {{ param("price", "sku") }}.'), "Use item_id"),
        ("template_missing_value", body("On show: {{ item.name }}"), "Show it only with an item on show"),
        ("name_by_hand", body("First call get_price, then answer."), 'Write {{ tool("price") }}'),
        ("stale_mention", body("Call `get_prices` or get_prices, not show_item."), "Update 2 mentions to get_price"),
        ("unbound_tool", lambda d: d["tools"][1].update(binding=None, name="card_push", input_schema={
            "type": "object", "properties": {"item_id": TEXT}, "required": ["item_id"]}), "Connect it to card.push"),
        ("schema_not_object", put(tool, input_schema={}, binding=None, parameter_order=[]), 'Add "type": "object"'),
        ("paths_overlap", put(lambda d: tool(d)["binding"], ignored=["sku"]), "Do not ignore what is used"),
        (
            "condition_unknown_field",
            when("PreToolUse", field="argument", op="exists", path="item"),
            "Use item_id",
        ),
        ("replace_unknown_field", add_hook("PostToolUse", {"type": "replace_output", "drop": ["price"]}), "Use price_fen"),
        ("rewrite_unknown_argument", add_hook("PreToolUse", rewrite(item="a")), "Set item_id"),
        ("argument_supplied_twice", put(case, constants={"item_id": "a"}), "Remove the fixed value of item_id"),
        (
            "conversion_mismatch",
            all_of(add_parameter("n", TEXT), a_map("count", "n", conversion={"kind": "scale", "factor": "2"})),
            "Write the number as a text",
        ),
        ("unreached_operation", lambda d: d["tools"].pop(1), "Add a tool for card.push"),
    ],
)  # fmt: skip
def test_what_the_button_says(code: str, change: Change, label: str) -> None:
    result = mended(change, code)
    assert result is not None
    assert result[0] == label


def test_a_missing_argument_gets_a_parameter_and_a_mapping() -> None:
    def change(document: dict) -> None:
        document["tools"][1]["input_schema"] = {"type": "object", "properties": {}}
        document["tools"][1]["binding"]["cases"][0]["arguments"] = []

    result = mended(change, "missing_operation_argument")
    assert result is not None
    label, spec = result
    show = spec.tool("show")
    assert label == "Add the parameter item_id"
    assert show is not None
    assert show.input_schema == {"type": "object", "properties": {"item_id": TEXT}, "required": ["item_id"]}
    assert not [item for item in validate(spec, CATALOGUE) if item.severity == "error"]


def test_a_renamed_tool_is_followed_in_all_its_mentions_at_once() -> None:
    before = spec_after(all_of(
        body("Ask get_price. Then `get_price` again."),
        lambda d: d["tools"][1].update(description="Comes after get_price."),
        lambda d: d["skills"][0].update(body='Use {{ tool("price") }}.'),
    ))  # fmt: skip
    renamed = apply_edits(
        before, [{"op": "rename", "kind": "tool", "id": "price", "name": "quote", "follow": False}]
    ).spec
    findings = validate(renamed, CATALOGUE)
    (index, *_) = [index for index, item in enumerate(findings) if item.code == "stale_mention"]
    mend = mends(renamed, findings, CATALOGUE, previous=before)[index]
    assert mend.label == "Update 3 mentions to quote"
    after = apply_edits(renamed, list(mend.edits)).spec
    assert after.prompt[0].body == "Ask quote. Then `quote` again."
    assert after.tools[1].description == "Comes after quote."
    assert after.skills[0].body == 'Use {{ tool("price") }}.'


def test_a_hook_never_comes_to_watch_every_tool_by_a_mend() -> None:
    change = put(
        lambda d: d["hooks"][0], event="PreToolUse", matcher=["gone"], action={"type": "deny", "reason": "No."}
    )
    assert mended(change, "unknown_tool_id") is None


def test_mends_are_json_for_the_editor() -> None:
    mend = Mend("Do it", ({"op": "remove", "kind": "hook", "id": "x"},))
    assert mend.document() == {"label": "Do it", "edits": [{"op": "remove", "kind": "hook", "id": "x"}]}


def test_without_a_catalogue_there_are_fewer_mends_and_no_failure() -> None:
    for _, _, _, _, _, change in CASES:
        spec = spec_after(change)
        mends(spec, validate(spec, CATALOGUE))
