"""Price after coupons: worked examples, and properties over generated purchases and coupons."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livestream.catalogue import Coupon, Item, Variant
from livestream.demo import demo_shop
from livestream.pricing import CouponRefused, Price, best_price, discount_minor, price_with

ITEM = Item(
    id="T1",
    name="Shirt",
    category="apparel",
    description="A shirt.",
    attributes={"material": "cotton"},
    variants=(Variant(id="T1-s", options={"size": "S"}, price_minor=10_000, currency="CNY", stock=1),),
)


def fixed(coupon_id: str, amount: int, scope: str = "shop", threshold: int = 0, **more: object) -> Coupon:
    fields = {"kind": "fixed", "amount_minor": amount, "threshold_minor": threshold, **more}
    return Coupon.model_validate({"id": coupon_id, "title": coupon_id, "scope": scope, "currency": "CNY", **fields})


def percent(coupon_id: str, share: int, scope: str = "platform", **more: object) -> Coupon:
    fields = {"kind": "percent", "percent_off": share, **more}
    return Coupon.model_validate({"id": coupon_id, "title": coupon_id, "scope": scope, "currency": "CNY", **fields})


def test_the_shop_coupon_comes_off_first_then_the_platform_coupon_off_the_rest() -> None:
    price = price_with(ITEM, 10_000, 2, [percent("C2", 10), fixed("C1", 3_000)])
    assert [(use.coupon.id, use.discount_minor) for use in price.uses] == [("C1", 3_000), ("C2", 1_700)]
    assert (price.subtotal_minor, price.discount_minor, price.total_minor) == (20_000, 4_700, 15_300)


def test_a_percentage_is_rounded_down_and_capped() -> None:
    assert discount_minor(percent("C1", 15), 999) == 149
    assert discount_minor(percent("C1", 15, cap_minor=100), 999) == 100


def test_a_threshold_is_reached_exactly_and_counts_before_the_own_coupon() -> None:
    reached = fixed("C1", 500, threshold=10_000)
    assert price_with(ITEM, 10_000, 1, [reached]).total_minor == 9_500
    with pytest.raises(CouponRefused, match=r"needs 100\.00 CNY; this purchase comes to 99\.99 CNY"):
        price_with(ITEM, 9_999, 1, [reached])
    with pytest.raises(CouponRefused, match=r"comes to 95\.00 CNY"):
        price_with(ITEM, 10_000, 1, [fixed("C1", 500), fixed("C2", 100, "platform", threshold=10_000)])


def test_a_coupon_larger_than_the_price_makes_it_free_and_no_more() -> None:
    assert price_with(ITEM, 300, 1, [fixed("C1", 500)]).total_minor == 0


def test_combinations_that_the_rules_forbid_are_refused_with_the_reason() -> None:
    with pytest.raises(CouponRefused, match="Only one shop coupon"):
        price_with(ITEM, 10_000, 1, [fixed("C1", 1), fixed("C2", 2)])
    with pytest.raises(CouponRefused, match=r"C1 .* cannot be combined"):
        price_with(ITEM, 10_000, 1, [fixed("C1", 1, stackable=False), fixed("C2", 2, "platform")])
    with pytest.raises(CouponRefused, match="not valid for Shirt"):
        price_with(ITEM, 10_000, 1, [fixed("C1", 1, categories=["shoes"])])


def test_a_larger_coupon_is_not_taken_where_it_spoils_the_other_threshold() -> None:
    small, large = fixed("C1", 500), fixed("C2", 1_500)
    platform = fixed("C3", 3_000, "platform", threshold=9_000)
    price = best_price(ITEM, 10_000, 1, [large, platform, small])
    assert [use.coupon.id for use in price.uses] == ["C1", "C3"]


def test_equal_prices_are_settled_by_fewer_coupons_then_by_id() -> None:
    free = [fixed("C2", 10_000), fixed("C1", 10_000), fixed("C3", 5_000, "platform")]
    assert [use.coupon.id for use in best_price(ITEM, 10_000, 1, free).uses] == ["C1"]


coupons = st.lists(
    st.builds(
        lambda kind, scope, threshold, amount, share, cap, stackable: (
            fixed("C1", amount, scope, threshold, stackable=stackable)
            if kind == "fixed"
            else percent("C1", share, scope, threshold_minor=threshold, cap_minor=cap, stackable=stackable)
        ),
        st.sampled_from(["fixed", "percent"]),
        st.sampled_from(["shop", "platform"]),
        st.integers(0, 60_000),
        st.integers(1, 40_000),
        st.integers(1, 99),
        st.none() | st.integers(1, 5_000),
        st.booleans(),
    ),
    max_size=6,
).map(lambda drawn: [coupon.model_copy(update={"id": f"C{place}"}) for place, coupon in enumerate(drawn, 1)])
units = st.integers(1, 50_000)
quantities = st.integers(1, 5)


def every_price(unit: int, quantity: int, offered: list[Coupon]) -> list[Price]:
    """Brute force over every subset, however large."""
    prices = []
    for size in range(len(offered) + 1):
        for subset in itertools.combinations(offered, size):
            try:
                prices.append(price_with(ITEM, unit, quantity, subset))
            except CouponRefused:
                continue
    return prices


@given(units, quantities, coupons)
@settings(max_examples=120, deadline=None)
def test_every_allowed_price_keeps_the_rules(unit: int, quantity: int, offered: list[Coupon]) -> None:
    for price in every_price(unit, quantity, offered):
        assert price.subtotal_minor == unit * quantity
        assert 0 <= price.total_minor == price.subtotal_minor - price.discount_minor
        scopes = [use.coupon.scope for use in price.uses]
        assert len(scopes) == len(set(scopes)) <= 2
        left = price.subtotal_minor
        for use in price.uses:
            assert left >= use.coupon.threshold_minor
            assert use.coupon.cap_minor is None or use.discount_minor <= use.coupon.cap_minor
            left -= use.discount_minor
        assert len(price.uses) < 2 or all(use.coupon.stackable for use in price.uses)


@given(units, quantities, coupons, st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None)
def test_the_best_price_is_the_lowest_of_all_whatever_the_order(unit, quantity, offered, dice) -> None:
    best = best_price(ITEM, unit, quantity, offered)
    assert best.total_minor == min(price.total_minor for price in every_price(unit, quantity, offered))
    shuffled = list(offered)
    dice.shuffle(shuffled)
    assert best_price(ITEM, unit, quantity, shuffled) == best


@given(st.sampled_from(demo_shop().items), quantities)
@settings(max_examples=60, deadline=None)
def test_coupons_never_cost_more_in_the_demo_shop(item: Item, quantity: int) -> None:
    for variant in item.variants:
        price = best_price(item, variant.price_minor, quantity, demo_shop().coupons)
        assert 0 < price.total_minor <= price.subtotal_minor
        assert price.discount_minor <= price.subtotal_minor * 0.4
