"""What a canonical call means, whatever way its arguments are spelt: names resolved to ids, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from harnesses.core.jsonvalues import JsonObject, JsonValue
from livestream.arguments import OperationFailed
from livestream.demo import demo_shop
from livestream.lookup import find_coupon, find_item, find_variant
from livestream.operations import CATALOGUE
from livestream.tasks.task import Effect
from livestream.world import DEMO_SHOP

_DEFAULTS: Final[Mapping[str, JsonObject]] = {
    name: {
        key: schema["default"] for key, schema in spec.input_schema.get("properties", {}).items() if "default" in schema
    }
    for name, spec in CATALOGUE.items()
}
_SUBJECTS: Final = {
    "push_item_card": "item",
    "start_explaining": "item",
    "send_coupon": "coupon",
    "hand_over": "reason",
}


def meaning(world: str, operation: str, arguments: JsonObject) -> JsonObject:
    """The arguments in their one form. What cannot be resolved stays as it is written; nulls count as left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if world != DEMO_SHOP:
        return given
    found = {**_DEFAULTS.get(operation, {}), **given}
    item = found.get("item")
    if isinstance(item, str):
        found["item"] = _item(item)
        variant = found.get("variant")
        if isinstance(variant, str):
            found["variant"] = _variant(item, variant)
    if isinstance(found.get("coupon"), str):
        found["coupon"] = _coupon(found["coupon"])
    if isinstance(found.get("coupons"), list):
        found["coupons"] = sorted(_coupon(each) for each in found["coupons"] if isinstance(each, str))
    return found


def same_arguments(gold: JsonObject, made: JsonObject, free: tuple[str, ...]) -> bool:
    """Whether two meanings agree in all but the free arguments."""
    if not free:
        return gold == made
    return {k: v for k, v in gold.items() if k not in free} == {k: v for k, v in made.items() if k not in free}


def effect_of(operation: str, arguments: JsonObject, result: JsonObject) -> Effect:
    """What a write that succeeded did to the room, as its result says."""
    key = _SUBJECTS.get(operation)
    subject: JsonValue = result.get(key) if key else None
    if subject is None:
        subject = arguments.get("order_id") or arguments.get("user_id") or arguments.get("reason") or ""
    return Effect.model_construct(operation=operation, subject=str(subject), audience=str(result.get("audience", "")))


@lru_cache(maxsize=4096)
def _item(wanted: str) -> str:
    try:
        return find_item(demo_shop(), wanted).id
    except OperationFailed:
        return wanted


@lru_cache(maxsize=4096)
def _variant(item: str, wanted: str) -> str:
    try:
        return find_variant(find_item(demo_shop(), item), wanted).id
    except OperationFailed:
        return wanted


@lru_cache(maxsize=1024)
def _coupon(wanted: str) -> str:
    try:
        return find_coupon(demo_shop(), wanted, "coupon").id
    except OperationFailed:
        return wanted
