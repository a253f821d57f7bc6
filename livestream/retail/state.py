"""The state of a retail conversation: what was changed lies over the shared data, which itself never changes."""

from __future__ import annotations

from copy import deepcopy

from pydantic import Field

from harnesses.core.jsonvalues import JsonObject
from livestream.arguments import OperationFailed
from livestream.lookup import close_matches
from livestream.retail.data import RetailDatabase
from livestream.room import WorldState


class RetailState(WorldState):
    """Orders and users that differ from the package's data, by id; all others are as the package has them."""

    room_id: str
    orders: dict[str, JsonObject] = Field(default_factory=dict)
    users: dict[str, JsonObject] = Field(default_factory=dict)


class Draft:
    """A state being changed by one operation: records are copied when they are first touched for writing.

    `read_*` gives a record that must not be changed, `write_*` a copy of one's own; both raise OperationFailed (`not_found`).
    """

    def __init__(self, database: RetailDatabase, state: RetailState) -> None:
        self.database = database
        self._state = state
        self._orders: dict[str, JsonObject] = {}
        self._users: dict[str, JsonObject] = {}

    def read_order(self, order_id: str) -> JsonObject:
        for source in (self._orders, self._state.orders, self.database.orders):
            if order_id in source:
                return source[order_id]
        hint = " Order ids start with #." if f"#{order_id}" in self.database.orders else ""
        raise OperationFailed("not_found", f"Order not found: {order_id}.{hint}", "order_id")

    def read_user(self, user_id: str) -> JsonObject:
        for source in (self._users, self._state.users, self.database.users):
            if user_id in source:
                return source[user_id]
        raise OperationFailed("not_found", f"User not found: {user_id}.", "user_id")

    def read_product(self, product_id: str) -> JsonObject:
        product = self.database.products.get(product_id)
        if product is None:
            near = close_matches(product_id, [(key, each["name"]) for key, each in self.database.products.items()])
            raise OperationFailed("not_found", f"Product not found: {product_id}.{near}", "product_id")
        return product

    def write_order(self, order_id: str) -> JsonObject:
        return self._orders.setdefault(order_id, deepcopy(self.read_order(order_id)))

    def write_user(self, user_id: str) -> JsonObject:
        return self._users.setdefault(user_id, deepcopy(self.read_user(user_id)))

    def users(self) -> list[JsonObject]:
        """Every user as this state has it."""
        return [self._state.users.get(user_id, record) for user_id, record in self.database.users.items()]

    def payment_method(self, user_id: str, method_id: str) -> JsonObject:
        """One payment method of a user; do not change it, see `add_to_gift_card`."""
        methods = self.read_user(user_id)["payment_methods"]
        found: JsonObject | None = next((method for method in methods if method["id"] == method_id), None)
        if found is None:
            known = ", ".join(method["id"] for method in methods)
            message = f"Payment method not found: {method_id}. This user has: {known}."
            raise OperationFailed("not_found", message, "payment_method_id")
        return found

    def add_to_gift_card(self, user_id: str, method_id: str, amount_minor: int) -> None:
        """Change the balance if the method is a gift card; other methods settle outside."""
        if self.payment_method(user_id, method_id)["source"] != "gift_card":
            return
        for method in self.write_user(user_id)["payment_methods"]:
            if method["id"] == method_id:
                method["balance_minor"] += amount_minor

    def done(self) -> RetailState:
        """The changed state; the very same one if nothing was written."""
        if not self._orders and not self._users:
            return self._state
        return self._state.model_copy(
            update={"orders": {**self._state.orders, **self._orders}, "users": {**self._state.users, **self._users}}
        )
