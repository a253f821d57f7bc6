"""Three-way merges of sequences: the lines of a text or the entries of a list, and an order of keys."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

_MAX_PAIRS: Final = 2_000_000
"""How many pairs of equal entries may be looked at: comparing two texts of the same few lines would take for ever."""
_MAX_PLACES: Final = 30_000_000
"""How many places there may be to compare at all: where everything is moved, each entry is looked for among all others."""
_MAX_REORDERED: Final = 1_200


@dataclass(frozen=True)
class _Edit:
    """Entries `start` to `end` (exclusive) of the base become `entries`. An insertion has `start` == `end`."""

    start: int
    end: int
    entries: tuple[str, ...]


def merge_sequences(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """Both sides' changes of one sequence, or None where they touch the same place (or comparing would take too long).

    Entries next to one another may be changed by different sides. Two insertions at one place are a conflict, because nobody
    said which comes first; the same change on both sides is made once.
    """
    left, right = _edits(base, mine), _edits(base, theirs)
    if left is None or right is None:
        return None
    merged: list[str] = []
    position = 0
    last: _Edit | None = None
    for edit in sorted([*left, *right], key=lambda item: (item.start, item.end)):
        if last is not None:
            if edit == last:
                continue
            if edit.start < last.end or (edit.start, edit.end) == (last.start, last.end):
                return None
        merged += [*base[position : edit.start], *edit.entries]
        position, last = edit.end, edit
    return [*merged, *base[position:]]


def _edits(before: Sequence[str], after: Sequence[str]) -> list[_Edit] | None:
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if is_long_to_compare(old, new):
        return None
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        _Edit(head + start, head + end, tuple(new[new_start:new_end]))
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def is_long_to_compare(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether matching two sequences would look at too many pairs of equal entries, or too many places for them."""
    if len(before) * len(after) > _MAX_PLACES:
        return True
    counts = Counter(before)
    return sum(counts[entry] for entry in after) > _MAX_PAIRS


def merge_order(
    base: Sequence[str], mine: Sequence[str], theirs: Sequence[str], kept: Collection[str]
) -> list[str] | None:
    """The keys in `kept`, in an order in which both sides' moves are made; None where the moves go round in a circle.

    Of any two keys there are but two orders, so if both sides changed it they agree. What only one side has comes after what
    stands before it there.
    """
    keys = set(kept)
    common = keys & set(base) & set(mine) & set(theirs)
    old, left, right = ([key for key in side if key in common] for side in (base, mine, theirs))
    if right in (old, left):
        start = [key for key in mine if key in keys]
    elif left == old:
        start = [key for key in theirs if key in keys]
    else:
        moved = _both_moved(old, left, right)
        if moved is None:
            return None
        start = moved
    return _with_added(_with_added(start, [key for key in mine if key in keys]), [key for key in theirs if key in keys])


def _both_moved(old: list[str], left: list[str], right: list[str]) -> list[str] | None:
    """An order that keeps, of every pair, the order that a side gave it. Exists if the pairs make no circle."""
    if len(old) > _MAX_REORDERED:
        return None
    before, mine, theirs = ({key: index for index, key in enumerate(side)} for side in (old, left, right))
    wins: dict[str, int] = dict.fromkeys(old, 0)
    for index, one in enumerate(old):
        for other in old[index + 1 :]:
            is_first = before[one] < before[other]
            chosen = mine if (mine[one] < mine[other]) != is_first else theirs
            wins[one if chosen[one] < chosen[other] else other] += 1
    order = sorted(old, key=lambda key: -wins[key])
    return order if len(set(wins.values())) == len(order) else None


def _with_added(order: list[str], side: list[str]) -> list[str]:
    """`order` with the keys of `side` that it lacks, each after the one before it there."""
    held = set(order)
    result = list(order)
    for index, key in enumerate(side):
        if key in held:
            continue
        place = result.index(side[index - 1]) + 1 if index else 0
        result.insert(place, key)
        held.add(key)
    return result
