"""Full-text search over a shop, small and deterministic: words in the name weigh most, then attributes, then the prose."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harnesses.core.caching import cached_by_identity
from livestream.catalogue import Item, Shop

_WORD = re.compile(r"[^\W_]+")
_IDLE = frozenset(
    _WORD.findall("a an and any are for have i in is it me my of on or some something that the to with you your")
)
_NAME, _FACTS, _PROSE = 8, 3, 1


def search(
    shop: Shop,
    shelf: Sequence[str],
    *,
    query: str = "",
    category: str | None = None,
    max_price_minor: int | None = None,
    in_stock: bool = False,
) -> list[Item]:
    """The items that fit, best first. Every word of the query must occur; if none fits so, items with any of the words.

    Ties: items on the shelf first, then the shop's own order. An empty query fits every item.
    """
    pool = [
        item
        for item in shop.items
        if (category is None or item.category == category)
        and (max_price_minor is None or item.price_from_minor <= max_price_minor)
        and (not in_stock or item.is_in_stock)
    ]
    words = [word for word in words_of(query) if word not in _IDLE] or words_of(query)
    scored = [(item, _scores(item, words)) for item in pool]
    fitting = [(item, sum(scores)) for item, scores in scored if all(scores)]
    if not fitting:
        fitting = [(item, sum(scores)) for item, scores in scored if any(scores)]
    ranked = sorted(fitting, key=lambda pair: (-pair[1], pair[0].id not in shelf))
    return [item for item, _ in ranked]


def words_of(text: str) -> list[str]:
    """Lower-case words, a plural s dropped: "Linen shirts" → ["linen", "shirt"]."""
    return [_singular(word) for word in _WORD.findall(text.casefold())]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@cached_by_identity
def _vocabulary(item: Item) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words of an item's name, facts and prose."""
    name = [item.id, item.name]
    facts = [item.category, item.brand or "", *item.attributes.values(), *_options(item)]
    prose = [item.description, *item.selling_points, *item.attributes]
    by_name, by_facts, by_prose = (frozenset(words_of(" ".join(texts))) for texts in (name, facts, prose))
    return by_name, by_facts, by_prose


def _scores(item: Item, words: Sequence[str]) -> list[int]:
    name, facts, prose = _vocabulary(item)
    return [_NAME * (word in name) + _FACTS * (word in facts) + _PROSE * (word in prose) for word in words]


def _options(item: Item) -> list[str]:
    return [value for variant in item.variants for value in variant.options.values()]
