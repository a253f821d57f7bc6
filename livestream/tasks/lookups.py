"""Makers of tasks that are look-ups: attribute, compare, stock, size advice, policy, and follow-ups of a look-up."""

from __future__ import annotations

import re
from typing import Final

from livestream.catalogue import Item, Variant
from livestream.tasks.drawing import Draw, made, result_of, topics, yuan
from livestream.tasks.facts import Fact, money, number, said, words
from livestream.tasks.task import GoldCall, Task, TaskClass, TaskTurn

_NO: Final = ("no", "none")
_MEASURES: Final = {
    "height_cm": "a height of {} cm",
    "weight_kg": "a weight of {} kg",
    "chest_cm": "a chest of {} cm",
    "waist_cm": "a waist of {} cm",
    "hip_cm": "hips of {} cm",
    "foot_mm": "feet of {} mm",
    "palm_mm": "a palm of {} mm",
}
_ASKED: Final = (
    "height", "tall", "weight", "weigh", "waist", "hip", "chest", "foot", "feet", "palm", "hand", "measure", "measurements",
)  # fmt: skip


def value_facts(item: Item, attribute: str) -> tuple[Fact, ...]:
    """What must be said for an attribute value: yes or no where it begins so, else every part of it."""
    parts = re.split(r",\s+|\s·\s|\s\(", item.attributes[attribute])
    if parts[0] == "yes":
        return (Fact(kind="yes", phrases=(attribute, *parts[1:])),)
    if parts[0] in _NO:
        return (Fact(kind="no"),)
    return tuple(words(part) for part in parts)


def _told(item: Item, attribute: str) -> str:
    value = item.attributes[attribute]
    start = {"yes": "Yes. ", "no": "No. ", "none": "No. "}.get(value.split(",")[0], "")
    return f"{start}The {item.name}, {attribute}: {value}."


def _detail(item: Item) -> GoldCall:
    return GoldCall(operation="get_item", arguments={"item": item.id})


def _attributes(item: Item) -> list[str]:
    return [name for name, value in item.attributes.items() if value != "see the variant"]


def attribute(draw: Draw) -> Task | None:
    """A question about one attribute of an item."""
    item = draw.item()
    room = draw.room(item)
    name = draw.pick(_attributes(item))
    phrasing = draw.phrasing("attribute.ask")
    comment = phrasing.format(attribute=name, item=draw.ref(item, room))
    turn = TaskTurn(comment=comment, calls=(_detail(item),), reply=_told(item, name))
    return made(
        TaskClass.ATTRIBUTE,
        draw,
        phrasing,
        room=room,
        turn=turn,
        required=value_facts(item, name),
        items=(item.id,),
    )


def compare(draw: Draw) -> Task | None:
    """Two items by price, or by an attribute that both have."""
    item, other = draw.dice.sample(draw.items, 2)
    room = draw.room(item, other)
    shared = [
        name
        for name in _attributes(item)
        if name in _attributes(other)
        and not any(each.attributes[name].split(",")[0] in ("yes", "no", "none") for each in (item, other))
    ]
    if shared and draw.dice.random() < 0.5:
        name = draw.pick(shared)
        phrasing = draw.phrasing("compare.attribute")
        calls: tuple[GoldCall, ...] = (_detail(item), _detail(other))
        reply = f"{item.name}: {item.attributes[name]}. {other.name}: {other.attributes[name]}."
        facts = (*value_facts(item, name), *value_facts(other, name))
        comment = phrasing.format(attribute=name, item=draw.ref(item), other=draw.ref(other))
        forbidden: tuple[Fact, ...] = ()
    else:
        calls = tuple(GoldCall(operation="get_price", arguments={"item": each.id}) for each in (item, other))
        totals = [int(result_of(room, call)["total_minor"]) for call in calls]
        if totals[0] == totals[1]:
            return None
        phrasing = draw.phrasing("compare.price")
        cheap, dear = (item, other) if totals[0] < totals[1] else (other, item)
        prices = [f"the {each.name} is {yuan(total)} yuan" for each, total in zip((item, other), totals, strict=True)]
        reply = f"After coupons {prices[0]} and {prices[1]}, so the {cheap.name} is cheaper."
        facts = (Fact(kind="prices", phrases=(item.name, other.name), amounts=tuple(totals), currency="CNY"),)
        forbidden = (said(*(f"{dear.name} {tail}" for tail in ("is cheaper", "is the cheaper", "costs less"))),)
        comment = phrasing.format(item=draw.ref(item), other=draw.ref(other))
    turn = TaskTurn(comment=comment, calls=calls, reply=reply)
    return made(
        TaskClass.COMPARE,
        draw,
        phrasing,
        room=room,
        turn=turn,
        required=facts,
        forbidden=forbidden,
        items=(item.id, other.id),
    )


def stock_call(item: Item, variant: Variant) -> GoldCall:
    """The stock of one variant, or of all variants of the item."""
    return GoldCall(
        operation="get_stock", arguments={"item": item.id, "variant": variant.id}, also=({"item": item.id},)
    )


def stock_reply(item: Item, variant: Variant) -> str:
    """A right reply on the stock of a variant."""
    if variant.stock == 0:
        return f"Sorry, the {item.name} in {variant.label} is sold out."
    return f"Yes, {variant.stock} left of the {item.name} in {variant.label}."


def stock_facts(variant: Variant, *, is_counted: bool) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """What must and what must not be said of the stock of a variant; the number itself only where it was asked for."""
    if variant.stock == 0:
        return (Fact(kind="sold_out"),), ()
    counted = (number(variant.stock, "count"),) if is_counted else (Fact(kind="in_stock"),)
    return counted, (Fact(kind="sold_out"), Fact(kind="other_count", amounts=(variant.stock,)))


