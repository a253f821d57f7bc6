"""The canonical operations of the retail world: names and JSON Schemas. `reads` and `writes` do the work."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCatalogue, OperationSpec
from livestream import operations as shop_operations
from livestream.operations import CURRENCY, list_of, object_schema, optional, part, text

CANCEL_REASONS = ("no longer needed", "ordered by mistake")

_ORDER_ID = text("The order id, such as #W0000000, with the # at the beginning", minLength=1, maxLength=40)
_USER_ID = text("The user id, such as sara_doe_496", minLength=1, maxLength=80)
_PRODUCT_ID = text("The product id, such as 6086499569; it is not an item id", minLength=1, maxLength=40)
_METHOD_ID = text("The payment method id, such as gift_card_0000000", minLength=1, maxLength=80)
_ITEM_IDS: JsonObject = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 40},
    "minItems": 1,
    "maxItems": 50,
    "description": "Item ids; one that is meant twice is named twice",
}
_ADDRESS_KEYS = ("address1", "address2", "city", "state", "country", "zip")
_ADDRESS: JsonObject = {key: text(key, maxLength=200) for key in _ADDRESS_KEYS}
_OPTIONS: JsonObject = {"type": "object", "additionalProperties": {"type": "string"}, "description": "Options"}
_IDS = list_of(text("Item id"), "Item ids")


def _cents(description: str) -> JsonObject:
    return {"type": "integer", "description": f"{description}, in cents"}


_VARIANT: JsonObject = {
    "item_id": text("Item id"),
    "options": _OPTIONS,
    "available": {"type": "boolean", "description": "Whether it is in stock"},
    "price_minor": _cents("Price"),
}
_PRODUCT = object_schema(
    {
        "product_id": text("Product id"),
        "name": text("Product name"),
        "currency": CURRENCY,
        "variants": list_of(part(_VARIANT), "All variants"),
    }
)
_USER = object_schema(
    {
        "user_id": text("User id"),
        "name": part({"first_name": text("First name"), "last_name": text("Last name")}),
        "address": part(_ADDRESS),
        "email": text("E-mail address"),
        "currency": CURRENCY,
        "payment_methods": list_of(
            part(
                {
                    "id": text("Payment method id"),
                    "source": text("Kind", enum=["credit_card", "paypal", "gift_card"]),
                    "brand": optional(text("Brand of a credit card")),
                    "last_four": optional(text("Last four digits of a credit card")),
                    "balance_minor": optional(_cents("Balance of a gift card")),
                }
            ),
            "Ways to pay",
        ),
        "orders": list_of(text("Order id"), "The user's orders"),
    }
)
_ORDER = object_schema(
    {
        "order_id": text("Order id"),
        "user_id": text("User id"),
        "address": part(_ADDRESS),
        "status": text("Status"),
        "items": list_of(
            part(
                {
                    "name": text("Product name"),
                    "product_id": text("Product id"),
                    "item_id": text("Item id"),
                    "options": _OPTIONS,
                    "price_minor": _cents("Price when bought"),
                }
            ),
            "Items",
        ),
        "fulfillments": list_of(
            part({"tracking_id": list_of(text("Tracking id"), "Tracking ids"), "item_ids": _IDS}), "Shipments"
        ),
        "payment_history": list_of(
            part(
                {
                    "transaction_type": text("Direction", enum=["payment", "refund"]),
                    "payment_method_id": text("Payment method id"),
                    "amount_minor": _cents("Amount"),
                }
            ),
            "Payments and refunds",
        ),
        "cancel_reason": optional(text("Why it was cancelled")),
        "exchange_items": optional(_IDS),
        "exchange_new_items": optional(_IDS),
        "exchange_payment_method_id": optional(text("Payment method id")),
        "return_items": optional(_IDS),
        "return_payment_method_id": optional(text("Payment method id")),
        "exchange_price_difference_minor": optional(_cents("Price difference of the exchange")),
        "currency": CURRENCY,
    }
)


def _read(
    name: str, title: str, description: str, arguments: JsonObject, result: JsonObject, required: Sequence[str] | None = None
) -> OperationSpec:  # fmt: skip
    return OperationSpec(name, title, description, object_schema(arguments, required), result)


def _write(name: str, title: str, description: str, arguments: JsonObject, result: JsonObject) -> OperationSpec:
    return OperationSpec(name, title, description, object_schema(arguments), result, "write")


SPECS: tuple[OperationSpec, ...] = (
    _read(
        "list_product_types",
        "List product types",
        "Names and ids of all product types.",
        {},
        object_schema(
            {"products": list_of(part({"name": text("Name"), "product_id": text("Product id")}), "Sorted by name")}
        ),
    ),
    _read("get_product", "Product", "A product type with all its variants.", {"product_id": _PRODUCT_ID}, _PRODUCT),
    _read(
        "get_variant",
        "Variant",
        "One variant: options, price and availability.",
        {"item_id": text("The item id of the variant, such as 1008292230", minLength=1, maxLength=40)},
        object_schema(
            {**_VARIANT, "product_id": text("Product id"), "name": text("Product name"), "currency": CURRENCY}
        ),
    ),
    _read(
        "find_user",
        "Find user",
        "The id of a user, by e-mail address or by first name, last name and zip code.",
        {
            "email": text("E-mail address", maxLength=200),
            "first_name": text("First name", maxLength=100),
            "last_name": text("Last name", maxLength=100),
            "zip": text("Zip code", maxLength=20),
        },
        object_schema({"user_id": text("User id")}),
        (),
    ),
    _read("get_user", "User", "A user with address, payment methods and orders.", {"user_id": _USER_ID}, _USER),
    _read("get_order", "Order", "An order with status, items and payments.", {"order_id": _ORDER_ID}, _ORDER),
    _read(
        "calculate",
        "Calculate",
        "The value of an expression of numbers, + - * / and parentheses, rounded to two decimals.",
        {"expression": text("Such as 2 + 2", minLength=1, maxLength=200)},
        object_schema({"value": {"type": "number", "description": "The value"}}),
    ),
    _write(
        "cancel_order",
        "Cancel order",
        "Cancel a pending order and refund it.",
        {"order_id": _ORDER_ID, "reason": text("Why", enum=list(CANCEL_REASONS))},
        _ORDER,
    ),
    _write(
        "change_order_address",
        "Change order address",
        "Change where a pending order is sent.",
        {"order_id": _ORDER_ID, **_ADDRESS},
        _ORDER,
    ),
    _write(
        "change_order_items",
        "Change order items",
        "Replace items of a pending order by other variants of the same products. Once for an order.",
        {"order_id": _ORDER_ID, "item_ids": _ITEM_IDS, "new_item_ids": _ITEM_IDS, "payment_method_id": _METHOD_ID},
        _ORDER,
    ),
    _write(
        "change_order_payment",
        "Change order payment",
        "Pay a pending order in another way.",
        {"order_id": _ORDER_ID, "payment_method_id": _METHOD_ID},
        _ORDER,
    ),
    _write(
        "change_user_address",
        "Change user address",
        "Change the default address of a user.",
        {"user_id": _USER_ID, **_ADDRESS},
        _USER,
    ),
    _write(
        "return_order_items",
        "Return items",
        "Ask for the return of items of a delivered order.",
        {"order_id": _ORDER_ID, "item_ids": _ITEM_IDS, "payment_method_id": _METHOD_ID},
        _ORDER,
    ),
    _write(
        "exchange_order_items",
        "Exchange items",
        "Ask for the exchange of items of a delivered order for other variants of the same products.",
        {"order_id": _ORDER_ID, "item_ids": _ITEM_IDS, "new_item_ids": _ITEM_IDS, "payment_method_id": _METHOD_ID},
        _ORDER,
    ),
    shop_operations.CATALOGUE["hand_over"],
)

CATALOGUE: OperationCatalogue = MappingProxyType({spec.name: spec for spec in SPECS})
"""The operations of the retail world by name. `hand_over` is the very operation of the demo shop."""

ADDRESS_KEYS = _ADDRESS_KEYS
