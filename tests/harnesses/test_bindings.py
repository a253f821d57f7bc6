"""Bindings by example: each way in which a tool's face can differ from its operation, both ways, and every refusal in words."""

from __future__ import annotations

from typing import Any

import pytest

from harnesses.core.bindings import (
    BindingError,
    coerce_arguments,
    identity_binding,
    normal_arguments,
    surface_argument_name,
    to_operation_call,
    to_operation_result,
    to_surface_call,
    to_surface_result,
)
from harnesses.core.operations import OperationCall, OperationSpec
from harnesses.core.spec import BindingCase, HarnessSpec, ResultMap, Tool


def tool(
    properties: dict, binding: dict, *, required: tuple[str, ...] = (), name: str = "quote", **extra: object
) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool.model_validate({"id": name, "name": name, "input_schema": schema, "binding": binding, **extra})


def one_case(*arguments: dict, **case: object) -> dict:
    return {"cases": [{"operation": "price.get", "arguments": list(arguments), **case}]}


def assert_both_ways(a_tool: Tool, surface: dict, operation: dict) -> None:
    call = to_operation_call(a_tool, surface).call
    assert call == OperationCall("price.get", operation)
    back = to_surface_call(HarnessSpec(tools=(a_tool,)), call)
    assert (back.tool_id, back.arguments) == (a_tool.id, surface)
    assert normal_arguments(a_tool, surface) == surface


WHOLE = {"type": "integer"}
TEXT = {"type": "string"}
SCALE = {"kind": "scale", "factor": "0.01"}

BOTH_WAYS: dict[str, Any] = {
    "a rename": (
        tool({"sku": TEXT}, one_case({"argument": "item_id", "path": "sku"})),
        {"sku": "a1"},
        {"item_id": "a1"},
    ),
    "nesting": (
        tool(
            {"filter": {"type": "object", "properties": {"sku": TEXT}}},
            one_case({"argument": "item_id", "path": ["filter", "sku"]}),
        ),
        {"filter": {"sku": "a1"}},
        {"item_id": "a1"},
    ),
    "a recode": (
        tool(
            {"c": WHOLE}, one_case({"argument": "colour", "path": "c", "recode": [{"operation": "red", "surface": 1}]})
        ),
        {"c": 1},
        {"colour": "red"},
    ),
    "a recode of true beside 1": (
        tool(
            {"c": {}},
            one_case(
                {
                    "argument": "flag",
                    "path": "c",
                    "recode": [{"operation": "one", "surface": 1}, {"operation": "yes", "surface": True}],
                }
            ),
        ),
        {"c": True},
        {"flag": "yes"},
    ),
    "a recode of a list": (
        tool(
            {"c": {"type": "array", "items": TEXT}},
            one_case({"argument": "colours", "path": "c", "recode": [{"operation": "red", "surface": "R"}]}),
        ),
        {"c": ["R", "R"]},
        {"colours": ["red", "red"]},
    ),
    "a scale": (
        tool({"yuan": {"type": "number"}}, one_case({"argument": "fen", "path": "yuan", "conversion": SCALE})),
        {"yuan": 12.34},
        {"fen": 1234},
    ),
    "a number written as text": (
        tool({"n": TEXT}, one_case({"argument": "count", "path": "n", "conversion": {"kind": "text"}})),
        {"n": "3"},
        {"count": 3},
    ),
    "a time as epoch seconds": (
        tool({"at": WHOLE}, one_case({"argument": "time", "path": "at", "conversion": {"kind": "epoch"}})),
        {"at": 1769889600},
        {"time": "2026-01-31T20:00:00Z"},
    ),
    "a constant": (
        tool({"sku": TEXT}, one_case({"argument": "item_id", "path": "sku"}, constants={"currency": "CNY"})),
        {"sku": "a1"},
        {"item_id": "a1", "currency": "CNY"},
    ),
    "a default left out": (
        tool({"n": WHOLE}, one_case({"argument": "count", "path": "n", "default": 1})),
        {},
        {"count": 1},
    ),
    "a default that the schema wants written": (
        tool({"n": WHOLE}, one_case({"argument": "count", "path": "n", "default": 1}), required=("n",)),
        {"n": 1},
        {"count": 1},
    ),
    "a dictated surface value": (
        tool(
            {"sku": TEXT, "mode": TEXT},
            one_case({"argument": "item_id", "path": "sku"})
            | {"surface_constants": [{"path": "mode", "value": "live"}]},
        ),
        {"sku": "a1", "mode": "live"},
        {"item_id": "a1"},
    ),
}


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_call_maps_to_its_operation_and_back(name: str) -> None:
    assert_both_ways(*BOTH_WAYS[name])


