"""Read a reply as a person does: amounts of money, counts, durations, and the words, whatever way they are written.

Full-width digits, thousands separators (comma, apostrophe, narrow spaces), yuan and fen, symbols before and words after a number
are all brought to one form. A comma is a decimal comma only before a currency ("129,00 yuan"); "1.299" is one and a bit.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Final

_MAJOR: Final = {"CNY": r"yuan|rmb|cny|kuai|元|块", "USD": r"usd|dollars?|bucks"}
_MINOR: Final = {"CNY": r"fen\b|分(?!钟)", "USD": r"cents?\b"}
_SYMBOLS: Final = {"¥": "CNY", "rmb": "CNY", "cny": "CNY", "$": "USD", "usd": "USD"}
_UNITS: Final = {
    "percent": r"%|percent\b|per cent\b",
    "count": r"(?:pieces?|pcs|units?|pairs?|sets?|more|of them)?\s?(?:left|in stock|available|remaining)\b"
    r"|pieces?\b|pcs\b|units?\b|件",
    "day": r"(?:working |business )?days?\b|天",
    "hour": r"hours?\b|小时",
    "month": r"months?\b|个月",
    "minute": r"minutes?\b|mins?\b|分钟",
    "measure": r"(?:cm|mm|m|kg|g|ml|l|w|v|db|°c|k|mah|wh|hz|inch|degrees)\b|°c",
}
_MONEY_WORDS: Final = "|".join(
    rf"(?P<{kind}_{currency}>{words})"
    for kind, table in (("major", _MAJOR), ("minor", _MINOR))
    for currency, words in table.items()
)
_ANY_MONEY: Final = "|".join([*_MAJOR.values(), *_MINOR.values()])
_QUANTITY: Final = re.compile(
    r"(?<![a-z0-9_.])(?:(?P<clock>\d{1,2}:\d{2})(?!\d)|"
    r"(?:(?P<symbol>¥|\$|rmb|cny|usd)\s?)?"
    rf"(?P<number>\d+,\d{{2}}(?=\s?(?:{_ANY_MONEY}))|\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:[\s-]?(?:{_MONEY_WORDS}|{'|'.join(f'(?P<{name}>{words})' for name, words in _UNITS.items())}))?)"
)
_RANGE: Final = re.compile(r"\s*(?:-|–|—|~|to|or|至|到)\s*\Z")
_SEPARATOR: Final = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'’](?=\d{3}(?!\d))")
_WIDE_COMMA: Final = re.compile(r"(?<![０-９])，|，(?![０-９])")
_TOKEN: Final = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+|%")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SMALL: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_COUNT_WORDS: Final = {word: number for number, word in enumerate(_SMALL)}
_SPELLED: Final = re.compile(
    rf"\b({'|'.join(_COUNT_WORDS)})(?=\s(?:(?:pieces?|pairs?|are|is|more)\s)?(?:left|in stock|available|remaining|pieces?)\b)"
)
_MAX_DIGITS: Final = 18
_HUGE: Final = Decimal(10) ** 20
"""What every longer number is read as: more than anything costs, and no trouble to calculate with."""
_NEGATION: Final = re.compile(
    r"\b(?:no|not|none|never|without|cannot|neither|nor|unable)\b|n't\b|\bdont\b|\bcant\b|不|没|无"
)
_CLAUSE: Final = re.compile(r"[.;!?,。；！？]\s|[;!?。；！？\n]|\bbut\b")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text. `unit` is "money", "percent", "count", "day", "hour", "month", "minute", "measure", or "" where none
    follows.

    `minor` is the amount in minor units where `unit` is "money", None if it is no whole number of them. Offsets are in the
    normalised text.
    """

    value: Decimal
    unit: str
    start: int
    end: int
    currency: str = ""
    minor: int | None = None


def normalised(text: str) -> str:
    """Lower case, compatibility forms folded, separators inside numbers as commas."""
    if not text.isascii():
        text = _SEPARATOR.sub(",", _WIDE_COMMA.sub(", ", text))
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return _SEPARATOR.sub(",", text).lower()


def singular(word: str) -> str:
    """The word without a plural s: "trays" → "tray"."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


def tokens_of(plain: str) -> list[str]:
    """Words and numbers of a normalised text, in order, plurals and trailing zeros dropped: "99.00 yuan" → ["99", "yuan"]."""
    found = []
    for token in _TOKEN.findall(_THOUSANDS.sub("", plain)):
        if token[0].isdigit():
            found.append(token.rstrip("0").rstrip(".") if "." in token else token)
        else:
            found.append(singular(token))
    return found


@dataclass
class Reading:
    """A text, read once; every view of it is worked out when it is first asked for."""

    raw: str
    plain: str = field(init=False)

    def __post_init__(self) -> None:
        self.plain = normalised(self.raw)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every number, in order; the first of a range takes the unit of the second ("2 to 4 days"). Times of day are left out."""
        text = _SPELLED.sub(lambda match: str(_COUNT_WORDS[match[1]]).ljust(len(match[1])), self.plain)
        found = [_quantity(match) for match in _QUANTITY.finditer(text) if match["clock"] is None]
        for place in range(len(found) - 2, -1, -1):
            first, second = found[place], found[place + 1]
            if not first.unit and second.unit and _RANGE.match(text[first.end : second.start]):
                found[place] = _with_unit_of(first, second)
        return tuple(found)

    @cached_property
    def tokens(self) -> frozenset[str]:
        return frozenset(tokens_of(self.plain))

    @cached_property
    def line(self) -> str:
        """All tokens in a row, a blank around each, to look for phrases in."""
        return f" {' '.join(tokens_of(self.plain))} "

    @cached_property
    def is_negated(self) -> bool:
        """Whether anything is denied anywhere."""
        return _NEGATION.search(self.plain) is not None

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern is found outside a denial: "the best" but not "I cannot say that it is the best"."""
        return any(not self._is_denied(match.start()) for match in pattern.finditer(self.plain))

    def _is_denied(self, position: int) -> bool:
        clause = 0
        for mark in _CLAUSE.finditer(self.plain, 0, position):
            clause = mark.end()
        return _NEGATION.search(self.plain, clause, position) is not None


def _quantity(match: re.Match[str]) -> Quantity:
    number = match["number"]
    is_decimal_comma = "," in number and len(number) - number.index(",") == 3 and "." not in number
    value = Decimal(number.replace(",", "." if is_decimal_comma else "")) if len(number) <= _MAX_DIGITS else _HUGE
    kind = match.lastgroup or ""
    start, end = match.span()
    if kind.startswith(("major_", "minor_")):
        currency = kind[6:]
        is_minor = kind.startswith("minor_")
        return Quantity(value, "money", start, end, currency, _whole(value if is_minor else value * 100))
    if match["symbol"]:
        return Quantity(value, "money", start, end, _SYMBOLS[match["symbol"]], _whole(value * 100))
    return Quantity(value, kind if kind in _UNITS else "", start, end)


def _with_unit_of(first: Quantity, second: Quantity) -> Quantity:
    minor = None
    if second.unit == "money":
        is_minor = second.minor is not None and second.value == second.minor and second.value != 0
        minor = _whole(first.value if is_minor else first.value * 100)
    return Quantity(first.value, second.unit, first.start, first.end, second.currency, minor)


def _whole(value: Decimal) -> int | None:
    return int(value) if value == value.to_integral_value() else None
