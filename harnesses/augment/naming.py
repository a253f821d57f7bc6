"""Names by rule: for any harness, whatever its words. Case styles, prefixes, namespaces, opaque names, word-by-word synonyms."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from harnesses.augment.banks import Pooled
from harnesses.augment.transform import Scene
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
    used: Collection[str],
    *,
    must_speak: bool = False,
) -> str | None:
    """Another name in this style, legal and not like any in `taken` (twin keys); None where there is none.

    `own` is the twin key of the name itself, which may be respelled; empty where other names share it. `used` are the words
    of all names of the harness: no synonym may be one of them. With `must_speak`, nothing but the name says what it is for.
    """
    for candidate in _candidates(kind, name, style, bank, scene, used):
        key = twin_key(candidate)
        if must_speak and not is_speaking(candidate):
            continue
        if candidate != name and is_legal(kind, candidate) and (key not in taken or key == own):
            return candidate
    return None


def _candidates(
    kind: NameKind, name: str, style: str, bank: Pooled | None, scene: Scene, used: Collection[str]
) -> Iterator[str]:
    if style == "synonym":
        for candidate in _shuffled(bank[scene.pool] if bank else (), scene.rng):
            if kind not in ("parameter", "result") or _means_no_other(candidate, name, used):
                yield candidate
        yield from _synonyms(kind, name, scene, used)
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


def _means_no_other(candidate: str, name: str, used: Collection[str]) -> bool:
    """Whether a name keeps a word of the old one, or else has none that other names of the harness use for something else."""
    own, words = set(words_of(name)), set(words_of(candidate))
    return bool(own & words) or not any(word in used for word in words)


def _synonyms(kind: NameKind, name: str, scene: Scene, used: Collection[str]) -> Iterator[str]:
    """Word by word: `find_product` gives `search_item`. Words without a synonym, such as units, stay."""
    words = words_of(name)
    replaced = [_other_word(word, scene, used) for word in words] if name.isascii() else []
    if replaced != list(words):
        yield _joint(kind).join(replaced)


def _other_word(word: str, scene: Scene, used: Collection[str]) -> str:
    """The one synonym that this word has in this variant; the word itself where it has none."""
    if word not in scene.synonyms:
        taken = {*used, *(part for other in scene.synonyms.values() for part in words_of(other))}
        others = scene.banks.words.get(word)
        free = [other for other in others[scene.pool] if taken.isdisjoint(words_of(other))] if others else []
        scene.synonyms[word] = scene.rng.choice(free) if free else word
    return scene.synonyms[word]