def test_an_object_the_schema_requires_is_written_even_if_all_in_it_is_at_its_default() -> None:
    nested = {"type": "object", "properties": {"n": WHOLE}, "required": ["n"]}
    a_tool = tool(
        {"page": nested}, one_case({"argument": "count", "path": ["page", "n"], "default": 1}), required=("page",)
    )
    assert_both_ways(a_tool, {"page": {"n": 1}}, {"count": 1})


def test_one_tool_covers_two_operations_behind_a_switch() -> None:
    binding = {
        "switch": "action",
        "cases": [
            {"operation": "price.get", "when": "price", "arguments": [{"argument": "item_id", "path": "sku"}]},
            {"operation": "card.push", "when": "show", "arguments": [{"argument": "item", "path": "card"}]},
        ],
    }
    a_tool = tool({"action": TEXT, "sku": TEXT, "card": TEXT}, binding, required=("action",))
    assert_both_ways(a_tool, {"action": "price", "sku": "a1"}, {"item_id": "a1"})
    assert to_operation_call(a_tool, {"action": "show", "card": "a1"}).call == OperationCall(
        "card.push", {"item": "a1"}
    )
    with pytest.raises(BindingError, match='"card" is not used when "action" is "price"') as caught:
        to_operation_call(a_tool, {"action": "price", "sku": "a1", "card": "a1"})
    assert caught.value.path == ("card",)
    with pytest.raises(BindingError, match='"action" must be one of "price", "show"'):
        to_operation_call(a_tool, {"action": "sell"})


def test_a_switch_left_out_is_told() -> None:
    a_tool = tool({"action": TEXT}, {"switch": "action", "cases": [{"operation": "price.get", "when": "price"}]})
    with pytest.raises(BindingError, match='"action" is missing; give one of "price"') as caught:
        to_operation_call(a_tool, {})
    assert caught.value.code == "missing_argument"


def test_a_switch_tells_true_from_1() -> None:
    cases = [{"operation": "price.get", "when": 1}, {"operation": "card.push", "when": True}]
    a_tool = tool({"action": {}}, {"switch": "action", "cases": cases})
    assert to_operation_call(a_tool, {"action": True}).call.operation == "card.push"
    assert to_operation_call(a_tool, {"action": 1}).call.operation == "price.get"


def test_one_operation_split_among_tools_is_reached_by_the_one_made_for_it() -> None:
    general = tool({"k": TEXT}, one_case({"argument": "kind", "path": "k"}), name="general")
    coupon = tool({}, one_case(constants={"kind": "coupon"}), name="coupon")
    spec = HarnessSpec(tools=(general, coupon))
    assert to_surface_call(spec, OperationCall("price.get", {"kind": "coupon"})).tool_id == "coupon"
    assert to_surface_call(spec, OperationCall("price.get", {"kind": "gift"})).tool_id == "general"


def test_ignored_and_undirected_arguments_reach_nothing_and_are_left_out_of_the_normal_form() -> None:
    binding = one_case({"argument": "item_id", "path": "sku"}, {"argument": "n", "path": "n", "default": 1})
    a_tool = tool({"sku": TEXT, "n": WHOLE, "note": TEXT, "mood": TEXT}, {**binding, "ignored": ["note"]})
    given = {"sku": "a1", "n": 1, "note": "x", "mood": "y"}
    assert to_operation_call(a_tool, given).call.arguments == {"item_id": "a1", "n": 1}
    assert normal_arguments(a_tool, given) == {"sku": "a1"}


TYPED = tool(
    {
        "sku": TEXT,
        "n": WHOLE,
        "colour": {"enum": ["red", "blue"]},
        "mode": {"const": "x"},
        "code": {"type": "string", "maxLength": 3},
    },
    one_case({"argument": "item_id", "path": "sku"}),
    required=("sku",),
)


