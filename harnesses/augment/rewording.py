"""Other words for a text: a reviewed wording where the bank has that very text, else a rule that cannot change what it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from re import Match, Pattern
from typing import Final

from harnesses.augment.transform import Scene
from harnesses.core.editing.texts import placeholder_spans

_CONTRACTIONS: Final = (
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("cannot", "can't"),
    ("is not", "isn't"),
    ("are not", "aren't"),
    ("will not", "won't"),
    ("should not", "shouldn't"),
    ("must not", "mustn't"),
    ("you are", "you're"),
    ("it is", "it's"),
)
_SAFE_PAIRS: Final = (
    ("for example", "for instance"),
    ("such as", "like"),
    ("in order to", "to"),
    ("at once", "immediately"),
    ("as well as", "and also"),
)


def reworded(text: str, scene: Scene, frame: str = "") -> str | None:
    """The text in other words; None where neither bank nor rule has any. `frame` names the sentences it may be put into."""
    entry = scene.banks.wordings.get(text)
    if entry is not None and entry.same[scene.pool]:
        return scene.rng.choice(entry.same[scene.pool])
    if not text.strip():
        return None
    if frame and scene.banks.frames[frame][scene.pool]:
        return scene.rng.choice(scene.banks.frames[frame][scene.pool]).replace("TEXT", text.strip())
    changed = _by_rule(text)
    return changed if changed != text else None


def in_length(text: str, length: str, scene: Scene) -> str | None:
    """The text in a reviewed shorter or longer wording; None where the bank has none."""
    entry = scene.banks.wordings.get(text)
    options = () if entry is None else (entry.terse if length == "terse" else entry.long)[scene.pool]
    return scene.rng.choice(options) if options else None


def _by_rule(text: str) -> str:
    """Contractions written out, or contracted where there are none to write out; set phrases for one another."""
    outward = tuple((short, long) for long, short in _CONTRACTIONS)
    for pairs in (outward, _CONTRACTIONS, _SAFE_PAIRS):
        changed = _outside_placeholders(text, partial(_swapped, pairs=pairs))
        if changed != text:
            return changed
    return text


def _swapped(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        if old in text or old.capitalize() in text:
            text = _phrase(old).sub(partial(_cased, new=new), text)
    return text


@cache
def _phrase(words: str) -> Pattern[str]:
    """The phrase by itself, not quoted and no part of a longer word, with a small or a capital first letter."""
    return re.compile(rf"(?<![\w'’`\"-])(?i:{re.escape(words[0])}){re.escape(words[1:])}(?![\w'’`\"-])")


def _cased(found: Match[str], new: str) -> str:
    return new[0].upper() + new[1:] if found.group()[0].isupper() else new


def _outside_placeholders(text: str, change: Callable[[str], str]) -> str:
    pieces, position = [], 0
    for start, end in placeholder_spans(text):
        pieces += [change(text[position:start]), text[start:end]]
        position = end
    return "".join([*pieces, change(text[position:])])
