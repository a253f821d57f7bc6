"""What a reply must or must not say, in canonical terms, and whether it does.

A fact is data; `holds` decides. Where a value is all words, they may stand in any order; with a number in it ("55% linen") they
stand together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

from harnesses.core.spec import Frozen
from livestream.catalogue import format_money
from livestream.tasks.reading import Reading, normalised, tokens_of

FactKind = Literal[
    "money", "prices", "number", "other_count", "words", "said", "yes", "no", "sold_out", "in_stock", "free", "declined",
    "unknown", "asked",
    "sizes",
]  # fmt: skip

SOLD_OUT: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!not yet )\b(?:sold out|out of stock)\b|\bunavailable\b"
    r"|\b(?:none|nothing|no more|no pieces?|not any) left\b"
    r"|\b(?:not|n't|no longer|none|no)(?: currently| yet| any)? (?:are |is )?(?:in stock|available)\b"
    r"|n't (?:in stock|available|any left|have any left)|\bno stock\b|(?<!\d)0 (?:pieces? |are )?(?:left|in stock|available)\b"
    r"|\bzero (?:left|in stock)\b|\b(?:ran|run) out\b|\ball gone\b|售罄|卖完|没货|缺货"
)
_IN_STOCK: Final = re.compile(
    r"\bin stock\b|\bavailable\b|\bleft\b|\bstill have\b|\bwe have\b|\byes\b|not sold out|n't sold out|有货|现货"
)
FREE: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!feel )(?<!never )(?<![-\w])(?<!bpa )(?<!pfas )(?<!alcohol )(?<!fragrance )(?<!silicone )(?<!hands )"
    r"\bfree\b(?! time)|\bno (?:extra )?charge\b|\bat no cost\b|\bcosts nothing\b|\bcomplimentary\b|包邮|免费|免邮"
)
_DECLINED: Final = re.compile(
    r"\b(?:ca|could|wo|would|do|should|may|must)n't\b|\b(?:cannot|can not|unable|not able|may not|must not|do not|never)\b"
    r"|\bnot (?:allowed|permitted|something)\b|\bonly (?:help|answer|talk|say)\b|\bhere (?:for|to help with) (?:the|our|this)\b"
    r"|抱歉|不能|无法"
)
_TELLING: Final = (
    "know|have|say|find|list|state|tell|confirm|mention|carry|sell|listed|stated|given|mentioned|in our|see|sure"
)
_UNKNOWN: Final = re.compile(
    rf"\b(?:do|does|did|could|ca|is|are|was|has|have)n't (?:{_TELLING})"
    rf"|\b(?:do|does|did|could|can|is|are|has|have) not (?:{_TELLING})"
    r"|\bcannot (?:say|find|tell|confirm|see)\b|\bno (?:information|details?|data|such|word)\b|\bunable to\b"
    r"|\bnot (?:listed|stated|given|mentioned|sure|known|part of)\b|\bnothing (?:like|on|about)\b|不知道|没有"
)
_EVASIVE: Final = re.compile(
    r"n't (?:know|say|tell|find|sure)|\bnot (?:sure|know|listed|stated)\b"
    r"|\bno (?:idea|information|details?)\b|\bcannot (?:say|tell|find)\b"
)
_CHECKS: dict[str, re.Pattern[str]] = {"free": FREE, "declined": _DECLINED, "unknown": _UNKNOWN}


class Fact(Frozen):
    """One thing to say or not to say. Which fields count depends on `kind`; `told` is the fact in words, for reasons.

    money: `amounts[0]` minor units of `currency`. prices: `phrases[i]` costs `amounts[i]`. number: `amounts[0]` with `unit`, or
    bare. other_count: a count other than `amounts[0]`. words: any of `phrases`. said: any of `phrases`, outside a denial. asked:
    a question with any of `phrases`. sizes: all of `phrases` and none of `others`. yes: "yes", or any of `phrases` with
    nothing denied. The rest need no fields.
    """

    kind: FactKind
    amounts: tuple[int, ...] = ()
    currency: str = ""
    unit: str = ""
    phrases: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The fact in plain words: "129.00 CNY", "55% linen"."""
        match self.kind:
            case "money":
                return format_money(self.amounts[0], self.currency)
            case "prices":
                pairs = zip(self.phrases, self.amounts, strict=True)
                return ", ".join(f"{name} {format_money(amount, self.currency)}" for name, amount in pairs)
            case "number":
                return f"{self.amounts[0]} {self.unit}".strip()
            case "other_count":
                return f"a count other than {self.amounts[0]}"
            case "sizes":
                return f"size {' and '.join(self.phrases)} and no other"
            case "words" | "said":
                return f'"{self.phrases[0]}"'
            case "asked":
                return f"a question about {self.phrases[0]}"
            case _:
                return _TOLD[self.kind]


_TOLD: Final = {
    "yes": "yes",
    "no": "no",
    "sold_out": "sold out",
    "in_stock": "in stock",
    "free": "free",
    "declined": "that it cannot do this",
    "unknown": "that it does not know",
}


def money(amount_minor: int, currency: str) -> Fact:
    """An amount, in minor units."""
    return Fact(kind="money", amounts=(amount_minor,), currency=currency)


def words(*phrases: str) -> Fact:
    """Any of these phrases."""
    return Fact(kind="words", phrases=phrases)


