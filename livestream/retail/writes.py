"""What can be changed in the retail world, with the checks of the package's own tools and in their order.

Two deliberate differences: amounts are exact cents instead of floats, and when several items of an order are changed at once each
gets the price and options of its own new variant (the package gives all of them those of the last one). Each function takes checked
arguments, returns the changed record and raises OperationFailed before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from harnesses.core.jsonvalues import JsonObject
from livestream.arguments import OperationFailed
from livestream.retail.operations import ADDRESS_KEYS
from livestream.retail.state import Draft

Pair = tuple[JsonObject, JsonObject]
"""An item of an order and the variant it is to become."""


def cancel_order(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Cancel a pending order; every payment is refunded the way it was made."""
    order = draft.read_order(arguments["order_id"])
    _require_status(order, "pending", "Only a pending order can be cancelled")
    order = draft.write_order(order["order_id"])
    refunds = []
    for payment in order["payment_history"]:
        refunds.append(_payment("refund", payment["amount_minor"], payment["payment_method_id"]))
        draft.add_to_gift_card(order["user_id"], payment["payment_method_id"], payment["amount_minor"])
    order["payment_history"] += refunds
    order["status"] = "cancelled"
    order["cancel_reason"] = arguments["reason"]
    return order


def change_order_address(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Send a pending order elsewhere."""
    order = draft.read_order(arguments["order_id"])
    _require_still_pending(order)
    order = draft.write_order(order["order_id"])
    order["address"] = {key: arguments[key] for key in ADDRESS_KEYS}
    return order


def change_order_items(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Replace items of a pending order, once; the price difference is paid or refunded at once."""
    order = draft.read_order(arguments["order_id"])
    _require_status(order, "pending", "Only a pending order whose items have not been changed before can be changed")
    pairs = _matched_items(draft, order, arguments["item_ids"], arguments["new_item_ids"])
    if any(item["item_id"] == variant["item_id"] for item, variant in pairs):
        message = "The new item must be different from the old one."
        raise OperationFailed("invalid_argument", message, "new_item_ids")
    difference = _difference(pairs)
    method_id = arguments["payment_method_id"]
    _require_balance(draft, order["user_id"], method_id, difference, "the new item")

    order = draft.write_order(order["order_id"])
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_payment(kind, abs(difference), method_id))
    draft.add_to_gift_card(order["user_id"], method_id, -difference)
    for old_id, (_, variant) in zip(arguments["item_ids"], pairs, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old_id)
        item.update({key: variant[key] for key in ("item_id", "price_minor", "options")})
    order["status"] = "pending (item modified)"
    return order


