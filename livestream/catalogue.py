"""What a shop sells and promises: items, variants, coupons, gifts, policies. Immutable values, checked when they are made.

Money is an integer in minor units (fen) plus an ISO 4217 currency; Decimal appears only where a person reads an amount.
References between parts (a coupon's items, a size in a chart) are checked once, by `Shop`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, model_validator

from harnesses.core.jsonvalues import Text
from harnesses.core.spec import Frozen

HANDOVER_REASONS = ("complaint", "order_problem", "refund", "safety", "bulk_order", "other")

Category = Literal["apparel", "shoes", "beauty", "kitchen", "electronics", "home"]
PolicyTopic = Literal[
    "shipping",
    "returns",
    "exchanges",
    "refunds",
    "warranty",
    "invoice",
    "payment",
    "price_protection",
    "authenticity",
    "coupon_rules",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
POLICY_TOPICS: tuple[PolicyTopic, ...] = get_args(PolicyTopic)

Minor = Annotated[int, Field(ge=0, le=10**12)]
PositiveMinor = Annotated[int, Field(gt=0, le=10**12)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
ShortId = Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,3}[0-9]{1,4}$")]
VariantId = Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,3}[0-9]{1,4}-[a-z0-9.-]{1,60}$")]

_NO_DECIMALS = frozenset({"JPY", "KRW"})


def format_money(amount_minor: int, currency: str) -> str:
    """An amount as people read it: 12900, "CNY" → "129.00 CNY"."""
    places = 0 if currency in _NO_DECIMALS else 2
    return f"{Decimal(amount_minor).scaleb(-places):.{places}f} {currency}"


def slug(value: str) -> str:
    """The form of an option value inside a variant id: "Sea Green" → "sea-green"."""
    return re.sub(r"[^a-z0-9.]+", "-", value.lower()).strip("-")


class SizeRow(Frozen):
    """Whom one size fits: ranges, both ends included, by measure (`height_cm`, `weight_kg`, `foot_mm` …)."""

    size: Text
    measures: dict[Text, tuple[int, int]] = Field(min_length=1)

    @model_validator(mode="after")
    def _ranges_run_upwards(self) -> Self:
        for measure, (low, high) in self.measures.items():
            if low > high:
                raise ValueError(f"size {self.size}: {measure} runs from {low} down to {high}; put the lower end first")
        return self


class Variant(Frozen):
    """One thing that can be bought: options such as {"colour": "navy", "size": "M"}, its price and how many are left."""

    id: VariantId
    options: dict[Text, Text] = Field(min_length=1)
    price_minor: PositiveMinor
    currency: Currency
    stock: Annotated[int, Field(ge=0)]

    @property
    def label(self) -> str:
        """The options in words: "navy, M"."""
        return ", ".join(self.options.values())


class Item(Frozen):
    """A product with its variants. `attributes` answer what viewers ask (material, care, battery life …)."""

    id: ShortId
    name: Text
    category: Category
    brand: Text | None = None
    description: Text
    attributes: dict[Text, Text] = Field(min_length=1)
    selling_points: tuple[Text, ...] = ()
    size_chart: tuple[SizeRow, ...] = ()
    variants: tuple[Variant, ...] = Field(min_length=1)

    @property
    def currency(self) -> str:
        return self.variants[0].currency

    @property
    def price_from_minor(self) -> int:
        """The lowest price among the variants."""
        return min(variant.price_minor for variant in self.variants)

    @property
    def is_in_stock(self) -> bool:
        return any(variant.stock > 0 for variant in self.variants)

    @model_validator(mode="after")
    def _variants_belong_together(self) -> Self:
        require_unique(f"item {self.id}: variant", (variant.id for variant in self.variants))
        require_unique(f"item {self.id}: options", (variant.label for variant in self.variants))
        axes = set(self.variants[0].options)
        charted = {row.size for row in self.size_chart}
        for variant in self.variants:
            if not variant.id.startswith(f"{self.id}-"):
                raise ValueError(f"variant {variant.id} lies under item {self.id}; its id must start with {self.id}-")
            if set(variant.options) != axes:
                raise ValueError(f"variant {variant.id} has the options {sorted(variant.options)}, not {sorted(axes)}")
            if variant.currency != self.currency:
                raise ValueError(f"variant {variant.id} is priced in {variant.currency}, not {self.currency}")
            if charted and variant.options.get("size") not in charted:
                raise ValueError(f"variant {variant.id}: its size is missing from the size chart")
        return self


class Coupon(Frozen):
    """Money off one purchase.

    `fixed` takes `amount_minor` off, `percent` takes `percent_off` percent off, at most `cap_minor`. Valid from `threshold_minor`
    on; with `item_ids` or `categories` only there. One shop and one platform coupon go together if both are `stackable`.
    """

    id: ShortId
    title: Text
    kind: Literal["fixed", "percent"]
    scope: Literal["shop", "platform"]
    currency: Currency
    threshold_minor: Minor = 0
    amount_minor: PositiveMinor | None = None
    percent_off: Annotated[int, Field(ge=1, le=99)] | None = None
    cap_minor: PositiveMinor | None = None
    item_ids: tuple[ShortId, ...] = ()
    categories: tuple[Category, ...] = ()
    stackable: bool = True
    supply: Annotated[int, Field(ge=0)] = 1_000

    @model_validator(mode="after")
    def _kind_has_its_value(self) -> Self:
        if self.kind == "fixed" and (self.amount_minor is None or self.percent_off is not None or self.cap_minor):
            raise ValueError(f"coupon {self.id} is fixed: give amount_minor, and neither percent_off nor cap_minor")
        if self.kind == "percent" and (self.percent_off is None or self.amount_minor is not None):
            raise ValueError(f"coupon {self.id} is percent: give percent_off and no amount_minor")
        return self

    def covers(self, item: Item) -> bool:
        """Whether the coupon is valid for this item, whatever the amount."""
        if not self.item_ids and not self.categories:
            return True
        return item.id in self.item_ids or item.category in self.categories


class Gift(Frozen):
    """Something that comes free with the items or categories named, from `threshold_minor` (after coupons) on."""

    id: ShortId
    title: Text
    item_ids: tuple[ShortId, ...] = ()
    categories: tuple[Category, ...] = ()
    threshold_minor: Minor = 0

    def comes_with(self, item: Item, total_minor: int) -> bool:
        """Whether a purchase of `item` that costs `total_minor` brings this gift."""
        is_covered = item.id in self.item_ids or item.category in self.categories
        return is_covered and total_minor >= self.threshold_minor


class Policy(Frozen):
    """A promise or rule of the shop on one topic, in words fit for viewers."""

    id: ShortId
    topic: PolicyTopic
    title: Text
    text: Text


class Shop(Frozen):
    """A whole shop. Ids are unique, references resolve, one currency throughout."""

    name: Text
    currency: Currency
    hosts: tuple[Text, ...] = Field(min_length=1)
    items: tuple[Item, ...] = Field(min_length=1)
    coupons: tuple[Coupon, ...] = ()
    gifts: tuple[Gift, ...] = ()
    policies: tuple[Policy, ...] = ()

    @model_validator(mode="after")
    def _references_resolve(self) -> Self:
        require_unique("item id", (item.id for item in self.items))
        require_unique("item name", (item.name.casefold() for item in self.items))
        require_unique("coupon id", (coupon.id for coupon in self.coupons))
        require_unique("coupon title", (coupon.title.casefold() for coupon in self.coupons))
        require_unique("gift id", (gift.id for gift in self.gifts))
        require_unique("policy topic", (policy.topic for policy in self.policies))
        known = {item.id for item in self.items}
        referring: tuple[Coupon | Gift, ...] = (*self.coupons, *self.gifts)
        priced_parts: tuple[Item | Coupon, ...] = (*self.items, *self.coupons)
        for part in referring:
            if unknown := set(part.item_ids) - known:
                raise ValueError(f"{part.id} names items that do not exist: {', '.join(sorted(unknown))}")
        for priced in priced_parts:
            if priced.currency != self.currency:
                raise ValueError(f"{priced.id} is in {priced.currency}; the shop sells in {self.currency}")
        return self

    def item(self, item_id: str) -> Item | None:
        return next((item for item in self.items if item.id == item_id), None)

    def coupon(self, coupon_id: str) -> Coupon | None:
        return next((coupon for coupon in self.coupons if coupon.id == coupon_id), None)

    def policy(self, topic: str) -> Policy | None:
        return next((policy for policy in self.policies if policy.topic == topic), None)


def require_unique(what: str, values: Iterable[str]) -> None:
    """Raise ValueError naming the values that occur more than once."""
    if doubled := sorted(value for value, count in Counter(values).items() if count > 1):
        raise ValueError(f"{what} used more than once: {', '.join(doubled)}")
