"""Risk names each change by its family, and judges it by what the harness can do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from harnesses.core.families import FAMILY_TITLES
from harnesses.core.operations import OperationSpec
from harnesses.core.reach import compare_doors, doors_to
from harnesses.core.risk import Classified, assess
from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    Deny,
    Example,
    HarnessSpec,
    Hook,
    RecodePair,
    ResultField,
    ResultMap,
    ScaleConversion,
    SurfaceConstant,
    Tool,
    ToolBinding,
)
from tests.harnesses.small_specs import CATALOGUE, coupon_tool, price_tool, shop, specs

ITEM = {"type": "string", "description": "Id of the item."}
CURRENCY = {"type": "string", "enum": ["CNY", "USD"]}
TO_ITEM = ArgumentMap(argument="item", path="item")
TO_CURRENCY = ArgumentMap(argument="currency", path="currency")


def schema(*required: str, **parameters: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parameters, "required": list(required) or ["item"]}


def bound(*arguments: ArgumentMap, operation: str = "get_price", **fields: Any) -> ToolBinding:
    return ToolBinding(cases=(BindingCase(operation=operation, arguments=arguments, **fields),))


def judged(new: HarnessSpec, old: HarnessSpec | None = None) -> list[tuple[str | None, str]]:
    return [(item.family, item.preserving) for item in assess(old or shop(), new, CATALOGUE).changes]


def with_price(**fields: Any) -> HarnessSpec:
    return shop(tools=(price_tool(**fields), coupon_tool()))


def only(new: HarnessSpec) -> Classified:
    (item,) = assess(shop(), new, CATALOGUE).changes
    return item


def test_a_renamed_tool_is_t1_and_preserving_in_exactly_these_words() -> None:
    item = only(with_price(name="fetch_price"))
    assert item.headline == "Tool renamed: get_price → fetch_price (T1, preserving)"
    assert item.family_title == "tool renamed"
    report = assess(shop(), with_price(name="fetch_price"), CATALOGUE)
    assert (report.verdict, report.required_review, report.required_evals) == (
        "preserving",
        "one_reviewer",
        ("impact",),
    )


def test_no_change_needs_no_review() -> None:
    report = assess(shop(), shop(), CATALOGUE)
    assert (report.changes, report.verdict, report.required_review, report.required_evals) == (
        (),
        "preserving",
        "none",
        (),
    )


def test_a_tool_whose_operation_nothing_else_reaches_is_a_capability_when_it_goes_or_comes() -> None:
    without = shop(tools=(price_tool(),))
    item = only(without)
    assert item.headline == "Tool removed: send_coupon (capability, not preserving)"
    assert "Send a coupon" in item.reason
    assert judged(shop(), without) == [("capability", "not_preserving")]
    report = assess(shop(), without, CATALOGUE)
    assert (report.required_review, report.required_evals) == ("two_reviewers", ("impact", "capability"))


@pytest.mark.parametrize(
    "extra",
    [
        price_tool(id="twin", name="lookup"),
        Tool(id="twin", name="lookup", input_schema={"type": "object"}),
        price_tool(id="twin", name="lookup", binding=bound(TO_ITEM, operation="unheard_of")),
    ],
    ids=["operation already reached", "bound to nothing", "bound to an unknown operation"],
)
def test_a_tool_that_adds_nothing_is_a_distractor(extra: Tool) -> None:
    assert judged(shop(tools=(price_tool(), coupon_tool(), extra))) == [("T7", "preserving")]
    assert judged(shop(), shop(tools=(price_tool(), coupon_tool(), extra))) == [("T7", "preserving")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"description": "Find out the price of an item."}, ("T2", "unknown")),
        ({"description": "  Look up the PRICE of an item."}, ("T2", "preserving")),
        ({"description": ""}, ("T8", "preserving")),
        ({"title": "Price"}, (None, "preserving")),
        ({"parameter_order": ("currency", "item")}, ("T4", "preserving")),
        ({"annotations": {"readOnlyHint": True}}, (None, "preserving")),
        ({"input_schema": schema(item=ITEM | {"description": "The item."}, currency=CURRENCY)}, ("T2", "unknown")),
        ({"input_schema": schema(item={"type": "string"}, currency=CURRENCY)}, ("T8", "preserving")),
        ({"input_schema": schema(item=ITEM, currency=CURRENCY | {"enum": ["USD", "CNY"]})}, ("T5", "preserving")),
        ({"input_schema": schema(item=ITEM, currency={"enum": ["CNY"]} | {"type": "string"})}, ("capability", "not_preserving")),
        ({"input_schema": schema("item", "currency", item=ITEM, currency=CURRENCY)}, ("capability", "not_preserving")),
        ({"input_schema": schema(item=ITEM, currency=CURRENCY, note={"type": "string"})}, ("T6", "preserving")),
        ({"input_schema": schema(item=ITEM | {"maxLength": 3}, currency=CURRENCY)}, ("capability", "not_preserving")),
        ({"binding": bound(TO_ITEM, TO_CURRENCY, result=ResultMap(format="table"))}, ("X7", "preserving")),
        (
            {"binding": bound(TO_ITEM, TO_CURRENCY, result=ResultMap(fields=(ResultField(path="price", name="p"),)))},
            ("T9", "preserving"),
        ),
        (
            {"binding": bound(TO_ITEM, TO_CURRENCY, result=ResultMap(fields=(ResultField(path="price", is_hidden=True),)))},
            ("capability", "not_preserving"),
        ),
        ({"binding": None}, ("capability", "not_preserving")),
        (
            {"binding": bound(TO_ITEM, ArgumentMap(argument="currency", path="currency", default="USD"))},
            ("capability", "not_preserving"),
        ),
    ],
)  # fmt: skip
def test_one_change_inside_a_tool(fields: dict[str, Any], expected: tuple[str | None, str]) -> None:
    assert judged(with_price(**fields)) == [expected]


def test_a_renamed_and_a_nested_parameter_keep_the_task() -> None:
    renamed = with_price(
        input_schema=schema("product", product=ITEM, currency=CURRENCY),
        binding=bound(ArgumentMap(argument="item", path="product"), TO_CURRENCY),
    )
    assert only(renamed).headline == "Parameter of get_price renamed: item → product (T3, preserving)"
    nested = with_price(
        input_schema=schema("of", of=schema(item=ITEM), currency=CURRENCY),
        binding=bound(ArgumentMap(argument="item", path=("of", "item")), TO_CURRENCY),
    )
    assert ("X3", "preserving") in judged(nested)
    assert assess(shop(), nested, CATALOGUE).verdict == "preserving"


def test_recoded_values_keep_the_task_unless_one_is_dropped() -> None:
    def recoded(*pairs: tuple[str, str]) -> HarnessSpec:
        recode = tuple(RecodePair(operation=left, surface=right) for left, right in pairs)
        return with_price(
            input_schema=schema(item=ITEM, currency=CURRENCY | {"enum": [right for _, right in pairs]}),
            binding=bound(TO_ITEM, ArgumentMap(argument="currency", path="currency", recode=recode)),
        )

    assert judged(recoded(("CNY", "A"), ("USD", "B"))) == [("T5", "preserving")] * 2
    assert judged(recoded(("CNY", "A"))) == [("capability", "not_preserving")] * 2
    assert "no longer possible: USD" in assess(shop(), recoded(("CNY", "A")), CATALOGUE).changes[0].reason


def test_another_unit_keeps_the_task_if_it_is_told() -> None:
    quantity = ArgumentMap(argument="quantity", path="quantity")
    hundredths = ArgumentMap(argument="quantity", path="quantity", conversion=ScaleConversion(factor="100"))
    old = with_price(
        input_schema=schema(item=ITEM, quantity={"type": "integer", "minimum": 1}), binding=bound(TO_ITEM, quantity)
    )
    parameter = {"type": "integer", "minimum": 100}
    untold, told = (
        with_price(input_schema=schema(item=ITEM, quantity=parameter | words), binding=bound(TO_ITEM, hundredths))
        for words in ({}, {"description": "In hundredths of a piece."})
    )
    assert judged(untold, old) == [("X6", "preserving"), ("X6", "unknown")]
    assert judged(told, old) == [("T2", "unknown"), ("X6", "preserving"), ("X6", "preserving")]


def test_a_dictated_parameter_is_x9() -> None:
    binding = ToolBinding(
        cases=price_tool().binding.cases,  # type: ignore[union-attr]
        surface_constants=(SurfaceConstant(path="version", value="v2"),),
    )
    new = with_price(input_schema=schema(item=ITEM, currency=CURRENCY, version={"const": "v2"}), binding=binding)
    assert set(judged(new)) == {("X9", "preserving")}


def test_a_tool_split_by_a_value_is_x4_and_back_again_is_no_loss() -> None:
    def part(currency: str) -> Tool:
        binding = bound(TO_ITEM, constants={"currency": currency})
        return price_tool(
            id=currency.lower(), name=f"price_{currency}", input_schema=schema(item=ITEM), binding=binding
        )

    always = ArgumentMap(argument="currency", path="currency")
    whole = price_tool(
        input_schema=schema("item", "currency", item=ITEM, currency=CURRENCY), binding=bound(TO_ITEM, always)
    )
    old, new = shop(tools=(whole,)), shop(tools=(part("CNY"), part("USD")))
    assert judged(new, old) == [("X4", "preserving")] * 3
    assert assess(new, old, CATALOGUE).verdict == "preserving"
    assert assess(old, shop(tools=(part("CNY"),)), CATALOGUE).verdict == "not_preserving"


def test_tools_merged_behind_a_switch_are_x5() -> None:
    price, coupon = price_tool().binding, coupon_tool().binding
    assert price is not None
    assert coupon is not None
    merged = Tool(
        id="do",
        name="do",
        input_schema=schema(
            "action",
            action={"enum": ["price", "coupon"]},
            item=ITEM,
            currency=CURRENCY,
            code={"type": "string"},
        ),
        binding=ToolBinding(
            switch=("action",),
            cases=(
                price.cases[0].model_copy(update={"when": "price"}),
                coupon.cases[0].model_copy(update={"when": "coupon"}),
            ),
        ),
    )  # fmt: skip
    assert judged(shop(tools=(merged,))) == [("X5", "preserving")] * 3


def test_a_binding_pointed_at_another_operation_is_no_rename() -> None:
    new = shop(tools=(price_tool(binding=bound(ArgumentMap(argument="code", path="item"), operation="send_coupon")),))
    assert assess(shop(), new, CATALOGUE).verdict == "not_preserving"


def test_rules_that_cannot_be_compared_are_said_to_be_unknown() -> None:
    new = with_price(input_schema=schema(item=ITEM, currency=CURRENCY) | {"if": {"required": ["currency"]}})
    assert judged(new) == [("capability", "unknown")]


@pytest.mark.parametrize(
    ("section", "update", "expected"),
    [
        (1, {"body": "Never promise a discount over 20 %."}, ("policy", "not_preserving")),
        (1, {"body": "Never promise a discount over 20 %.", "is_policy": False}, ("policy", "not_preserving")),
        (1, {"body": "Never  promise a discount over 10 %.\n"}, ("P3", "preserving")),
        (0, {"body": "You are the host's helper."}, ("P3", "unknown")),
        (0, {"title": "Role"}, ("P3", "unknown")),
    ],
)
def test_sections(section: int, update: dict[str, Any], expected: tuple[str, str]) -> None:
    sections = list(shop().prompt)
    sections[section] = sections[section].model_copy(update=update)
    assert judged(shop(prompt=sections))[0] == expected


def test_sections_and_skills_that_come_go_and_move() -> None:
    persona, policy = shop().prompt
    sizing, prices = shop().skills
    assert judged(shop(prompt=(policy, persona))) == [("P1", "preserving")]
    assert judged(shop(prompt=(persona,))) == [("policy", "not_preserving")]
    assert judged(shop(prompt=(policy,))) == [("P5", "unknown")]
    assert judged(shop(skills=(prices, sizing))) == [("S4", "preserving")]
    assert judged(shop(skills=(sizing,))) == [("S5", "unknown")]
    assert judged(shop(skills=(sizing.model_copy(update={"name": "fit"}), prices))) == [("S1", "preserving")]
    assert judged(shop(skills=(sizing.model_copy(update={"body": "Ask."}), prices))) == [("S3", "unknown")]


def test_worked_examples() -> None:
    first, second = (Example(id=name, comment=f"How much is {name}?", reply="12.") for name in ("a", "b"))
    old = shop(examples=(first, second))
    assert judged(shop(examples=(second, first)), old) == [("P1", "preserving")]
    assert judged(shop(examples=(first,)), old) == [("P5", "unknown")]
    changed = first.model_copy(update={"comment": "What does a cost?"})
    (item,) = assess(old, shop(examples=(changed, second)), CATALOGUE).changes
    assert item.headline == "Comment of an example changed: How much is a? → What does a cost? (P3, unknown)"


def test_hiding_a_result_field_is_no_loss_where_another_tool_shows_it() -> None:
    hidden = ResultMap(fields=(ResultField(path="price", is_hidden=True),))
    twin = price_tool(id="twin", name="lookup")
    short = price_tool(binding=bound(TO_ITEM, TO_CURRENCY, result=hidden))
    assert judged(shop(tools=(short, twin)), shop(tools=(price_tool(), twin))) == [("X7", "preserving")]
    assert "no longer sees price" in only(shop(tools=(short, coupon_tool()))).reason


def test_hooks_that_enforce_are_policy_and_hooks_that_tell_are_text() -> None:
    clock, promise = shop().hooks
    evening = AddContext(text="It is evening.", slot="system_tail")
    words = AddContext(text="The sun is down.", slot="user_prefix")
    looser = CheckReply(mode="forbid", phrases=("promised",), on_violation="block")
    deny = Hook(id="deny", name="deny", event="PreToolUse", action=Deny(reason="Not now."))
    assert judged(shop(hooks=(clock.model_copy(update={"action": evening}), promise))) == [("H3", "preserving")]
    assert judged(shop(hooks=(clock.model_copy(update={"action": words}), promise))) == [("H2", "unknown")]
    assert judged(shop(hooks=(clock.model_copy(update={"name": "time"}), promise))) == [("H1", "preserving")]
    assert judged(shop(hooks=(clock.model_copy(update={"event": "SessionStart"}), promise))) == [("X15", "unknown")]
    assert judged(shop(hooks=(promise, clock))) == [("H5", "preserving")]
    assert judged(shop(hooks=(clock, promise.model_copy(update={"action": looser})))) == [("policy", "not_preserving")]
    assert judged(shop(hooks=(clock,))) == [("policy", "not_preserving")]
    assert judged(shop(hooks=(clock, promise, deny))) == [("policy", "not_preserving")]


def test_reasons_and_headlines_are_in_words_an_operator_knows() -> None:
    def said(**fields: Any) -> list[tuple[str, str]]:
        return [(item.headline, item.reason) for item in assess(shop(), with_price(**fields), CATALOGUE).changes]

    assert said(input_schema=schema(item=ITEM | {"maxLength": 3}, currency=CURRENCY)) == [
        (
            "MaxLength of item in get_price changed (capability, not preserving)",
            '"Look up a price", item: the limits on its values changed (no limit → maxLength 3).',
        )
    ]
    (removed, mapping) = said(input_schema=schema(item=ITEM), binding=bound(TO_ITEM))
    assert removed == (
        "Parameter currency of get_price removed (capability, not preserving)",
        '"Look up a price", currency: can no longer be given.',
    )
    assert mapping[0] == "Mapping of currency in get_price removed (capability, not preserving)"
    ((line, reason),) = said(binding=bound(TO_ITEM, TO_CURRENCY, operation="send_coupon"))
    assert line == "Operation of get_price changed: get_price → send_coupon (capability, not preserving)"
    assert '"Look up a price" can no longer be called with this tool.' in reason


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("call_format", "hermes", "Call format changed: plain → hermes (X1, preserving)"),
        ("tool_document_format", "json", "Tool document format changed: lines → json (X2, preserving)"),
        ("disclosure", "on_demand", "Disclosure changed: inline → on_demand (X14, preserving)"),
        ("heading_style", "plain", "Heading style changed: markdown → plain (P2, preserving)"),
        ("deadline_ms", 900, "Deadline ms changed: 8000 → 900 (runtime, unknown)"),
    ],
)
def test_runtime_settings(setting: str, value: Any, expected: str) -> None:
    assert only(shop(runtime={setting: value})).headline == expected


ANY = {"type": ["string", "integer", "boolean", "null"]}
OPERATIONS = {
    name: OperationSpec(
        name=name,
        title=name,
        description="",
        input_schema={"type": "object", "properties": dict.fromkeys("abcd", ANY), "required": list(required)},
        output_schema={"type": "object"},
    )
    for name, required in (("op1", ""), ("op2", "a"), ("op3", "ab"))
}


@given(specs, specs)
@settings(max_examples=40, deadline=None)
def test_a_harness_that_can_do_other_things_is_never_called_preserving(old: HarnessSpec, other: HarnessSpec) -> None:
    new = old.model_copy(update={"tools": other.tools})
    report = assess(old, new, OPERATIONS)
    for name, operation in OPERATIONS.items():
        difference = compare_doors(
            doors_to(name, old.tools, OPERATIONS), doors_to(name, new.tools, OPERATIONS), operation
        )
        if not difference.is_none:
            assert report.verdict != "preserving", difference
    for item in report.changes:
        assert item.family is None or item.family_title == FAMILY_TITLES[item.family]
        assert item.reason
        assert item.headline.endswith(f"{item.preserving.replace('_', ' ')})")
