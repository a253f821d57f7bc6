"""Skills to start from: what hosts of live shops need to say well, written so that any harness can take them over.

The texts name no tool and no shop rule, because those differ from harness to harness; where one belongs, the text says so in
square brackets for the operator to fill in or to remove.
"""

from __future__ import annotations

from typing import Final

from harnesses.core.editing.copies import fresh_id, fresh_name
from harnesses.core.spec import HarnessSpec, Skill

SKILL_TEMPLATES: Final[tuple[Skill, ...]] = (
    Skill(
        id="size-advice",
        name="size-advice",
        description="How to advise on sizes. Use when a viewer asks which size fits, or between which sizes to choose.",
        body="""\
1. Read the size chart of the item. Sizes differ from item to item: never answer from memory.
2. Compare it with what the viewer said. If the one measure that decides is missing (height for dresses, foot length for shoes),
   ask for that measure and nothing else.
3. Name one size. If the viewer is between two, name both and say which is looser.
4. If the measures lie outside the chart, say that this item will not fit, and offer one that does.

Never comment on a viewer's body. Speak of the garment: "this cut runs small", not "you are too tall".
""",
    ),
    Skill(
        id="price-and-coupons",
        name="price-and-coupons",
        description="How to answer what something costs. Use when a viewer asks for a price, a discount, a coupon or a bundle.",
        body="""\
1. Look up the price for the number of pieces that the viewer wants. One piece if they did not say.
2. Say the price to pay first, then what it was before, if a coupon was taken off.
3. Name a coupon only if it is listed now, with what it takes off and from which amount on.
4. If the viewer asks for more off, say what there is. Never promise a later or a private discount.

Amounts come from the result and are not rounded. Do not compute a price yourself: ask for it with the number of pieces.
""",
        risk="medium",
    ),
    Skill(
        id="show-an-item",
        name="show-an-item",
        description="How to bring an item on screen. Use when a viewer wants to see, buy or get a link to an item.",
        body="""\
1. Find out which item is meant. "This one" is the item on show; for anything else, look for it by name.
2. Check that it is in stock in the size or colour that the viewer named.
3. Put its card on screen, and say in one sentence that it is there and what it costs.
4. If it is sold out, do not show it. Say so, and offer the nearest item of the shelf.

Show one card for one wish. Do not change the item on show while the host presents another one: offer it for afterwards.
""",
    ),
    Skill(
        id="shipping-and-returns",
        name="shipping-and-returns",
        description="How to answer about delivery, returns and exchanges. Use for arrival, shipping costs, sending back.",
        body="""\
1. Look up the shop's rule. Do not answer from what other shops do.
2. Give the figure that was asked for: days until it arrives, days to send it back, or who pays.
3. Say "usually" only where the rule gives a range, and then name both ends of it.
4. For an order that is already placed, hand over to a colleague: here only rules are known, not parcels.

[Name exceptions of your shop here, such as underwear, food or opened cosmetics; remove this line if there are none.]
""",
        risk="medium",
    ),
    Skill(
        id="upset-viewer",
        name="upset-viewer",
        description="How to answer a complaint. Use when a viewer is angry, reports damage, or feels cheated.",
        body="""\
1. Say in one short sentence that you are sorry for what happened to them. Do not argue, and do not explain it away.
2. Ask for one thing that helps to solve it, such as what arrived, or when it was ordered. Never for an address, a phone number
   or an order number: everybody in the room can read it.
3. Hand over to a colleague, and tell the viewer that somebody will write to them.
4. Promise nothing: neither money back, nor a gift, nor a date.

If a viewer insults others, answer once, calmly, to the matter, and then no more.
""",
        risk="high",
    ),
    Skill(
        id="what-it-is-made-of",
        name="what-it-is-made-of",
        description="How to answer about material, care, origin and suitability. Use for fabric, washing, allergies, age, safety.",
        body="""\
1. Read the item's details, and answer with what they say. If they do not say it, say that you do not know.
2. Give care in the order in which it is done: wash, dry, iron.
3. About allergies, skin, babies or food: name what is in it, and leave the decision to the viewer. Never call an item safe,
   healthy or suitable for somebody.
4. Never say that it cures, protects or is the best of its kind.
""",
        risk="high",
    ),
)
"""In the order in which they are offered. Every id, name and text passes validation in an empty harness."""


def skill_from_template(template: Skill, spec: HarnessSpec) -> Skill:
    """The template as a skill of this harness, with an id and a name that are free in it."""
    return template.model_copy(
        update={
            "id": fresh_id(template.id, {skill.id for skill in spec.skills}),
            "name": fresh_name("skill", template.name, spec),
        }
    )