@pytest.mark.parametrize(
    ("arguments", "code", "path", "words"),
    [
        ({}, "missing_argument", ("sku",), '"sku" is missing; give a text.'),
        ({"sku": 3}, "wrong_type", ("sku",), '"sku" must be a text, not 3.'),
        ({"sku": "a", "n": "3"}, "wrong_type", ("n",), '"n" must be a whole number, not "3".'),
        ({"sku": "a", "n": True}, "wrong_type", ("n",), '"n" must be a whole number, not true.'),
        ({"sku": "a", "colour": "green"}, "wrong_value", ("colour",), 'must be one of "red", "blue", not "green".'),
        ({"sku": "a", "mode": "y"}, "wrong_value", ("mode",), '"mode" must be "x", not "y".'),
        ({"sku": "a", "code": "toolong"}, "wrong_value", ("code",), '"code" breaks the rule maxLength (3): "toolong".'),
        ({"sku": "a", "size": 3}, "unknown_argument", ("size",), '"size" is not known here; possible are code, colour'),
        ([], "wrong_type", (), "The arguments must be an object, not []."),
    ],
)
def test_arguments_that_break_the_schema_are_told_in_words(arguments, code, path, words) -> None:
    with pytest.raises(BindingError) as caught:
        to_operation_call(TYPED, arguments)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert words in caught.value.message


def test_a_long_list_of_choices_is_cut_in_the_message() -> None:
    options = [f"item-{n}" for n in range(4_000)]
    a_tool = tool({"sku": {"enum": options}}, one_case({"argument": "item_id", "path": "sku"}))
    with pytest.raises(BindingError, match='"item-29", …, not "x"') as caught:
        to_operation_call(a_tool, {"sku": "x"})
    assert len(caught.value.message) < 500


def test_an_unknown_argument_is_refused_even_where_the_schema_is_open() -> None:
    a_tool = Tool.model_validate(
        {
            "id": "q",
            "name": "q",
            "input_schema": {"type": "object", "properties": {"sku": {"type": "string"}}},
            "binding": one_case({"argument": "item_id", "path": "sku"}),
        }
    )
    with pytest.raises(BindingError, match='"item_id" is not known here; possible are sku') as caught:
        to_operation_call(a_tool, {"item_id": "a1"})
    assert caught.value.code == "unknown_argument"


@pytest.mark.parametrize(
    ("conversion", "value", "words"),
    [
        ({"kind": "scale", "factor": "3"}, 10, '"x" cannot be 10; use a multiple of 3.'),
        ({"kind": "scale", "factor": "3"}, "6", '"x" must be a number, not "6".'),
        ({"kind": "scale", "factor": "3"}, True, '"x" must be a number, not true.'),
        ({"kind": "text"}, "three", "must be a number written as a text"),
        ({"kind": "text"}, "03", "must be a number written as a text"),
        ({"kind": "text"}, 3, "must be a number written as a text"),
        ({"kind": "text"}, "9" * 5000, "must be a number written as a text"),
        ({"kind": "text"}, "1e999", "must be a number written as a text"),
        ({"kind": "epoch"}, "2026-01-31", "must be a time in whole seconds"),
        ({"kind": "epoch"}, 1.5, "must be a time in whole seconds"),
        ({"kind": "epoch"}, True, "must be a time in whole seconds"),
        ({"kind": "epoch"}, 10**20, "is no time between the years 1 and 9999"),
    ],
)
def test_values_without_an_exact_counterpart_are_refused(conversion, value, words) -> None:
    a_tool = tool({"x": {}}, one_case({"argument": "y", "path": "x", "conversion": conversion}))
    with pytest.raises(BindingError) as caught:
        to_operation_call(a_tool, {"x": value})
    assert caught.value.code == "wrong_value"
    assert words in caught.value.message