def change_order_payment(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Move the one payment of a pending order to another payment method."""
    order = draft.read_order(arguments["order_id"])
    method_id = arguments["payment_method_id"]
    _require_still_pending(order)
    draft.payment_method(order["user_id"], method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        message = "There should be exactly one payment for a pending order; this one has been paid or refunded again."
        raise OperationFailed("conflict", message, "order_id")
    old_id, amount = history[0]["payment_method_id"], history[0]["amount_minor"]
    if old_id == method_id:
        message = "The new payment method must be different from the current one."
        raise OperationFailed("conflict", message, "payment_method_id")
    _require_balance(draft, order["user_id"], method_id, amount, "the order")

    order = draft.write_order(order["order_id"])
    order["payment_history"] += [_payment("payment", amount, method_id), _payment("refund", amount, old_id)]
    draft.add_to_gift_card(order["user_id"], method_id, -amount)
    draft.add_to_gift_card(order["user_id"], old_id, amount)
    return order


def change_user_address(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Change the default address of a user; orders keep theirs."""
    user = draft.write_user(arguments["user_id"])
    user["address"] = {key: arguments[key] for key in ADDRESS_KEYS}
    return user


def return_order_items(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Ask for the return of items of a delivered order."""
    order = draft.read_order(arguments["order_id"])
    _require_status(order, "delivered", "Only a delivered order can be returned, once")
    method_id = arguments["payment_method_id"]
    method = draft.payment_method(order["user_id"], method_id)
    if method["source"] != "gift_card" and method_id != order["payment_history"][0]["payment_method_id"]:
        message = "The refund goes to the original payment method or to a gift card."
        raise OperationFailed("invalid_argument", message, "payment_method_id")
    _require_items(order, arguments["item_ids"])

    order = draft.write_order(order["order_id"])
    order["status"] = "return requested"
    order["return_items"] = sorted(arguments["item_ids"])
    order["return_payment_method_id"] = method_id
    return order


def exchange_order_items(draft: Draft, arguments: JsonObject) -> JsonObject:
    """Ask for the exchange of items of a delivered order; nothing is paid yet."""
    order = draft.read_order(arguments["order_id"])
    _require_status(order, "delivered", "Only a delivered order can be exchanged, once")
    pairs = _matched_items(draft, order, arguments["item_ids"], arguments["new_item_ids"])
    difference = _difference(pairs)
    _require_balance(draft, order["user_id"], arguments["payment_method_id"], difference, "the price difference")

    order = draft.write_order(order["order_id"])
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(arguments["item_ids"])
    order["exchange_new_items"] = sorted(arguments["new_item_ids"])
    order["exchange_payment_method_id"] = arguments["payment_method_id"]
    order["exchange_price_difference_minor"] = difference
    return order


def _payment(kind: str, amount_minor: int, method_id: str) -> JsonObject:
    return {"transaction_type": kind, "payment_method_id": method_id, "amount_minor": amount_minor}


def _require_status(order: JsonObject, status: str, rule: str) -> None:
    if order["status"] != status:
        message = f"{rule}; {order['order_id']} is {order['status']}."
        raise OperationFailed("conflict", message, "order_id")


def _require_still_pending(order: JsonObject) -> None:
    """Address and payment can still be changed after the items were."""
    if "pending" not in order["status"]:
        message = f"Only a pending order can be changed; {order['order_id']} is {order['status']}."
        raise OperationFailed("conflict", message, "order_id")


def _require_items(order: JsonObject, item_ids: Sequence[str]) -> None:
    bought = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > bought.count(item_id):
            message = f"Item {item_id} is not that often in {order['order_id']}. It holds: {', '.join(bought)}."
            raise OperationFailed("not_found", message, "item_ids")


def _matched_items(draft: Draft, order: JsonObject, old_ids: Sequence[str], new_ids: Sequence[str]) -> list[Pair]:
    """Each old item with its new variant: of the same product, and available."""
    _require_items(order, old_ids)
    if len(old_ids) != len(new_ids):
        message = f"The numbers of items should match: {len(old_ids)} old and {len(new_ids)} new ones."
        raise OperationFailed("invalid_argument", message, "new_item_ids")
    pairs = []
    for old_id, new_id in zip(old_ids, new_ids, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old_id)
        variant = draft.database.variant(item["product_id"], new_id)
        if variant is None:
            message = f"Variant not found: {new_id} is not a variant of {item['name']}."
            raise OperationFailed("not_found", message, "new_item_ids")
        if not variant["available"]:
            raise OperationFailed("out_of_stock", f"New item {new_id} is not available.", "new_item_ids")
        pairs.append((item, variant))
    return pairs


def _difference(pairs: Sequence[Pair]) -> int:
    return sum(variant["price_minor"] - item["price_minor"] for item, variant in pairs)


def _require_balance(draft: Draft, user_id: str, method_id: str, amount_minor: int, purpose: str) -> None:
    method = draft.payment_method(user_id, method_id)
    if method["source"] == "gift_card" and method["balance_minor"] < amount_minor:
        message = f"Insufficient gift card balance to pay for {purpose}."
        raise OperationFailed("insufficient_balance", message, "payment_method_id")
