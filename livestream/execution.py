"""Carry out the canonical operations: pure functions from (shop, room, call) to (new room, result).

A read gives back the very room it was given. Whatever goes wrong is an `OperationError` in the result, with the room unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCall, OperationError, OperationResult
from livestream.arguments import OperationFailed, checked_arguments
from livestream.catalogue import Coupon, Item, Shop, Variant
from livestream.lookup import find_coupon, find_item, find_variant
from livestream.operations import CATALOGUE
from livestream.pricing import CouponRefused, best_price, price_with
from livestream.room import PushedCard, RoomState, Segment, SentCoupon, iso_utc
from livestream.searching import search

Outcome = tuple[RoomState, JsonObject]
Handler = Callable[[Shop, RoomState, JsonObject], Outcome]


def execute(shop: Shop, room: RoomState, call: OperationCall) -> tuple[RoomState, OperationResult]:
    """Run one operation on a room of `shop`. Never raises for anything a model can write."""
    spec = CATALOGUE.get(call.operation)
    if spec is None:
        return room, UNKNOWN_OPERATION
    try:
        arguments = checked_arguments(spec, call.arguments)
        changed, value = _HANDLERS[call.operation](shop, room, arguments)
    except OperationFailed as failure:
        return room, OperationResult(error=failure.error)
    return changed, OperationResult(value)


UNKNOWN_OPERATION = OperationResult(
    error=OperationError("unknown_operation", "The platform cannot do this: the tool is bound to nothing it knows.")
)
"""The result of calling what does not exist: a fault of the binding, not of the model."""


# --- reads -----------------------------------------------------------------------------------------------------------


def _search_items(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    found = search(
        shop,
        room.shelf,
        query=arguments.get("query", ""),
        category=arguments.get("category"),
        max_price_minor=arguments.get("max_price_minor"),
        in_stock=arguments["in_stock"],
    )
    shown = [
        {
            "id": item.id,
            "name": item.name,
            "category": item.category,
            "price_from_minor": item.price_from_minor,
            "currency": item.currency,
            "in_stock": item.is_in_stock,
        }
        for item in found[: int(arguments["limit"])]
    ]
    return room, {"items": shown, "found": len(found)}


def _get_item(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    item = find_item(shop, arguments["item"])
    return room, {
        "id": item.id,
        "name": item.name,
        "category": item.category,
        "brand": item.brand,
        "description": item.description,
        "attributes": dict(item.attributes),
        "selling_points": list(item.selling_points),
        "size_chart": [
            {"size": row.size, "measures": {name: f"{low}-{high}" for name, (low, high) in row.measures.items()}}
            for row in item.size_chart
        ],
        "variants": [
            {
                "id": variant.id,
                "options": dict(variant.options),
                "price_minor": variant.price_minor,
                "in_stock": variant.stock > 0,
            }
            for variant in item.variants
        ],
        "currency": item.currency,
        "on_shelf": item.id in room.shelf,
    }


def _get_price(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    item = find_item(shop, arguments["item"])
    variant = _priced_variant(item, arguments.get("variant"))
    unit = variant.price_minor if variant else item.price_from_minor
    quantity = int(arguments["quantity"])
    named = arguments.get("coupons")
    if named is None:
        price = best_price(item, unit, quantity, _available_coupons(shop, room))
    else:
        coupons = {coupon.id: coupon for coupon in (find_coupon(shop, each, "coupons") for each in named)}
        usable = {coupon.id for coupon in _available_coupons(shop, room)}
        if gone := [coupon for coupon in coupons.values() if coupon.id not in usable]:
            message = f"Coupon {gone[0].id} ({gone[0].title}) has all been given away."
            raise OperationFailed("exhausted", message, "coupons")
        try:
            price = price_with(item, unit, quantity, list(coupons.values()))
        except CouponRefused as refusal:
            raise OperationFailed("not_applicable", str(refusal), "coupons") from refusal
    return room, {
        "item": item.id,
        "name": item.name,
        "variant": variant.id if variant else None,
        "quantity": quantity,
        "unit_price_minor": unit,
        "subtotal_minor": price.subtotal_minor,
        "discount_minor": price.discount_minor,
        "total_minor": price.total_minor,
        "currency": item.currency,
        "coupons": [
            {"id": use.coupon.id, "title": use.coupon.title, "discount_minor": use.discount_minor} for use in price.uses
        ],
        "gifts": [gift.title for gift in shop.gifts if gift.comes_with(item, price.total_minor)],
    }


def _priced_variant(item: Item, wanted: str | None) -> Variant | None:
    """The variant to price; None where none is named and there are several, so that the lowest price holds."""
    if wanted is not None:
        return find_variant(item, wanted)
    return item.variants[0] if len(item.variants) == 1 else None


def _list_coupons(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    coupons: Iterable[Coupon] = _available_coupons(shop, room)
    if "item" in arguments:
        item = find_item(shop, arguments["item"])
        coupons = (coupon for coupon in coupons if coupon.covers(item))
    shown = [
        {
            "id": coupon.id,
            "title": coupon.title,
            "kind": coupon.kind,
            "scope": coupon.scope,
            "threshold_minor": coupon.threshold_minor,
            "amount_minor": coupon.amount_minor,
            "percent_off": coupon.percent_off,
            "cap_minor": coupon.cap_minor,
            "stackable": coupon.stackable,
            "applies_to": [*coupon.item_ids, *coupon.categories],
        }
        for coupon in coupons
    ]
    return room, {"coupons": shown, "currency": shop.currency}


def _get_stock(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    item = find_item(shop, arguments["item"])
    variants = (find_variant(item, arguments["variant"]),) if "variant" in arguments else item.variants
    return room, {
        "item": item.id,
        "name": item.name,
        "in_stock": any(variant.stock > 0 for variant in variants),
        "variants": [
            {"id": variant.id, "options": dict(variant.options), "stock": variant.stock} for variant in variants
        ],
    }


def _get_policy(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    policy = shop.policy(arguments["topic"])
    if policy is None:
        raise OperationFailed("not_found", f"{shop.name} has no published rule on {arguments['topic']}.", "topic")
    return room, {"id": policy.id, "topic": policy.topic, "title": policy.title, "text": policy.text}


# --- writes ----------------------------------------------------------------------------------------------------------


def _push_item_card(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    item = _sellable_item(shop, room, arguments["item"])
    card = PushedCard(id=f"P{len(room.pushed_cards) + 1}", item_id=item.id, at=room.clock)
    changed = room.model_copy(update={"pushed_cards": (*room.pushed_cards, card)})
    return changed, {"card": card.id, "item": item.id, "name": item.name, "pushed_at": iso_utc(card.at)}


def _start_explaining(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    item = _sellable_item(shop, room, arguments["item"])
    if room.on_show == item.id:
        raise OperationFailed("conflict", f"{item.name} is on show already.", "item")
    ended = tuple(
        segment if segment.ended_at else segment.model_copy(update={"ended_at": room.clock})
        for segment in room.segments
    )
    segment = Segment(id=f"S{len(room.segments) + 1}", item_id=item.id, started_at=room.clock)
    changed = room.model_copy(update={"segments": (*ended, segment), "on_show": item.id})
    return changed, {
        "segment": segment.id,
        "item": item.id,
        "name": item.name,
        "started_at": iso_utc(segment.started_at),
    }


def _sellable_item(shop: Shop, room: RoomState, wanted: str) -> Item:
    item = find_item(shop, wanted)
    if item.id not in room.shelf:
        raise OperationFailed("not_on_shelf", f"{item.name} is not on the shelf of this room today.", "item")
    if not item.is_in_stock:
        raise OperationFailed("out_of_stock", f"{item.name} is sold out in every variant.", "item")
    return item


def _send_coupon(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    coupon = find_coupon(shop, arguments["coupon"], "coupon")
    audience = arguments["audience"]
    viewer_id = room.current_viewer_id if audience == "viewer" else None
    if _left(coupon, room) <= 0:
        raise OperationFailed("exhausted", f"Coupon {coupon.id} ({coupon.title}) has all been given away.", "coupon")
    if audience == "viewer" and viewer_id is None:
        raise OperationFailed("conflict", "No viewer has written yet, so there is nobody to give it to.", "audience")
    earlier = {sent.viewer_id for sent in room.sent_coupons if sent.coupon_id == coupon.id}
    if viewer_id in earlier or None in earlier:
        raise OperationFailed("conflict", f"Coupon {coupon.id} ({coupon.title}) has been given already.", "coupon")
    sent = SentCoupon(coupon_id=coupon.id, audience=audience, viewer_id=viewer_id, at=room.clock)
    changed = room.model_copy(update={"sent_coupons": (*room.sent_coupons, sent)})
    return changed, {
        "coupon": coupon.id,
        "title": coupon.title,
        "audience": audience,
        "sent_at": iso_utc(sent.at),
    }


def _available_coupons(shop: Shop, room: RoomState) -> list[Coupon]:
    """Coupons the current viewer can use: those still to be had, and those given to the viewer or the room."""
    holders = (None, room.current_viewer_id)
    held = {sent.coupon_id for sent in room.sent_coupons if sent.viewer_id in holders}
    return [coupon for coupon in shop.coupons if coupon.id in held or _left(coupon, room) > 0]


def _left(coupon: Coupon, room: RoomState) -> int:
    """How often the coupon can still be given; giving it to the whole room counts once."""
    return coupon.supply - sum(sent.coupon_id == coupon.id for sent in room.sent_coupons)


def _hand_over(shop: Shop, room: RoomState, arguments: JsonObject) -> Outcome:
    changed, ticket = room.handed_over(reason=arguments["reason"], summary=arguments["summary"])
    return changed, {"ticket": ticket.id, "reason": ticket.reason, "handed_over_at": iso_utc(ticket.at)}


_HANDLERS: dict[str, Handler] = {
    "search_items": _search_items,
    "get_item": _get_item,
    "get_price": _get_price,
    "list_coupons": _list_coupons,
    "get_stock": _get_stock,
    "get_policy": _get_policy,
    "push_item_card": _push_item_card,
    "start_explaining": _start_explaining,
    "send_coupon": _send_coupon,
    "hand_over": _hand_over,
}