def test_a_recoded_argument_takes_listed_values_only() -> None:
    a_tool = tool(
        {"c": TEXT}, one_case({"argument": "colour", "path": "c", "recode": [{"operation": "red", "surface": "R"}]})
    )
    with pytest.raises(BindingError, match='"c" must be one of "R", not "red"'):
        to_operation_call(a_tool, {"c": "red"})
    with pytest.raises(BindingError, match="No tool of this harness reaches") as caught:
        to_surface_call(HarnessSpec(tools=(a_tool,)), OperationCall("price.get", {"colour": "blue"}))
    assert caught.value.code == "unreachable"


@pytest.mark.parametrize(
    ("given", "words"), [({}, '"m" is missing; it must be true'), ({"m": 1}, '"m" must be true, not 1')]
)
def test_a_dictated_value_must_be_that_very_value(given, words) -> None:
    a_tool = tool({"m": {}}, one_case() | {"surface_constants": [{"path": "m", "value": True}]})
    with pytest.raises(BindingError, match=words):
        to_operation_call(a_tool, given)


@pytest.mark.parametrize(
    "call",
    [
        OperationCall("card.push", {}),
        OperationCall("price.get", {"item_id": "a", "extra": 1}),
        OperationCall("price.get", {"item_id": 3, "count": 1}),
        OperationCall("price.get", {"item_id": "a"}),
    ],
)
def test_a_call_that_no_tool_can_say_is_unreachable(call: OperationCall) -> None:
    binding = one_case({"argument": "item_id", "path": "sku"}, {"argument": "count", "path": "n", "default": 1})
    spec = HarnessSpec(tools=(tool({"sku": TEXT, "n": WHOLE}, binding),))
    with pytest.raises(BindingError) as caught:
        to_surface_call(spec, call)
    assert caught.value.code == "unreachable"


def test_a_tool_without_a_binding_or_with_a_broken_schema_is_told() -> None:
    bare = Tool(id="q", name="q", input_schema={"type": "object"})
    with pytest.raises(BindingError, match="not connected to anything yet"):
        to_operation_call(bare, {})
    for schema in ({"type": "objet"}, {"$ref": "#"}, {"$ref": "https://example.org/x.json"}, {"$ref": "#/$defs/no"}):
        broken = Tool.model_validate({"id": "q", "name": "q", "input_schema": schema, "binding": one_case()})
        with pytest.raises(BindingError) as caught:
            to_operation_call(broken, {"a": 1})
        assert caught.value.code == "broken_schema"


def test_mapping_a_call_leaves_the_specification_untouched() -> None:
    a_tool = tool({}, one_case(constants={"filter": {"a": [1]}}))
    to_operation_call(a_tool, {}).call.arguments["filter"]["a"].append(2)
    assert to_operation_call(a_tool, {}).call.arguments == {"filter": {"a": [1]}}


# --- results -------------------------------------------------------------------------------------------------------------


def case_showing(**result: object) -> BindingCase:
    return BindingCase(operation="price.get", result=ResultMap.model_validate(result))


