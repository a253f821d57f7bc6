"""Every finding of validation: a sound harness, one thing wrong with it, and the finding that says so."""

from __future__ import annotations

import pytest

from harnesses.core.parsing import spec_from_document
from harnesses.core.validation import Severity, has_errors, validate
from tests.harnesses.validation_cases import CASES
from tests.harnesses.validation_world import (
    CATALOGUE,
    Change,
    a_map,
    add_hook,
    add_parameter,
    all_of,
    body,
    findings_after,
    put,
    rewrite,
    switched,
    tool,
)


def test_a_sound_harness_has_no_findings() -> None:
    assert findings_after(lambda document: None) == ()


@pytest.mark.parametrize(
    ("code", "severity", "kind", "component_id", "field", "change"),
    CASES,
    ids=[f"{code}-{kind}-{index}" for index, (code, _, kind, *_) in enumerate(CASES)],
)
def test_what_is_wrong_is_found_where_it_is(
    code: str, severity: Severity, kind: str, component_id: str | None, field: str, change: Change
) -> None:
    findings = findings_after(change)
    found = [(item.code, item.severity, item.component_kind, item.component_id, item.field) for item in findings]
    assert (code, severity, kind, component_id, field) in found
    for item in findings:
        assert item.message.endswith(".")
        assert item.mend


@pytest.mark.parametrize(
    ("prompt_tokens", "codes"),
    [
        (None, []),
        (2_000, []),
        (2_600, ["prompt_near_budget"]),
        (2_912, ["prompt_over_budget"]),
        (9_000, ["prompt_over_budget"]),
    ],
)
def test_a_prompt_is_held_against_the_context_budget(prompt_tokens: int | None, codes: list[str]) -> None:
    assert [item.code for item in findings_after(lambda document: None, prompt_tokens)] == codes


@pytest.mark.parametrize(
    "text",
    [
        "Use {{ tool('price') }} and say {{ item.name if item else 'nothing' }}.",
        "It is a well-known, on-screen snake. See https://shop.example/a_b/c_d or mail a_b@shop.example.",
        "The `cost` comes back; give `sku` and `fit`, one of `small` or `medium`.",
        "An iPhone case; price-wise it is fine.",
        "Give an id such as 'sara_doe_496' or \"gift_card_0000000\".",
        "Ask sara_doe_496 about gift_card_0000000, or `mei_kovacs_8020` about credit_card_9991111.",
        "{# TODO fetch_price #} Be kind.",
    ],
)
def test_ordinary_words_and_present_names_of_parameters_and_results_are_no_stale_mentions(text: str) -> None:
    assert findings_after(body(text)) == ()


def test_a_stale_name_with_one_digit_is_still_told() -> None:
    assert [item.code for item in findings_after(body("Call get_price_2."))] == ["stale_mention"]


def test_a_switched_tool_may_leave_what_one_case_needs_optional() -> None:
    assert findings_after(switched()) == ()


def test_a_name_that_a_text_held_turns_stale_when_the_tool_is_renamed() -> None:
    codes = [item.code for item in findings_after(all_of(body("Call get_price."), put(tool, name="quote_item")))]
    assert codes == ["stale_mention"]


def test_rewrites_of_different_tools_do_not_undo_one_another() -> None:
    change = all_of(
        add_hook("PreToolUse", rewrite(item_id="a"), "a", matcher=["price"]),
        add_hook("PreToolUse", rewrite(item_id="b"), "b", matcher=["show"]),
    )
    assert findings_after(change) == ()


def test_only_errors_keep_a_harness_from_being_committed() -> None:
    assert not has_errors(findings_after(body("Call fetch_price.")))
    assert has_errors(findings_after(body("{{ weather }}")))


@pytest.mark.parametrize("piece", ["{{", "{% ", "{#", "`a-", "a_", "`", "{{ }}"])
def test_long_repetitive_texts_are_checked_in_the_time_of_their_length(piece: str) -> None:
    assert isinstance(findings_after(body(piece * (199_000 // len(piece)))), tuple)


def test_a_recode_of_thousands_of_values_is_checked() -> None:
    recode = [{"operation": f"o{n}", "surface": f"s{n}"} for n in range(4_000)]
    change = all_of(
        add_parameter("n", {"enum": [pair["surface"] for pair in recode]}), a_map("since", "n", recode=recode)
    )
    assert findings_after(change) == ()


def test_an_empty_harness_and_an_empty_catalogue_are_no_trouble() -> None:
    assert validate(spec_from_document({"schema_version": 1}), {}) == ()


def test_300_tools_of_which_two_are_twins_are_told_apart() -> None:
    tools = [{"id": f"t{n}", "name": f"tool_{n}", "input_schema": {"type": "object"}} for n in range(300)]
    tools.append({"id": "last", "name": "TOOL_7", "input_schema": {"type": "object"}})
    findings = validate(spec_from_document({"schema_version": 1, "tools": tools}), CATALOGUE)
    assert [item.component_id for item in findings if item.code == "twin_name"] == ["last"]
