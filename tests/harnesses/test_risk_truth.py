"""What the risk report says of edits of the demo harness that look harmless and are not, and of some that are."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from harnesses.core.parsing import spec_from_document
from harnesses.core.risk import RiskReport, assess
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE

BASE = demo_harness()


def edited(*changes: Any) -> RiskReport:
    """The report on the demo harness after each function changed its document."""
    document = deepcopy(BASE.document())
    for change in changes:
        change(document)
    return assess(BASE, spec_from_document(document), CATALOGUE)


def part(document: Any, kind: str, key: str) -> Any:
    return next(item for item in document[kind] if item["id"] == key)


def case_of(document: Any, tool: str) -> Any:
    return part(document, "tools", tool)["binding"]["cases"][0]


def result_field(document: Any, tool: str, key: str) -> Any:
    return next(item for item in case_of(document, tool)["result"]["fields"] if item["path"] == [key])


def to_pay_in_fen(document: Any) -> None:
    result_field(document, "price", "total_minor")["conversion"] = None


def named_in_fen(document: Any) -> None:
    result_field(document, "price", "total_minor")["name"] = "to_pay_fen"


def told_in_the_description(document: Any) -> None:
    part(document, "tools", "price")["description"] = "What an item costs after coupons, in fen."


def test_a_number_in_another_unit_is_a_trap_until_something_says_so() -> None:
    (untold,) = edited(to_pay_in_fen).changes
    assert (untold.family, untold.preserving) == ("X6", "unknown")
    assert "neither its name nor a description says so" in untold.reason
    assert edited(to_pay_in_fen, named_in_fen).verdict == "preserving"
    conversion = edited(to_pay_in_fen, told_in_the_description).changes[-1]
    assert (conversion.family, conversion.preserving) == ("X6", "preserving")


def test_keys_that_change_hands_are_no_plain_renames() -> None:
    def swap(document: Any) -> None:
        total, unit = (result_field(document, "price", key) for key in ("total_minor", "unit_price_minor"))
        total["name"], unit["name"] = unit["name"], total["name"]

    assert {(item.family, item.preserving) for item in edited(swap).changes} == {("T9", "unknown")}

    def swap_parameters(document: Any) -> None:
        tool = part(document, "tools", "human")
        parameters = tool["inputSchema" if "inputSchema" in tool else "input_schema"]["properties"]
        parameters["reason"], parameters["summary"] = parameters["summary"], parameters["reason"]
        for item in case_of(document, "human")["arguments"]:
            item["path"] = ["summary" if item["argument"] == "reason" else "reason"]

    renames = [item for item in edited(swap_parameters).changes if item.change.action == "renamed"]
    assert [(item.family, item.preserving) for item in renames] == [("T3", "unknown")] * 2


def test_tool_names_that_change_hands_are_no_plain_renames() -> None:
    def swap(document: Any) -> None:
        price, stock = (part(document, "tools", key) for key in ("price", "stock"))
        price["name"], stock["name"] = stock["name"], price["name"]

    assert [(item.family, item.preserving) for item in edited(swap).changes] == [("T1", "unknown")] * 2
    assert "was the name of another tool before" in edited(swap).changes[0].reason


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [({"returns": "refunds", "refunds": "returns"}, "unknown"), ({"returns": "bring_back"}, "preserving")],
)
def test_labels_may_be_new_but_not_mean_something_else(labels: dict[str, str], verdict: str) -> None:
    def recode(document: Any) -> None:
        schema = part(document, "tools", "policy")["input_schema"]["properties"]["topic"]
        pairs = [{"operation": value, "surface": labels.get(value, value)} for value in schema["enum"]]
        schema["enum"] = sorted(labels.get(value, value) for value in schema["enum"])
        case_of(document, "policy")["arguments"][0]["recode"] = pairs

    assert edited(recode).verdict == verdict


def test_a_second_tool_past_a_hook_that_enforces_a_rule_breaks_the_rule() -> None:
    def second_door(document: Any) -> None:
        document["tools"].append({**part(document, "tools", "give-coupon"), "id": "gift", "name": "gift"})

    def watched_too(document: Any) -> None:
        part(document, "hooks", "one-coupon")["matcher"].append("gift")

    (added,) = edited(second_door).changes
    assert (added.family, added.preserving) == ("policy", "not_preserving")
    assert 'The hook "coupon-limit" enforces a rule on "Send coupon" in other tools' in added.reason
    added = next(item for item in edited(second_door, watched_too).changes if item.change.kind == "tool")
    assert (added.family, added.preserving) == ("T7", "preserving")
    assert "was already possible through another tool" in added.reason


def test_taking_the_mark_of_a_rule_away_needs_as_many_reviewers_as_changing_it() -> None:
    def unmark(document: Any) -> None:
        part(document, "prompt", "rules")["is_policy"] = False

    def mark(document: Any) -> None:
        part(document, "prompt", "role")["is_policy"] = True

    assert (edited(unmark).verdict, edited(unmark).required_review) == ("preserving", "two_reviewers")
    assert edited(mark).required_review == "one_reviewer"


def test_a_default_that_the_model_reads_and_the_platform_does_not_use_is_a_text() -> None:
    def default(document: Any) -> None:
        part(document, "tools", "price")["input_schema"]["properties"]["pieces"]["default"] = 2

    (item,) = edited(default).changes
    assert (item.family, item.preserving) == ("T2", "unknown")


def test_narrower_limits_are_told_as_limits() -> None:
    def narrow(document: Any) -> None:
        part(document, "tools", "price")["input_schema"]["properties"]["pieces"]["maximum"] = 9

    (item,) = edited(narrow).changes
    assert item.reason == '"Price after coupons", quantity: the limits on its values changed (maximum 99 → maximum 9).'


def test_the_fallback_reply_is_an_answer_that_viewers_read() -> None:
    def promise(document: Any) -> None:
        document["runtime"]["fallback_reply"] = "We will pay you back."

    (item,) = edited(promise).changes
    assert (item.family, item.preserving) == ("policy", "not_preserving")


def test_an_example_with_other_results_is_not_told_as_other_words() -> None:
    def result(document: Any) -> None:
        part(document, "examples", "policy-1")["calls"][0]["result"]["text"] = "Within 30 days."

    (item,) = edited(result).changes
    assert item.reason.startswith("The example makes other calls, or reads other results.")