RESULTS: dict[str, Any] = {
    "as it is": ({}, {"price": 1, "tags": ["a"]}, {"price": 1, "tags": ["a"]}),
    "renamed": ({"fields": [{"path": "price", "name": "cost"}]}, {"price": 1, "x": None}, {"cost": 1, "x": None}),
    "two names swapped": (
        {"fields": [{"path": "a", "name": "b"}, {"path": "b", "name": "a"}]},
        {"a": 1, "b": 2},
        {"b": 1, "a": 2},
    ),
    "in a list, below a renamed key": (
        {
            "fields": [
                {"path": "items", "name": "hits"},
                {"path": ["items", "fen"], "name": "yuan", "conversion": SCALE},
            ]
        },
        {"items": [{"fen": 150, "id": "a"}, {"fen": None, "id": "b"}]},
        {"hits": [{"yuan": 1.5, "id": "a"}, {"yuan": None, "id": "b"}]},
    ),
    "a list recoded element by element": (
        {"fields": [{"path": "sizes", "recode": [{"operation": "S", "surface": "small"}]}]},
        {"sizes": ["S", "XL"]},
        {"sizes": ["small", "XL"]},
    ),
    "wrapped": ({"wrap": ["data", "answer"]}, {"price": 1}, {"data": {"answer": {"price": 1}}}),
    "a time": (
        {"fields": [{"path": "at", "conversion": {"kind": "epoch"}}]},
        {"at": "1970-01-01T00:01:00Z"},
        {"at": 60},
    ),
    "a number as text": ({"fields": [{"path": "n", "conversion": {"kind": "text"}}]}, {"n": 2.5}, {"n": "2.5"}),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_maps_to_the_surface_and_back(name: str) -> None:
    result_map, value, shown = RESULTS[name]
    case = case_showing(**result_map)
    assert to_surface_result(case, value) == shown
    assert to_operation_result(case, shown) == value


@pytest.mark.parametrize(
    ("result_map", "value", "words"),
    [
        ({"fields": [{"path": "a", "name": "b"}]}, {"b": 1, "a": 2}, 'Two fields of the result would be named "b"'),
        ({"fields": [{"path": "a", "conversion": SCALE}]}, {"a": "much"}, 'result field "a" must be a number'),
        (
            {"fields": [{"path": "a", "conversion": {"kind": "scale", "factor": "1.00000001"}}]},
            {"a": 0.12345678901234567},
            "needs more digits than a number can hold",
        ),
        ({"fields": [{"path": "a", "conversion": {"kind": "epoch"}}]}, {"a": "today"}, "must be a UTC time"),
        ({"fields": [{"path": "a", "recode": [{"operation": 1, "surface": 2}]}]}, {"a": 2}, "must be one of 1"),
    ],
)
def test_a_result_that_could_not_be_read_back_is_refused(result_map, value, words) -> None:
    with pytest.raises(BindingError) as caught:
        to_surface_result(case_showing(**result_map), value)
    assert caught.value.code == "unmapped_result"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("result_map", "shown"),
    [
        ({"wrap": ["data"]}, {"price": 1}),
        ({"wrap": ["data"]}, {"data": 3}),
        ({"fields": [{"path": "price", "name": "cost"}]}, {"price": 1}),
    ],
)
def test_a_shown_result_that_no_operation_gave_is_refused(result_map, shown) -> None:
    with pytest.raises(BindingError):
        to_operation_result(case_showing(**result_map), shown)


# --- helpers -------------------------------------------------------------------------------------------------------------


def test_operation_arguments_are_told_by_the_name_the_model_knows() -> None:
    case = BindingCase.model_validate(
        {"operation": "o", "arguments": [{"argument": "lines", "path": ["order", "rows"]}], "constants": {"kind": "x"}}
    )
    assert surface_argument_name(case, "lines") == "order.rows"
    assert surface_argument_name(case, "lines.0.quantity") == "order.rows.0.quantity"
    assert surface_argument_name(case, "kind") == ""


def test_an_identity_binding_looks_just_like_the_operation() -> None:
    operation = OperationSpec("price.get", "", "", {"type": "object", "properties": {"b": WHOLE, "a": TEXT}}, {})
    a_tool = Tool(id="p", name="p", input_schema=operation.input_schema, binding=identity_binding(operation))
    assert_both_ways(a_tool, {"a": "x", "b": 1}, {"a": "x", "b": 1})


def test_texts_are_coerced_only_where_the_schema_says_exactly_that_type() -> None:
    a_tool = tool(
        {
            "n": WHOLE,
            "price": {"$ref": "#/$defs/price"},
            "is_new": {"type": "boolean"},
            "either": {"type": ["integer", "string"]},
            "text": TEXT,
            "bad": WHOLE,
            "half": WHOLE,
            "list": {"type": "array", "items": WHOLE},
            "nest": {"type": "object", "properties": {"n": WHOLE}},
        },
        one_case(),
    )
    a_tool.input_schema["$defs"] = {"price": {"type": "number"}}
    given = {"n": "3", "price": "2.5", "is_new": "True", "either": "3", "text": "3", "bad": "three", "half": "1.5"}
    assert coerce_arguments(a_tool, {**given, "list": ["1", "x"], "nest": {"n": "4"}, "unknown": "5"}) == {
        "n": 3,
        "price": 2.5,
        "is_new": True,
        "either": "3",
        "text": "3",
        "bad": "three",
        "half": "1.5",
        "list": [1, "x"],
        "nest": {"n": 4},
        "unknown": "5",
    }