def said(*phrases: str) -> Fact:
    """Any of these phrases, claimed and not denied."""
    return Fact(kind="said", phrases=phrases)


def number(value: int, unit: str) -> Fact:
    """A number with this unit, or without any."""
    return Fact(kind="number", amounts=(value,), unit=unit)


def holds(fact: Fact, reply: Reading) -> bool:
    """Whether the reply says it."""
    return _HOLDS[fact.kind](fact, reply)


def _money(fact: Fact, reply: Reading) -> bool:
    return says_amount(reply, fact.amounts[0], fact.currency)


def says_amount(reply: Reading, minor: int, currency: str) -> bool:
    """Whether the amount is said, in its currency or as a bare number of major units."""
    for each in reply.quantities:
        if each.unit == "money":
            if each.minor == minor and each.currency == currency:
                return True
        elif not each.unit and each.value * 100 == minor:
            return True
    return minor == 0 and reply.says(FREE)


def _prices(fact: Fact, reply: Reading) -> bool:
    """Every name with its own amount: amounts all follow their names, or all stand before them.

    A reply that does not name all of them has to say all the amounts.
    """
    if any(normalised(name) not in reply.plain for name in fact.phrases):
        return all(says_amount(reply, amount, fact.currency) for amount in fact.amounts)
    mentions = sorted(
        (match.start(), match.end(), place)
        for place, name in enumerate(fact.phrases)
        for match in re.finditer(re.escape(normalised(name)), reply.plain)
    )
    starts = [start for start, _, _ in mentions]
    ends = [end for _, end, _ in mentions]
    after: set[int] = set()
    before: set[int] = set()
    for index, (start, end, place) in enumerate(mentions):
        until = starts[index + 1] if index + 1 < len(mentions) else len(reply.plain)
        since = ends[index - 1] if index else 0
        if says_amount(Reading(reply.plain[end:until]), fact.amounts[place], fact.currency):
            after.add(place)
        if says_amount(Reading(reply.plain[since:start]), fact.amounts[place], fact.currency):
            before.add(place)
    return len(fact.phrases) in (len(after), len(before))


def _number(fact: Fact, reply: Reading) -> bool:
    return any(each.value == fact.amounts[0] and each.unit in (fact.unit, "") for each in reply.quantities)


def _other_count(fact: Fact, reply: Reading) -> bool:
    return any(
        each.unit == "count" and each.value != fact.amounts[0] and not reply.plain.startswith("size ", each.start - 5)
        for each in reply.quantities
    )


def _words(fact: Fact, reply: Reading) -> bool:
    return any(_has_phrase(phrase, reply) for phrase in fact.phrases)


@lru_cache(maxsize=8192)
def _phrase(phrase: str) -> tuple[str, frozenset[str], bool]:
    tokens = tokens_of(normalised(phrase))
    has_number = any(token[0].isdigit() for token in tokens)
    return f" {' '.join(tokens)} ", frozenset(tokens) - _IDLE, has_number


_IDLE: Final = frozenset(["a", "an", "the", "and", "of", "in", "at", "to", "with", "on", "or", "for"])


def _has_phrase(phrase: str, reply: Reading) -> bool:
    line, needed, has_number = _phrase(phrase)
    return line in reply.line if has_number or not needed else needed <= reply.tokens


@lru_cache(maxsize=2048)
def _claim(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w){re.escape(normalised(phrase))}(?!\w)" for phrase in phrases))


def _said(fact: Fact, reply: Reading) -> bool:
    return reply.says(_claim(fact.phrases))


def _yes(fact: Fact, reply: Reading) -> bool:
    if reply.plain.lstrip().startswith("yes"):
        return True
    return not reply.is_negated and ("yes" in reply.tokens or _words(fact, reply))


def _no(fact: Fact, reply: Reading) -> bool:
    return reply.is_negated and not reply.plain.lstrip().startswith("yes") and not _EVASIVE.search(reply.plain)


def _sold_out(fact: Fact, reply: Reading) -> bool:
    return SOLD_OUT.search(reply.plain) is not None


def _in_stock(fact: Fact, reply: Reading) -> bool:
    return not _sold_out(fact, reply) and _IN_STOCK.search(reply.plain) is not None


def _found(fact: Fact, reply: Reading) -> bool:
    return _CHECKS[fact.kind].search(reply.plain) is not None


def _asked(fact: Fact, reply: Reading) -> bool:
    return ("?" in reply.plain or "tell me" in reply.plain) and _words(fact, reply)


@lru_cache(maxsize=1024)
def _size(size: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'.-]){re.escape(size)}(?![\w'%]|\.\d|\s?(?:cm|mm|kg))")


def _sizes(fact: Fact, reply: Reading) -> bool:
    return all(_size(size).search(reply.raw) for size in fact.phrases) and not any(
        _size(size).search(reply.raw) for size in fact.others
    )


_HOLDS: Final[dict[str, Callable[[Fact, Reading], bool]]] = {
    "money": _money,
    "prices": _prices,
    "number": _number,
    "other_count": _other_count,
    "words": _words,
    "said": _said,
    "yes": _yes,
    "no": _no,
    "sold_out": _sold_out,
    "in_stock": _in_stock,
    "free": _found,
    "declined": _found,
    "unknown": _found,
    "asked": _asked,
    "sizes": _sizes,
}
