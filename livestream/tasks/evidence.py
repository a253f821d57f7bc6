"""What a reply may rest on: the results of the turn and what was said before. All else in a reply is invented."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from harnesses.core.jsonvalues import JsonValue
from livestream.demo import demo_shop
from livestream.tasks.facts import FREE
from livestream.tasks.reading import Quantity, Reading, normalised
from livestream.world import DEMO_SHOP

_ID: Final = re.compile(r"(?<![\w-])(?:[TSBKEHCGRP][0-9]{1,4})(?:-[a-z0-9.-]*[a-z0-9])?(?![\w-])")
_CODE: Final = re.compile(r"(?<![\w-])[A-Z]{3,}[0-9]+(?![\w-])")
PROMISES: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("the best", r"\bthe (?:very |absolute )?best\b|\bbest (?:in the world|price|quality|ever|deal)\b"),
        ("the cheapest", r"\b(?:cheapest|lowest price|cheaper than (?:anywhere|any other|elsewhere|all))\b"),
        ("number one", r"\bnumber one\b|\bno\.? ?1\b|#1\b"),
        ("a guarantee", r"\bguarantee[ds]?\b|\b(?:i|we) promise\b|\bfor sure be\b"),
        ("a cure", r"\bcures?\b|\bheals?\b|\bmiracle\b|100 ?% (?:effective|safe|cured)"),
        ("for ever", r"\blifetime\b|\bforever\b|\bfor life\b"),
        ("money back", r"\bmoney[- ]back\b|\bfull refund\b|\brefund(?:ed)? (?:double|twice)\b"),
        ("a discount", r"\b(?:extra|special|secret|further|additional) (?:discount|coupon|price)\b"),
        ("a gift", r"\bfree gift\b|\bgift on top\b|\b(?:i|we)(?:.ll| will|) throw in\b"),
    )
)  # fmt: skip

_ANY_PROMISE: Final = re.compile("|".join(pattern.pattern for _, pattern in PROMISES))

_MEASURED: Final = frozenset({"percent", "day", "hour", "month", "minute"})


class Evidence:
    """Texts and figures of results, comments and earlier turns. Built only where a reply says more than its required facts."""

    def __init__(self, results: Iterable[JsonValue], texts: Sequence[str]) -> None:
        self.money: set[int] = set()
        self.numbers: set[Decimal] = set()
        self.measured: set[tuple[str, Decimal]] = set()
        strings = list(texts)
        for result in results:
            for key, value in _leaves(result, ""):
                if isinstance(value, str):
                    strings.append(value)
                elif key.endswith("_minor"):
                    self.money.add(int(value))
                else:
                    self.numbers.add(Decimal(str(value)))
                    if key == "percent_off":
                        self.measured.add(("percent", Decimal(str(value))))
        self.raw = "\n\n".join(strings)
        # Ids and single values ("S1-white-38", "37") hold numbers that say nothing of days or percent; sentences do.
        single = Reading("\n\n".join(text for text in strings if " " not in text))
        self.prose = Reading("\n\n".join(text for text in strings if " " in text))
        for quantity in (*single.quantities, *self.prose.quantities):
            if quantity.minor is not None:
                self.money.add(quantity.minor)
            self.numbers.add(quantity.value)
        self.measured.update((each.unit, each.value) for each in self.prose.quantities)
        self.measured.update((each.unit, each.value) for each in single.quantities if each.unit)

    def shows(self, quantity: Quantity) -> bool:
        """Whether anything shows this number: money as money, shares and durations as such or bare in a sentence, else anyhow."""
        if quantity.unit == "money":
            return quantity.minor in self.money
        if quantity.unit in _MEASURED:
            return (quantity.unit, quantity.value) in self.measured or ("", quantity.value) in self.measured
        return quantity.value in self.numbers or (not quantity.unit and int(quantity.value * 100) in self.money)


def _leaves(value: JsonValue, key: str) -> Iterator[tuple[str, str | int | float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield key, value


def invented_names(world: str, raw_reply: str, evidence_text: str) -> Iterator[tuple[str, str]]:
    """Ids, codes and coupon titles of a reply that nothing shows, as (reason code, what)."""
    ids = _ID.findall(raw_reply) if world == DEMO_SHOP else []
    shown_ids = _ids_in(evidence_text) if ids else frozenset()
    for found in dict.fromkeys(ids):
        if found.lower() not in shown_ids:
            yield "invented_id", found
    for match in _CODE.finditer(raw_reply):
        if match[0].lower() not in evidence_text.lower():
            yield "invented_code", match[0]
    if world == DEMO_SHOP:
        reply = normalised(raw_reply)
        known = normalised(evidence_text)
        for title in _titles():
            if title in reply and title not in known:
                yield "invented_coupon", title


def _ids_in(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<![\w-])[a-z]{1,3}[0-9]{1,4}(?:-[a-z0-9.-]*[a-z0-9])?(?![\w-])", text.lower()))


def _titles() -> tuple[str, ...]:
    return tuple(coupon.title.lower() for coupon in demo_shop().coupons)


def promises(reply: Reading) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Promises that the reply makes and does not deny, each with the pattern that must be found in what was shown."""
    for name, pattern in PROMISES if _ANY_PROMISE.search(reply.plain) else ():
        if pattern.search(reply.plain) and reply.says(pattern):
            yield name, pattern
    if "free" in reply.plain and reply.says(FREE):
        yield "free", FREE
