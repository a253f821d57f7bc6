"""Price after coupons, exactly, in integer minor units.

The rules, in this order: the shop coupon is taken off the subtotal, then the platform coupon off what is left, and each
threshold is compared with the amount before its own coupon. At most one coupon of each scope; two only if both are stackable.
A percentage is rounded down to the minor unit, a cap limits it, and nothing ever falls below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from livestream.catalogue import Coupon, Item, format_money

_SCOPE_ORDER = {"shop": 0, "platform": 1}


class CouponRefused(ValueError):
    """The coupons cannot be used for this purchase; the message says which one and why, in words fit for a viewer."""


@dataclass(frozen=True)
class CouponUse:
    """One coupon and what it took off, in minor units."""

    coupon: Coupon
    discount_minor: int


@dataclass(frozen=True)
class Price:
    """What a purchase costs, in minor units: subtotal − discount = total, discount = sum of the coupons' discounts."""

    subtotal_minor: int
    uses: tuple[CouponUse, ...] = ()

    @property
    def discount_minor(self) -> int:
        return sum(use.discount_minor for use in self.uses)

    @property
    def total_minor(self) -> int:
        return self.subtotal_minor - self.discount_minor


def discount_minor(coupon: Coupon, amount_minor: int) -> int:
    """What `coupon` takes off `amount_minor`, threshold aside: within 0 … amount_minor and never above the cap."""
    if coupon.kind == "fixed":
        return min(coupon.amount_minor or 0, amount_minor)
    share = amount_minor * (coupon.percent_off or 0) // 100
    return min(share, coupon.cap_minor) if coupon.cap_minor is not None else share


def price_with(item: Item, unit_price_minor: int, quantity: int, coupons: Sequence[Coupon]) -> Price:
    """The price of `quantity` pieces with exactly these coupons. Raises CouponRefused if they cannot all be used."""
    _check_combination(coupons)
    price = Price(unit_price_minor * quantity)
    for coupon in sorted(coupons, key=lambda one: _SCOPE_ORDER[one.scope]):
        if not coupon.covers(item):
            raise CouponRefused(f"Coupon {coupon.id} ({coupon.title}) is not valid for {item.name}.")
        if price.total_minor < coupon.threshold_minor:
            needed = format_money(coupon.threshold_minor, item.currency)
            found = format_money(price.total_minor, item.currency)
            raise CouponRefused(f"Coupon {coupon.id} ({coupon.title}) needs {needed}; this purchase comes to {found}.")
        price = Price(price.subtotal_minor, (*price.uses, CouponUse(coupon, discount_minor(coupon, price.total_minor))))
    return price


def best_price(item: Item, unit_price_minor: int, quantity: int, coupons: Iterable[Coupon]) -> Price:
    """The lowest price any allowed combination of `coupons` gives.

    Ties go to fewer coupons, then to the lowest ids, so that the answer never depends on the order of `coupons`.
    """
    usable = sorted((coupon for coupon in coupons if coupon.covers(item)), key=lambda coupon: coupon.id)
    shop: list[Coupon | None] = [None, *(coupon for coupon in usable if coupon.scope == "shop")]
    platform: list[Coupon | None] = [None, *(coupon for coupon in usable if coupon.scope == "platform")]
    candidates = []
    for pair in product(shop, platform):
        try:
            candidates.append(price_with(item, unit_price_minor, quantity, [coupon for coupon in pair if coupon]))
        except CouponRefused:
            continue
    return min(candidates, key=lambda price: (price.total_minor, len(price.uses), _ids(price)))


def _ids(price: Price) -> tuple[str, ...]:
    return tuple(use.coupon.id for use in price.uses)


def _check_combination(coupons: Sequence[Coupon]) -> None:
    for scope in _SCOPE_ORDER:
        same = [coupon for coupon in coupons if coupon.scope == scope]
        if len(same) > 1:
            names = " and ".join(coupon.id for coupon in same)
            raise CouponRefused(
                f"Only one {scope} coupon can be used for a purchase; {names} are both {scope} coupons."
            )
    alone = next((coupon for coupon in coupons if not coupon.stackable), None)
    if alone is not None and len(coupons) > 1:
        raise CouponRefused(f"Coupon {alone.id} ({alone.title}) cannot be combined with another coupon.")
