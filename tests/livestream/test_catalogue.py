"""The demo shop is consistent, and a shop that contradicts itself is refused with a message that says where."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from livestream.catalogue import (
    CATEGORIES,
    HANDOVER_REASONS,
    POLICY_TOPICS,
    Coupon,
    Item,
    Shop,
    SizeRow,
    Variant,
    format_money,
    slug,
)
from livestream.demo import demo_shop, load_shop
from livestream.operations import CATALOGUE


def test_the_demo_shop_has_the_size_it_promises() -> None:
    shop = demo_shop()
    assert len(shop.items) >= 60
    assert {item.category for item in shop.items} == set(CATEGORIES)
    assert len(shop.coupons) >= 10
    assert len(shop.gifts) >= 3
    assert {policy.topic for policy in shop.policies} == set(POLICY_TOPICS)
    assert all(2 <= len(item.variants) <= 6 for item in shop.items)


def test_every_item_answers_what_viewers_ask() -> None:
    for item in demo_shop().items:
        assert len(item.attributes) >= 4, item.id
        assert item.description.endswith("."), item.id
        assert len(item.selling_points) >= 2, item.id
        assert all(100 <= variant.price_minor <= 100_000 for variant in item.variants), item.id


def test_some_variants_are_sold_out_but_no_whole_item_is() -> None:
    variants = [variant for item in demo_shop().items for variant in item.variants]
    assert 0.1 < sum(variant.stock == 0 for variant in variants) / len(variants) < 0.3
    assert all(item.is_in_stock for item in demo_shop().items)


def test_clothes_and_shoes_have_a_size_chart_that_runs_upwards_without_gaps() -> None:
    for item in demo_shop().items:
        has_sizes = "size" in item.variants[0].options and item.category in ("apparel", "shoes")
        assert bool(item.size_chart) == has_sizes, item.id
        for smaller, larger in zip(item.size_chart, item.size_chart[1:], strict=False):
            for measure, (low, high) in larger.measures.items():
                assert low <= smaller.measures[measure][1] + 1 <= high, f"{item.id} {larger.size} {measure}"


def test_variant_ids_are_made_of_item_and_options_and_unique_in_the_shop() -> None:
    variants = [variant for item in demo_shop().items for variant in item.variants]
    assert len({variant.id for variant in variants}) == len(variants)
    assert demo_shop().item("T1") is not None
    assert "T1-white-s" in {variant.id for variant in variants}


def test_names_of_items_do_not_hide_in_one_another() -> None:
    names = [item.name.lower() for item in demo_shop().items]
    assert not [(a, b) for a in names for b in names if a != b and re.search(rf"\b{re.escape(a)}\b", b)]


def test_the_literals_of_the_schemas_are_those_of_the_types() -> None:
    topics = CATALOGUE["get_policy"].input_schema["properties"]["topic"]["enum"]
    assert tuple(topics) == POLICY_TOPICS
    assert tuple(CATALOGUE["hand_over"].input_schema["properties"]["reason"]["enum"]) == HANDOVER_REASONS
    for category in CATEGORIES:
        assert tiny_item(category=category).category == category


OFF = {"id": "C1", "title": "Off", "kind": "fixed", "scope": "shop", "currency": "CNY", "amount_minor": 1}


def tiny_item(**changes: Any) -> Item:
    fields: dict[str, Any] = {
        "id": "T1",
        "name": "Shirt",
        "category": "apparel",
        "description": "A shirt.",
        "attributes": {"material": "cotton"},
        "variants": (tiny_variant("S"), tiny_variant("M")),
    }
    return Item(**{**fields, **changes})


def tiny_variant(size: str, item_id: str = "T1", currency: str = "CNY") -> Variant:
    return Variant(id=f"{item_id}-{slug(size)}", options={"size": size}, price_minor=1000, currency=currency, stock=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variants": (tiny_variant("S"), tiny_variant("S"))}, "T1-s"),
        ({"variants": (tiny_variant("S", item_id="T2"),)}, "must start with T1-"),
        ({"variants": (tiny_variant("S"), tiny_variant("M", currency="USD"))}, "not CNY"),
        ({"size_chart": (SizeRow(size="S", measures={"height_cm": (150, 160)}),)}, "missing from the size chart"),
        ({"variants": ()}, "variants"),
        ({"id": "shirt 1"}, "id"),
    ],
)
def test_an_item_that_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        tiny_item(**changes)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "fixed"},
        {"kind": "fixed", "amount_minor": 100, "percent_off": 5},
        {"kind": "fixed", "amount_minor": 0},
        {"kind": "percent"},
        {"kind": "percent", "percent_off": 100},
        {"kind": "percent", "percent_off": 5, "amount_minor": 100},
    ],
)
def test_a_coupon_must_have_the_value_of_its_kind(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Coupon(id="C1", title="Off", scope="shop", currency="CNY", **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"items": (tiny_item(), tiny_item())}, "item id"),
        ({"items": (tiny_item(), tiny_item(id="T2", name="SHIRT", variants=(tiny_variant("S", "T2"),)))}, "item name"),
        ({"currency": "USD"}, "sells in USD"),
        ({"coupons": ({**OFF, "item_ids": ("T9",)},)}, "C1 names items that do not exist: T9"),
        ({"coupons": (OFF, {**OFF, "id": "C2"})}, "coupon title used more than once: off"),
        ({"gifts": ({"id": "G1", "title": "Bag", "item_ids": ("T8",)},)}, "G1 names items that do not exist: T8"),
    ],
)
def test_a_shop_whose_references_do_not_resolve_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Shop(**{"name": "Tiny", "currency": "CNY", "hosts": ("Mia",), "items": (tiny_item(),), **fields})


def test_a_size_that_runs_downwards_is_refused() -> None:
    with pytest.raises(ValidationError, match="height_cm runs from 170 down to 160"):
        SizeRow(size="S", measures={"height_cm": (170, 160)})


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("- {id: T1, name: Shirt, options: [size], variants: [[S, 100]]}", "needs size, price and stock"),
        ("- {id: T1, name: Shirt, options: [size], variants: [[38, 100, 1]]}", "put 38 in quotes"),
        ("- {id: T1, name: Shirt, options: [size]}", "item T1: 'variants' is missing"),
        ("- {id: T1, options: [size], variants: [[S, 100, 1]], size_chart: hats}", "no size chart hats"),
        ("{id: T1}", "must hold a list"),
        ("- [", "cannot be read"),
    ],
)
def test_a_broken_data_file_is_named_with_the_item_at_fault(tmp_path: Path, items: str, message: str) -> None:
    (tmp_path / "items").mkdir()
    (tmp_path / "shop.yaml").write_text("name: Tiny\ncurrency: CNY\nhosts: [Mia]\nsize_charts: {tops: {}}\n")
    for category in CATEGORIES:
        (tmp_path / "items" / f"{category}.yaml").write_text("[]")
    (tmp_path / "items" / "apparel.yaml").write_text(items)
    with pytest.raises(ValueError, match=message) as caught:
        load_shop(tmp_path)
    assert "apparel.yaml" in str(caught.value)


def test_money_is_written_with_its_decimals() -> None:
    assert format_money(12900, "CNY") == "129.00 CNY"
    assert format_money(5, "USD") == "0.05 USD"
    assert format_money(1200, "JPY") == "1200 JPY"
