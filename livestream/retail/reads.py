"""The look-ups of the retail world: each takes checked arguments and gives a record that the caller must not change."""

from __future__ import annotations

from harnesses.core.jsonvalues import JsonObject
from livestream.arguments import OperationFailed
from livestream.retail.arithmetic import calculate as value_of
from livestream.retail.state import Draft


def list_product_types(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Names and ids of the product types, by name."""
    products = sorted(draft.database.products.values(), key=lambda product: product["name"])
    return {"products": [{"name": product["name"], "product_id": product["product_id"]} for product in products]}


def get_product(draft: Draft, arguments: JsonObject) -> JsonObject:
    """One product type with all its variants."""
    return draft.read_product(arguments["product_id"])


def get_variant(draft: Draft, arguments: JsonObject) -> JsonObject:
    """One variant, found over all products."""
    item_id = arguments["item_id"]
    for product in draft.database.products.values():
        variant = draft.database.variant(product["product_id"], item_id)
        if variant is not None:
            return {**variant, **{key: product[key] for key in ("product_id", "name", "currency")}}
    raise OperationFailed("not_found", f"Item not found: {item_id}.", "item_id")


def find_user(draft: Draft, arguments: JsonObject) -> JsonObject:
    """By e-mail if one is given, else by name and zip code; upper and lower case do not matter."""
    if "email" in arguments:
        wanted = arguments["email"].lower()
        matches = [user for user in draft.users() if user["email"].lower() == wanted]
    elif {"first_name", "last_name", "zip"} <= set(arguments):
        wanted = tuple(arguments[key].lower() for key in ("first_name", "last_name", "zip"))
        matches = [user for user in draft.users() if _name_and_zip(user) == wanted]
    else:
        message = "Say the e-mail address, or else first name, last name and zip code together."
        raise OperationFailed("invalid_argument", message)
    if not matches:
        raise OperationFailed("not_found", "User not found.")
    return {"user_id": matches[0]["user_id"]}


def _name_and_zip(user: JsonObject) -> tuple[str, str, str]:
    name = user["name"]
    return name["first_name"].lower(), name["last_name"].lower(), user["address"]["zip"].lower()


def get_user(draft: Draft, arguments: JsonObject) -> JsonObject:
    """One user as this state has it."""
    return draft.read_user(arguments["user_id"])


def get_order(draft: Draft, arguments: JsonObject) -> JsonObject:
    """One order as this state has it."""
    return draft.read_order(arguments["order_id"])


def calculate(draft: Draft, arguments: JsonObject) -> JsonObject:
    """The value of an arithmetic expression."""
    return {"value": value_of(arguments["expression"])}
