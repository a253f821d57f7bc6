"""Names by rule: for any harness, whatever its words. Case styles, prefixes, namespaces, opaque names, word-by-word synonyms."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from harnesses.augment.banks import Banks, Pooled
from harnesses.augment.transform import Pool, Scene
from harnesses.core.checks_names import SKILL_NAME, TOOL_NAME, WIRE_WORDS, twin_key

NameKind = Literal["tool", "skill", "hook", "parameter", "result"]
_MAX_LENGTH = 64
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_EMPTY_WORDS = frozenset({
    "tool", "tools", "fn", "func", "function", "op", "act", "action", "cap", "api", "arg", "args", "param", "par",
    "prm", "in", "val", "value", "field", "fld", "key", "col", "out", "res", "skill", "skl", "hook", "hk", "do",
})  # fmt: skip
"""Words that say what kind of thing has the name, and nothing about what it is for."""
_MIN_SPEAKING = 3


@lru_cache(maxsize=4_096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, lower case: `getPrice`, `get_price` and `get-price` give the same."""
    return tuple(word.casefold() for word in _WORD.findall(name))


@lru_cache(maxsize=4_096)
def is_speaking(name: str) -> bool:
    """Whether a name says what it is for: a word of three letters or more (of any length in a script other than Latin)."""
    return any(
        word.isalpha() and word not in _EMPTY_WORDS and (len(word) >= _MIN_SPEAKING or not word.isascii())
        for word in words_of(name)
    )


def is_legal(kind: NameKind, name: str) -> bool:
    """Whether a harness with this name would still be saved."""
    if kind == "hook":
        return bool(name.strip())
    pattern = SKILL_NAME if kind == "skill" else TOOL_NAME
    return bool(pattern.fullmatch(name)) and twin_key(name) not in WIRE_WORDS


def new_name(
    kind: NameKind,
    name: str,
    style: str,
    bank: Pooled | None,
    scene: Scene,
    taken: Collection[str],
    own: str,
    *,
    must_speak: bool = False,
) -> str | None:
    """Another name in this style, legal and not like any in `taken` (twin keys); None where there is none.

    `own` is the twin key of the name itself, which may be respelled; empty where other names share it. With `must_speak`, nothing
    but the name says what it is for.
    """
    for candidate in _candidates(kind, name, style, bank, scene):
        key = twin_key(candidate)
        if must_speak and not is_speaking(candidate):
            continue
        if candidate != name and is_legal(kind, candidate) and (key not in taken or key == own):
            return candidate
    return None


def _candidates(kind: NameKind, name: str, style: str, bank: Pooled | None, scene: Scene) -> Iterator[str]:
    if style == "synonym":
        yield from _shuffled(bank[scene.pool] if bank else (), scene.rng)
        yield from _synonyms(kind, name, scene)
    elif style == "opaque":
        stems = scene.banks.opaque_stems[kind][scene.pool]
        for _ in range(40):
            yield f"{scene.rng.choice(stems)}{_joint(kind)}{scene.rng.randrange(10, 1000)}"
    elif style == "namespaced":
        joints = {"skill": ("-",), "hook": ("-",)}.get(kind, ("__", "_", "-"))
        for space in _shuffled(scene.banks.namespaces[scene.pool], scene.rng):
            yield f"{space}{scene.rng.choice(joints)}{name}"[:_MAX_LENGTH]
    elif style == "prefix":
        for prefix in _shuffled(scene.banks.prefixes[scene.pool], scene.rng):
            yield f"{prefix}{_joint(kind)}{name}"[:_MAX_LENGTH]
    else:
        yield restyled(name, style)


def _joint(kind: NameKind) -> str:
    return "-" if kind in ("skill", "hook") else "_"


def _shuffled(values: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample(values, len(values))


def restyled(name: str, style: str) -> str:
    """The same words in another case style; the name itself for an unknown one."""
    words = words_of(name)
    if not words:
        return name
    styles = {
        "snake": "_".join(words),
        "camel": words[0] + "".join(word.capitalize() for word in words[1:]),
        "pascal": "".join(word.capitalize() for word in words),
        "kebab": "-".join(words),
        "screaming": "_".join(words).upper(),
        "joined": "".join(words),
    }
    return styles.get(style, name)


def _synonyms(kind: NameKind, name: str, scene: Scene) -> Iterator[str]:
    """Word by word: `find_product` gives `search_item`. Words without a synonym, such as units, stay."""
    words = words_of(name)
    if kind in ("tool", "parameter", "result") and not name.isascii():
        return
    for _ in range(6):
        replaced = [_other_word(word, scene.banks, scene.pool, scene.rng) for word in words]
        if replaced != list(words):
            yield _joint(kind).join(replaced)


def _other_word(word: str, banks: Banks, pool: Pool, rng: random.Random) -> str:
    others: Mapping[str, tuple[str, ...]] | None = banks.words.get(word)
    return rng.choice(others[pool]) if others and others[pool] else word
