"""Find what a model means: an item, variant or coupon by id or by exact name, and close matches when nothing fits.

Small models copy names as readily as ids, so both are taken, without regard to case. Nothing is ever guessed: a near miss is an
error that lists what is near.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from livestream.arguments import OperationFailed
from livestream.catalogue import Coupon, Item, Shop, Variant

_CLOSE = 0.55
_MOST_SHOWN = 3
_NOISE = str.maketrans(dict.fromkeys(",;:/|\"'()[]{}=+", " "))


def find_item(shop: Shop, wanted: str, argument: str = "item") -> Item:
    """The item with this id or exact name. Raises OperationFailed (`not_found`) with close matches."""
    key = _plain(wanted)
    for item in shop.items:
        if key in (_plain(item.id), _plain(item.name)):
            return item
    near = close_matches(wanted, [(item.id, item.name) for item in shop.items])
    raise OperationFailed("not_found", f"There is no item {wanted}.{near}", argument)


def find_variant(item: Item, wanted: str, argument: str = "variant") -> Variant:
    """The variant with this id, or the one variant with these option values ("navy, M", or "navy" if that names one only).

    Raises OperationFailed: `not_found` lists the variants there are, `ambiguous` those that fit.
    """
    key = _plain(wanted)
    for variant in item.variants:
        if key in (_plain(variant.id), _plain(variant.label)):
            return variant
    words = set(key.split())
    fitting = [variant for variant in item.variants if words and words <= _option_words(variant)]
    if len(fitting) == 1:
        return fitting[0]
    shown = "; ".join(f"{variant.id} ({variant.label})" for variant in fitting or item.variants)
    if fitting:
        raise OperationFailed(
            "ambiguous", f"{wanted} fits several variants of {item.name}: {shown}. Name one.", argument
        )
    raise OperationFailed("not_found", f"{item.name} has no variant {wanted}. It has: {shown}.", argument)


def find_coupon(shop: Shop, wanted: str, argument: str) -> Coupon:
    """The coupon with this id or exact title. Raises OperationFailed (`not_found`) with the coupons there are."""
    key = _plain(wanted)
    for coupon in shop.coupons:
        if key in (_plain(coupon.id), _plain(coupon.title)):
            return coupon
    near = close_matches(wanted, [(coupon.id, coupon.title) for coupon in shop.coupons])
    raise OperationFailed("not_found", f"There is no coupon {wanted}.{near}", argument)


def close_matches(wanted: str, choices: Iterable[tuple[str, str]]) -> str:
    """A sentence that lists up to three (id, name) pairs like `wanted`: " Close matches: T9 Linen shirt." or ""."""
    key = _plain(wanted)
    words = set(key.split())
    ranked = []
    for position, (identifier, name) in enumerate(choices):
        plain_name = _plain(name)
        likeness = max(
            _likeness(key, plain_name),
            _likeness(key, _plain(identifier)),
            _shared_words(words, set(plain_name.split())),
        )
        if likeness >= _CLOSE:
            ranked.append((-likeness, position, f"{identifier} {name}"))
    if not ranked:
        return ""
    return f" Close matches: {'; '.join(shown for _, _, shown in sorted(ranked)[:_MOST_SHOWN])}."


def _likeness(wanted: str, known: str) -> float:
    matcher = SequenceMatcher(None, wanted, known)
    is_near = matcher.real_quick_ratio() >= _CLOSE and matcher.quick_ratio() >= _CLOSE
    return matcher.ratio() if is_near else 0.0


def _shared_words(wanted: set[str], name: set[str]) -> float:
    return len(wanted & name) / len(wanted) if wanted else 0.0


def _option_words(variant: Variant) -> set[str]:
    return {word for value in variant.options.values() for word in _plain(value).split()} | {
        word for name in variant.options for word in _plain(name).split()
    }


@lru_cache(maxsize=4096)
def _plain(value: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", value).casefold().translate(_NOISE).split())
