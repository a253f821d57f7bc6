"""Makers of look-up tasks over the public retail catalogue: price and availability of one variant of a product."""

from __future__ import annotations

from functools import cache

from livestream.retail import TAU2_RETAIL, retail_world
from livestream.tasks.drawing import Draw, made, split_ids
from livestream.tasks.facts import Fact, money
from livestream.tasks.task import GoldCall, RoomSetup, Split, Task, TaskClass, TaskTurn


@cache
def product_splits() -> dict[str, Split]:
    """The split of every product."""
    return split_ids(retail_world().database.products)


def retail(draw: Draw) -> Task | None:
    """What one variant costs, or whether it is available. The product's id is looked up by its name first."""
    products = [
        product
        for key, product in sorted(retail_world().database.products.items())
        if product_splits()[key] == draw.split and product["variants"]
    ]
    product = draw.pick(products)
    variant = draw.pick(product["variants"])
    form = draw.pick(["price", "available"])
    phrasing = draw.phrasing(f"retail.{form}")
    options = ", ".join(f"{name} {value}" for name, value in variant["options"].items())
    comment = phrasing.format(item=product["name"], variant=options)
    calls = (
        GoldCall(operation="list_product_types", arguments={}, is_optional=True),
        GoldCall(operation="get_product", arguments={"product_id": product["product_id"]}),
    )
    forbidden: tuple[Fact, ...] = ()
    if form == "price":
        required: tuple[Fact, ...] = (money(variant["price_minor"], product["currency"]),)
        reply = f"This {product['name']} costs {variant['price_minor'] / 100:.2f} USD."
    elif variant["available"]:
        required, forbidden = (Fact(kind="in_stock"),), (Fact(kind="sold_out"),)
        reply = f"Yes, this {product['name']} is available."
    else:
        required, reply = (Fact(kind="sold_out"),), f"Sorry, this {product['name']} is out of stock."
    return made(
        TaskClass.RETAIL,
        draw,
        phrasing,
        world=TAU2_RETAIL,
        room=RoomSetup(seed=draw.dice.randrange(1_000)),
        turn=TaskTurn(comment=comment, calls=calls, reply=reply),
        required=required,
        forbidden=forbidden,
        items=(product["product_id"],),
    )