def stock(draw: Draw) -> Task | None:
    """How many pieces of a variant are left, or whether any is."""
    item = draw.item()
    variant = draw.pick(item.variants)
    form = draw.pick(["how_many", "available"])
    phrasing = draw.phrasing(f"stock.{form}")
    room = draw.room(item)
    required, forbidden = stock_facts(variant, is_counted=form == "how_many")
    comment = phrasing.format(item=draw.ref(item, room), variant=variant.label)
    turn = TaskTurn(comment=comment, calls=(stock_call(item, variant),), reply=stock_reply(item, variant))
    return made(
        TaskClass.STOCK, draw, phrasing, room=room, turn=turn, required=required, forbidden=forbidden, items=(item.id,)
    )


def size(draw: Draw) -> Task | None:
    """Which size fits: from the chart, both sizes where two fit, a question back where no measure is given."""
    item = draw.pick([each for each in draw.items if each.size_chart])
    room = draw.room(item)
    sizes = [row.size for row in item.size_chart]
    if draw.dice.random() < 0.2:
        phrasing = draw.phrasing("size.unmeasured")
        comment = phrasing.format(item=draw.ref(item, room))
        measure = next(iter(item.size_chart[0].measures)).split("_")[0]
        reply = f"To find your size of the {item.name}, please tell me: what is your {measure} measure?"
        required: tuple[Fact, ...] = (Fact(kind="asked", phrases=_ASKED),)
        forbidden: tuple[Fact, ...] = (said(*(f"size {each}" for each in sizes)),)
    else:
        row = draw.pick(item.size_chart)
        asked = list(row.measures)[: draw.pick([1, 2])]
        given = {name: draw.dice.randint(*row.measures[name]) for name in asked}
        fits = [
            each.size
            for each in item.size_chart
            if all(each.measures[name][0] <= value <= each.measures[name][1] for name, value in given.items())
        ]
        phrasing = draw.phrasing("size.measured")
        measures = " and ".join(_MEASURES[name].format(value) for name, value in given.items())
        comment = phrasing.format(item=draw.ref(item, room), measures=measures)
        others = tuple(each for each in sizes if each not in fits)
        required, forbidden = (Fact(kind="sizes", phrases=tuple(fits), others=others),), ()
        reply = f"Take the {item.name} in size {fits[0]}."
        if len(fits) > 1:
            reply = f"Both {' and '.join(fits)} fit you in the {item.name}; {fits[-1]} is looser."
    turn = TaskTurn(comment=comment, calls=(_detail(item),), reply=reply)
    return made(
        TaskClass.SIZE,
        draw,
        phrasing,
        room=room,
        turn=turn,
        required=required,
        forbidden=forbidden,
        skill="sizing",
        items=(item.id,),
    )


def policy(draw: Draw) -> Task | None:
    """A question that one rule of the shop answers."""
    question = draw.pick(topics()["policy"])
    opener = draw.pick(topics()["openers"][draw.split])
    phrasing = draw.pick(question[draw.split])
    call = GoldCall(operation="get_policy", arguments={"topic": question["topic"]})
    turn = TaskTurn(comment=f"{opener}{phrasing}", calls=(call,), reply=question["reply"])
    facts = tuple(_policy_fact(each) for each in question["required"])
    return made(TaskClass.POLICY, draw, phrasing, room=draw.room(), turn=turn, required=facts)


def _policy_fact(written: dict) -> Fact:
    if "number" in written:
        return number(*written["number"])
    if "money" in written:
        return money(written["money"], "CNY")
    return words(*written["words"]) if "words" in written else Fact(kind=written["kind"])


def follow_up(draw: Draw) -> Task | None:
    """A second question that names only what differs: another variant, or a number of pieces."""
    item = draw.item()
    room = draw.room(item)
    if draw.dice.random() < 0.6 and len(item.variants) > 1:
        first, second = draw.dice.sample(item.variants, 2)
        opening = draw.phrasing("follow_up.first_stock").format(item=draw.ref(item), variant=first.label)
        before = TaskTurn(comment=opening, calls=(stock_call(item, first),), reply=stock_reply(item, first))
        phrasing = draw.phrasing("follow_up.variant")
        comment, call = phrasing.format(variant=second.label), stock_call(item, second)
        reply = stock_reply(item, second)
        required, forbidden = stock_facts(second, is_counted=False)
    else:
        pieces = draw.dice.randint(2, 6)
        one = GoldCall(operation="get_price", arguments={"item": item.id})
        opening = draw.phrasing("follow_up.first_price").format(item=draw.ref(item))
        price = yuan(result_of(room, one)["total_minor"])
        before = TaskTurn(comment=opening, calls=(one,), reply=f"The {item.name} is {price} yuan after coupons.")
        call = GoldCall(operation="get_price", arguments={"item": item.id, "quantity": pieces})
        phrasing = draw.phrasing("follow_up.quantity")
        comment = phrasing.format(n=pieces)
        total = int(result_of(room, call)["total_minor"])
        reply = f"{pieces} of the {item.name} come to {yuan(total)} yuan after coupons."
        required, forbidden = (money(total, "CNY"),), ()
    turn = TaskTurn(comment=comment, calls=(call,), reply=reply)
    return made(
        TaskClass.FOLLOW_UP,
        draw,
        phrasing,
        room=room,
        history=(before,),
        turn=turn,
        required=required,
        forbidden=forbidden,
        items=(item.id,),
    )
