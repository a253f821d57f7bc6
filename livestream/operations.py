"""The canonical operations of the live-stream world: what can be looked up and done in a room, and with which JSON Schemas.

Here are the names and shapes only; `livestream.execution` does the work. Arguments are flat. Money is an integer in minor units
(fen for CNY) in a key that ends in `_minor`, with `currency` beside it. Every result is an object with all keys present; an
unknown or missing value is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCatalogue, OperationSpec
from livestream.catalogue import CATEGORIES, HANDOVER_REASONS, POLICY_TOPICS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def object_schema(properties: JsonObject, required: Sequence[str] | None = None) -> JsonObject:
    """A closed object schema. `required` None: every property is required (the rule for results)."""
    return {
        "$schema": DIALECT,
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def part(properties: JsonObject) -> JsonObject:
    """A closed object inside another schema, every property required."""
    schema = object_schema(properties)
    del schema["$schema"]
    return schema


def text(description: str, **more: object) -> JsonObject:
    """A string property."""
    return {"type": "string", "description": description, **more}


def list_of(items: JsonObject, description: str) -> JsonObject:
    """An array property."""
    return {"type": "array", "items": items, "description": description}


def minor(description: str) -> JsonObject:
    """An amount of money in minor units."""
    return {"type": "integer", "minimum": 0, "description": f"{description}, in minor units (fen)"}


def optional(schema: JsonObject) -> JsonObject:
    """The same value, or null."""
    return {**schema, "type": [schema["type"], "null"]}


ITEM = text(
    "The item's id, such as T12, or its exact name. Upper and lower case do not matter.", minLength=1, maxLength=120
)
VARIANT = text(
    "The variant's id, such as T12-navy-m, or its options, such as navy, M. Upper and lower case do not matter.",
    minLength=1,
    maxLength=120,
)
COUPON = text("The coupon's id, such as C3, or its exact title.", minLength=1, maxLength=120)
CURRENCY = text("ISO 4217 currency code", pattern="^[A-Z]{3}$")
ITEM_ID = text("Item id")
ITEM_NAME = text("Item name")
_TIME = text("UTC time, ISO 8601", format="date-time")
_OPTIONS: JsonObject = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "description": "Option names and values",
}


def _spec(
    name: str, title: str, description: str, arguments: JsonObject, required: Sequence[str], result: JsonObject,
    effect: Literal["read", "write"] = "read",
) -> OperationSpec:  # fmt: skip
    return OperationSpec(name, title, description, object_schema(arguments, required), object_schema(result), effect)


_SEARCH = _spec(
    "search_items",
    "Search items",
    "Find items of the shop by words, category, price or stock. Items on the shelf of the room come first.",
    {
        "query": text("Words to look for in names, descriptions and attributes", minLength=1, maxLength=120),
        "category": text("Only this category", enum=list(CATEGORIES)),
        "max_price_minor": minor("Highest price"),
        "in_stock": {"type": "boolean", "description": "true: only items that can be bought now", "default": False},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10,
            "default": 5,
            "description": "How many items at most",
        },
    },
    (),
    {
        "items": list_of(
            part(
                {
                    "id": ITEM_ID,
                    "name": ITEM_NAME,
                    "category": text("Category", enum=list(CATEGORIES)),
                    "price_from_minor": minor("Lowest price of a variant"),
                    "currency": CURRENCY,
                    "in_stock": {"type": "boolean", "description": "Whether any variant is in stock"},
                }
            ),
            "Best matches first",
        ),
        "found": {"type": "integer", "minimum": 0, "description": "How many items match, shown or not"},
    },
)

_GET_ITEM = _spec(
    "get_item",
    "Item details",
    "Everything about one item: description, attributes, selling points, size chart, variants with list prices.",
    {"item": ITEM},
    ("item",),
    {
        "id": ITEM_ID,
        "name": ITEM_NAME,
        "category": text("Category", enum=list(CATEGORIES)),
        "brand": optional(text("Brand")),
        "description": text("Description"),
        "attributes": {**_OPTIONS, "description": "Attribute names and values"},
        "selling_points": list_of(text("Selling point"), "What speaks for it"),
        "size_chart": list_of(
            part({"size": text("Size"), "measures": {**_OPTIONS, "description": "Measure and range, such as 165-172"}}),
            "Sizes and whom they fit; empty where sizes do not matter",
        ),
        "variants": list_of(
            part(
                {
                    "id": text("Variant id"),
                    "options": _OPTIONS,
                    "price_minor": minor("List price"),
                    "in_stock": {"type": "boolean", "description": "Whether it can be bought now"},
                }
            ),
            "All variants",
        ),
        "currency": CURRENCY,
        "on_shelf": {"type": "boolean", "description": "Whether it is sold in this room today"},
    },
)

_GET_PRICE = _spec(
    "get_price",
    "Price after coupons",
    "What an item costs after coupons and which gifts come with it. Without named coupons the best allowed ones are used.",
    {
        "item": ITEM,
        "variant": VARIANT,
        "quantity": {"type": "integer", "minimum": 1, "maximum": 99, "default": 1, "description": "How many pieces"},
        "coupons": {
            "type": "array",
            "items": COUPON,
            "maxItems": 4,
            "description": "Coupons to use. Left out: the best allowed combination. Empty: none.",
        },
    },
    ("item",),
    {
        "item": ITEM_ID,
        "name": ITEM_NAME,
        "variant": optional(text("Variant id; null: none was named, so the lowest price holds")),
        "quantity": {"type": "integer", "minimum": 1, "description": "Pieces"},
        "unit_price_minor": minor("List price of one piece"),
        "subtotal_minor": minor("List price of all pieces"),
        "discount_minor": minor("Saved by coupons"),
        "total_minor": minor("To pay"),
        "currency": CURRENCY,
        "coupons": list_of(
            part({"id": text("Coupon id"), "title": text("Title"), "discount_minor": minor("Saved by this coupon")}),
            "Coupons used, in the order they are taken off",
        ),
        "gifts": list_of(text("Gift"), "Gifts that come with it"),
    },
)

_LIST_COUPONS = _spec(
    "list_coupons",
    "List coupons",
    "The coupons viewers can use now, for the whole shop or for one item.",
    {"item": ITEM},
    (),
    {
        "coupons": list_of(
            part(
                {
                    "id": text("Coupon id"),
                    "title": text("Title"),
                    "kind": text("fixed: an amount off; percent: a share off", enum=["fixed", "percent"]),
                    "scope": text("Who gives it", enum=["shop", "platform"]),
                    "threshold_minor": minor("Least amount to spend"),
                    "amount_minor": optional(minor("Amount off; null for percent")),
                    "percent_off": optional({"type": "integer", "description": "Percent off; null for fixed"}),
                    "cap_minor": optional(minor("Most it takes off; null: no limit")),
                    "stackable": {"type": "boolean", "description": "Whether it goes with one of the other scope"},
                    "applies_to": list_of(text("Item id or category"), "Where it is valid; empty: everywhere"),
                }
            ),
            "In order of id",
        ),
        "currency": CURRENCY,
    },
)

_GET_STOCK = _spec(
    "get_stock",
    "Stock",
    "How many pieces of an item are left, variant by variant or for one variant.",
    {"item": ITEM, "variant": VARIANT},
    ("item",),
    {
        "item": ITEM_ID,
        "name": ITEM_NAME,
        "in_stock": {"type": "boolean", "description": "Whether any of the variants below can be bought now"},
        "variants": list_of(
            part(
                {
                    "id": text("Variant id"),
                    "options": _OPTIONS,
                    "stock": {"type": "integer", "minimum": 0, "description": "Pieces left"},
                }
            ),
            "The variants asked for",
        ),
    },
)

_GET_POLICY = _spec(
    "get_policy",
    "Shop policy",
    "The shop's rule on one topic, in words that may be told to viewers.",
    {"topic": text("What it is about", enum=list(POLICY_TOPICS))},
    ("topic",),
    {
        "id": text("Policy id"),
        "topic": text("Topic", enum=list(POLICY_TOPICS)),
        "title": text("Title"),
        "text": text("The rule"),
    },
)

_PUSH_CARD = _spec(
    "push_item_card",
    "Push item card",
    "Show the card of an item on every viewer's screen, so that they can open its page.",
    {"item": ITEM},
    ("item",),
    {"card": text("Card id"), "item": ITEM_ID, "name": ITEM_NAME, "pushed_at": _TIME},
    "write",
)

_START_EXPLAINING = _spec(
    "start_explaining",
    "Start explaining",
    "Put an item on show: the host starts to explain it now.",
    {"item": ITEM},
    ("item",),
    {"segment": text("Segment id"), "item": ITEM_ID, "name": ITEM_NAME, "started_at": _TIME},
    "write",
)

_SEND_COUPON = _spec(
    "send_coupon",
    "Send coupon",
    "Give a coupon to the viewer who asked or to everyone in the room.",
    {
        "coupon": COUPON,
        "audience": text("Who gets it", enum=["viewer", "room"], default="viewer"),
    },
    ("coupon",),
    {
        "coupon": text("Coupon id"),
        "title": text("Title"),
        "audience": text("Who got it", enum=["viewer", "room"]),
        "sent_at": _TIME,
    },
    "write",
)

_HAND_OVER = _spec(
    "hand_over",
    "Hand over to a human",
    "Pass the viewer on to a human colleague, with the reason and a short summary.",
    {
        "reason": text("Why", enum=list(HANDOVER_REASONS)),
        "summary": text("What the viewer needs, in a sentence", minLength=1, maxLength=500),
    },
    ("reason", "summary"),
    {
        "ticket": text("Ticket id"),
        "reason": text("Why", enum=list(HANDOVER_REASONS)),
        "handed_over_at": _TIME,
    },
    "write",
)

SPECS: tuple[OperationSpec, ...] = (
    _SEARCH,
    _GET_ITEM,
    _GET_PRICE,
    _LIST_COUPONS,
    _GET_STOCK,
    _GET_POLICY,
    _PUSH_CARD,
    _START_EXPLAINING,
    _SEND_COUPON,
    _HAND_OVER,
)

CATALOGUE: OperationCatalogue = MappingProxyType({spec.name: spec for spec in SPECS})
"""The ten operations of the demo shop by name."""
