"""The retail operations and the package's own tools agree, call for call, on generated changes of real orders."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harnesses.core.bindings import to_operation_call, to_surface_result
from livestream.retail import data as retail_data
from livestream.retail import retail_harness, retail_world
from tests.livestream import package_tools

RAW = json.loads(retail_data.package_text("db.json"))
WORLD = retail_world()
HARNESS = retail_harness()
ADDRESS = {"address1": "1 Elm St", "address2": "", "city": "Reno", "state": "NV", "country": "USA", "zip": "89501"}


@pytest.fixture(scope="module")
def package() -> Any:
    return package_tools.load()


def theirs(package: Any, tool: str, arguments: dict[str, Any], user_ids: set[str]) -> tuple[Any, dict[str, Any]]:
    """What the package's tool gives (None for an error) and the users afterwards, on data of its own."""
    model, toolkit = package
    order_id = arguments.get("order_id")
    orders = {order_id: RAW["orders"][order_id]} if order_id in RAW["orders"] else {}
    bought = {item["product_id"] for order in orders.values() for item in order["items"]}
    data = {
        "products": {key: RAW["products"][key] for key in bought},
        "users": {key: RAW["users"][key] for key in user_ids},
        "orders": orders,
    }
    database = model.RetailDB.model_validate(deepcopy(data))
    try:
        given_back = getattr(toolkit(database), tool)(**arguments)
    except ValueError:
        return None, _users(database)
    return given_back.model_dump(), _users(database)


def _users(database: Any) -> dict[str, Any]:
    return {key: user.model_dump() for key, user in database.users.items()}


def ours(tool_name: str, arguments: dict[str, Any], user_ids: set[str]) -> tuple[Any, dict[str, Any]]:
    """The same through the harness's bindings, in the package's own keys."""
    tool = HARNESS.tool_named(tool_name)
    details = HARNESS.tool_named("get_user_details")
    assert tool is not None
    assert details is not None
    bound = to_operation_call(tool, arguments)
    state, result = WORLD.execute(WORLD.open(0), bound.call)
    users = {}
    for user_id in user_ids:
        look = to_operation_call(details, {"user_id": user_id})
        users[user_id] = to_surface_result(look.case, WORLD.execute(state, look.call)[1].value)
    return (None if result.error else to_surface_result(bound.case, result.value)), users


def rounded(value: Any) -> Any:
    """Floats to cents, nulls left out, methods keyed by id: what the two sides may differ in without meaning anything."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items() if each is not None}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "source" in value[0]:
        return {each["id"]: rounded(each) for each in value}
    return [rounded(each) for each in value] if isinstance(value, list) else value


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A change of a real order: mostly sensible, sometimes with a wrong id, reason, item or payment method."""
    order_id = draw(st.sampled_from(sorted(RAW["orders"])))
    order = RAW["orders"][order_id]
    wallet = sorted(RAW["users"][order["user_id"]]["payment_methods"])
    items = draw(st.lists(st.sampled_from(order["items"]), min_size=1, max_size=2))
    new = [draw(st.sampled_from(sorted(RAW["products"][item["product_id"]]["variants"]))) for item in items]
    some = {
        "order_id": draw(st.sampled_from([order_id] * 9 + ["#W0"])),
        "item_ids": [item["item_id"] for item in items],
        "new_item_ids": draw(st.sampled_from([new] * 6 + [new[:1], ["1"] * len(new)])),
        "payment_method_id": draw(st.sampled_from(wallet * 3 + ["paypal_0"])),
        "reason": draw(st.sampled_from(["no longer needed", "ordered by mistake", "too dear"])),
        "user_id": draw(st.sampled_from([order["user_id"], "nobody"])),
        **ADDRESS,
    }
    tool = draw(st.sampled_from([tool for tool in HARNESS.tools if not tool.annotations["readOnlyHint"]]))
    return tool.name, {name: some[name] for name in tool.parameter_order}


@given(changes())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_refuse_the_same_changes_and_make_the_same_changes(
    package: Any, change: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = change
    order = RAW["orders"].get(arguments.get("order_id"))
    user_ids = {order["user_id"]} if order else set()
    if arguments.get("user_id") in RAW["users"]:
        user_ids = {arguments["user_id"]}
    expected, users_expected = theirs(package, tool, arguments, user_ids)
    found, users_found = ours(tool, arguments, user_ids)
    if tool == "modify_pending_order_items" and len(arguments["item_ids"]) > 1 and expected and found:
        for result in (expected, found):  # the package gives every new item the price of the last one
            result["items"] = [item["item_id"] for item in result["items"]]
    assert rounded(found) == rounded(expected)
    assert rounded(users_found) == rounded(users_expected)
