"""A diff says what changed, component by component and parameter by parameter."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.changes import Change
from harnesses.core.diff import diff_specs
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import ArgumentMap, BindingCase, HarnessSpec, RecodePair, ResultField, ResultMap, ToolBinding
from tests.harnesses.small_specs import coupon_tool, price_tool, shop, specs

OPPOSITE = {"added": "removed", "removed": "added"}


def tool_changes(**changes: Any) -> list[tuple[str, str, Any, Any]]:
    """What the diff says of the price tool with fields replaced."""
    found = diff_specs(shop(), shop(tools=(price_tool(**changes), coupon_tool()))).changes
    return [(change.action, change.field, change.before, change.after) for change in found]


def binding(*arguments: ArgumentMap, result: ResultMap | None = None) -> ToolBinding:
    return ToolBinding(cases=(BindingCase(operation="get_price", arguments=arguments, result=result or ResultMap()),))


def properties(**parameters: JsonObject) -> JsonObject:
    return {"type": "object", "properties": parameters, "required": [next(iter(parameters))]}


ITEM = {"type": "string", "description": "Id of the item."}
CURRENCY = {"type": "string", "enum": ["CNY", "USD"]}


def with_keys_reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_keys_reversed(value[key]) for key in reversed(list(value))}
    return [with_keys_reversed(item) for item in value] if isinstance(value, list) else value


@given(specs)
@settings(max_examples=40, deadline=None)
def test_a_harness_does_not_differ_from_itself_nor_from_itself_with_json_keys_in_another_order(
    spec: HarnessSpec,
) -> None:
    other = HarnessSpec.model_validate(with_keys_reversed(spec.document()))
    assert diff_specs(spec, spec).is_empty
    assert diff_specs(spec, other).is_empty
    assert spec.spec_hash == other.spec_hash


@given(specs, specs)
@settings(max_examples=60, deadline=None)
def test_a_diff_is_empty_exactly_when_the_hashes_are_equal_and_its_kinds_mirror_when_turned_round(
    old: HarnessSpec, new: HarnessSpec
) -> None:
    there, back = diff_specs(old, new), diff_specs(new, old)
    assert there.is_empty == (old.spec_hash == new.spec_hash)

    def components(changes: tuple[Change, ...], swap: bool) -> Counter[tuple[str, str, str]]:
        whole = [change for change in changes if change.field in ("", "order", "name", "title")]
        return Counter(
            (OPPOSITE.get(change.action, change.action) if swap else change.action, change.kind, change.component_id)
            for change in whole
        )

    assert components(there.changes, swap=True) == components(back.changes, swap=False)


@given(specs, st.data())
@settings(max_examples=60, deadline=None)
def test_one_field_changed_anywhere_is_never_missed(spec: HarnessSpec, data: st.DataObject) -> None:
    other = data.draw(specs)
    kind = data.draw(st.sampled_from(["prompt", "skills", "tools", "hooks", "examples", "runtime"]))
    new = spec.model_copy(update={kind: getattr(other, kind)})
    assert diff_specs(spec, new).is_empty == (spec.spec_hash == new.spec_hash)


def test_a_rename_is_a_rename() -> None:
    assert tool_changes(name="fetch_price") == [("renamed", "name", "get_price", "fetch_price")]
    change = diff_specs(shop(), shop(tools=(price_tool(name="fetch_price"), coupon_tool()))).changes[0]
    assert (change.old_name, change.new_name, change.component_id) == ("get_price", "fetch_price", "price")


def test_a_reorder_is_one_reorder() -> None:
    (change,) = diff_specs(shop(), shop(tools=(coupon_tool(), price_tool()))).changes
    assert (change.action, change.kind, change.before, change.after) == (
        "reordered",
        "tool",
        ["price", "coupon"],
        ["coupon", "price"],
    )


def test_what_moves_because_something_was_put_in_front_of_it_is_not_reordered() -> None:
    extra = price_tool(id="other", name="other")
    (change,) = diff_specs(shop(), shop(tools=(extra, price_tool(), coupon_tool()))).changes
    assert (change.action, change.component_id) == ("added", "other")
    (change,) = diff_specs(shop(), shop(tools=(coupon_tool(),))).changes
    assert (change.action, change.component_name) == ("removed", "get_price")


def test_a_renamed_parameter_is_known_by_its_binding() -> None:
    found = tool_changes(
        input_schema=properties(product=ITEM, currency=CURRENCY),
        binding=binding(
            ArgumentMap(argument="item", path="product"), ArgumentMap(argument="currency", path="currency")
        ),
    )
    assert found == [("renamed", "input_schema.properties.product", "item", "product")]


def test_two_parameters_that_swap_their_names_are_two_renames() -> None:
    found = tool_changes(
        input_schema={"type": "object", "properties": {"currency": ITEM, "item": CURRENCY}, "required": ["currency"]},
        binding=binding(ArgumentMap(argument="item", path="currency"), ArgumentMap(argument="currency", path="item")),
    )
    assert sorted(found) == [
        ("renamed", "input_schema.properties.currency", "item", "currency"),
        ("renamed", "input_schema.properties.item", "currency", "item"),
    ]


def test_a_nested_parameter_is_the_parameter_it_was() -> None:
    nested = {"type": "object", "properties": {"product": {"type": "object", "properties": {"item": ITEM}}}}
    nested["properties"]["currency"] = CURRENCY  # type: ignore[index]
    found = tool_changes(
        input_schema=nested,
        binding=binding(
            ArgumentMap(argument="item", path=("product", "item")), ArgumentMap(argument="currency", path="currency")
        ),
    )
    assert ("renamed", "input_schema.properties.product.properties.item", "item", "product.item") in found
    assert not [change for change in found if change[0] in ("added", "removed")]


def test_a_parameter_described_differently_is_named_with_its_field() -> None:
    found = tool_changes(input_schema=properties(item=ITEM | {"description": "The item."}, currency=CURRENCY))
    assert found == [("changed", "input_schema.properties.item.description", "Id of the item.", "The item.")]


def test_parameters_added_and_removed_and_made_required() -> None:
    found = tool_changes(input_schema=properties(item=ITEM, note={"type": "string"}))
    assert found == [
        ("removed", "input_schema.properties.currency", CURRENCY, None),
        ("added", "input_schema.properties.note", None, {"type": "string"}),
    ]
    schema = properties(item=ITEM, currency=CURRENCY) | {"required": ["item", "currency"]}
    assert tool_changes(input_schema=schema) == [("changed", "input_schema.properties.currency.required", False, True)]


def test_an_enum_recode_names_the_enum_and_the_recode() -> None:
    pairs = (RecodePair(operation="CNY", surface="A"), RecodePair(operation="USD", surface="B"))
    found = tool_changes(
        input_schema=properties(item=ITEM, currency=CURRENCY | {"enum": ["A", "B"]}),
        binding=binding(
            ArgumentMap(argument="item", path="item"), ArgumentMap(argument="currency", path="currency", recode=pairs)
        ),
    )
    assert [change[1] for change in found] == [
        "input_schema.properties.currency.enum",
        "binding.cases.get_price.arguments.currency.recode",
    ]


def test_reordered_parameters_are_one_reorder() -> None:
    assert tool_changes(parameter_order=("currency", "item")) == [
        ("reordered", "parameter_order", ["item", "currency"], ["currency", "item"])
    ]
    assert tool_changes(parameter_order=("item", "currency"))[0][:2] == ("changed", "parameter_order")


def test_a_renamed_result_key_is_a_rename() -> None:
    result = ResultMap(fields=(ResultField(path="price", name="amount"),))
    arguments = (ArgumentMap(argument="item", path="item"), ArgumentMap(argument="currency", path="currency"))
    assert tool_changes(binding=binding(*arguments, result=result)) == [
        ("renamed", "binding.cases.get_price.result.fields.price", "price", "amount")
    ]


def test_a_runtime_setting_is_named() -> None:
    old = shop()
    new = old.model_copy(update={"runtime": old.runtime.model_copy(update={"call_format": "hermes"})})
    (change,) = diff_specs(old, new).changes
    assert (change.kind, change.field, change.before, change.after) == ("runtime", "call_format", "plain", "hermes")
