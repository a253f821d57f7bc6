"""Two texts line by line, with what changed inside a line marked: side by side, or in one column. Built on difflib.

Long stretches of equal lines are folded: the rows that stand for them hold the lines, so that a page can show them on demand.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from harnesses.core.merge.sequences import is_long_to_compare

CONTEXT_LINES = 3
MAX_ROWS = 1_500
MAX_HIDDEN_ROWS = 2_000
MAX_MARKED_CHARS = 2_000
MIN_FOLDED = 3
MIN_ALIKE = 0.4
"""Share of equal words below which two lines have nothing to do with each other: marking words in them only confuses."""
_WORDS = re.compile(r"\w+|\s+|.")

Pieces = tuple[tuple[str, str], ...]
_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class DiffRow:
    """One row. `*_pieces` are (kind, text) with kind `same`, `del` or `ins`.

    `skipped` counts equal lines folded here, and `hidden` holds them, unless they are too many for a page.
    """

    old_number: int | None = None
    new_number: int | None = None
    old_pieces: Pieces = ()
    new_pieces: Pieces = ()
    old_class: str = ""
    new_class: str = ""
    skipped: int = 0
    hidden: tuple[DiffRow, ...] = ()


@dataclass(frozen=True)
class TextDiff:
    """Rows to show. `is_cut`: there are more than MAX_ROWS."""

    old_label: str
    new_label: str
    rows: tuple[DiffRow, ...]
    is_cut: bool

    @cached_property
    def unified(self) -> tuple[DiffRow, ...]:
        """The same in one column: of each run of changed lines first what went, then what came; each row has one side."""
        return tuple(_unified(self.rows))


def text_diff(old: str, new: str, *, old_label: str, new_label: str) -> TextDiff | None:
    """The difference of two texts, or None where they are equal."""
    if old == new:
        return None
    rows: list[DiffRow] = []
    for row in _rows(old.split("\n"), new.split("\n")):
        if len(rows) >= MAX_ROWS:
            return TextDiff(old_label, new_label, tuple(rows), is_cut=True)
        rows.append(row)
    return TextDiff(old_label, new_label, tuple(rows), is_cut=False)


def _rows(old: list[str], new: list[str]) -> Iterator[DiffRow]:
    opcodes = _opcodes(old, new)
    left_to_hide = MAX_HIDDEN_ROWS
    for index, (tag, old_from, old_to, new_from, new_to) in enumerate(opcodes):
        left = list(enumerate(old[old_from:old_to], old_from + 1))
        right = list(enumerate(new[new_from:new_to], new_from + 1))
        if tag != "equal":
            yield from _changed(left, right)
            continue
        head = 0 if index == 0 else CONTEXT_LINES
        tail = 0 if index == len(opcodes) - 1 else CONTEXT_LINES
        folded = len(left) - head - tail
        if folded < MIN_FOLDED:
            yield from _equal(left, right)
            continue
        end = len(left) - tail
        yield from _equal(left[:head], right[:head])
        hidden = tuple(_equal(left[head:end], right[head:end])) if folded <= left_to_hide else ()
        left_to_hide -= len(hidden)
        yield DiffRow(skipped=folded, hidden=hidden)
        yield from _equal(left[end:], right[end:])


def _opcodes(old: list[str], new: list[str]) -> list[_Opcode]:
    """What difflib says, between the lines that both begin and end with. Where it would take long, all of that changed."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[_Opcode] = [("replace", 0, len(left), 0, len(right))]
    if not is_long_to_compare(left, right):
        middle = [*difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()]
    shifted = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle]
    before: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    after: list[_Opcode] = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*before, *shifted, *after]


def _equal(left: list[tuple[int, str]], right: list[tuple[int, str]]) -> Iterator[DiffRow]:
    for (old_number, text), (new_number, _) in zip(left, right, strict=True):
        pieces = (("same", text),)
        yield DiffRow(old_number, new_number, pieces, pieces)


def _changed(left: list[tuple[int, str]], right: list[tuple[int, str]]) -> Iterator[DiffRow]:
    for index in range(max(len(left), len(right))):
        old = left[index] if index < len(left) else None
        new = right[index] if index < len(right) else None
        old_pieces, new_pieces = _marked(old[1], new[1]) if old and new else (_whole(old), _whole(new))
        yield DiffRow(
            old_number=old[0] if old else None,
            new_number=new[0] if new else None,
            old_pieces=old_pieces,
            new_pieces=new_pieces,
            old_class="is-del" if old else "is-none",
            new_class="is-add" if new else "is-none",
        )


def _whole(line: tuple[int, str] | None) -> Pieces:
    return (("same", line[1]),) if line else ()


def _marked(old: str, new: str) -> tuple[Pieces, Pieces]:
    """Which words changed inside a line; long lines, where that would take long and help little, stay whole."""
    if max(len(old), len(new)) > MAX_MARKED_CHARS:
        return (("same", old),), (("same", new),)
    left: list[tuple[str, str]] = []
    right: list[tuple[str, str]] = []
    words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, words, new_words, autojunk=False)
    if matcher.ratio() < MIN_ALIKE:
        return (("same", old),), (("same", new),)
    for tag, a, b, c, d in matcher.get_opcodes():
        if b > a:
            left.append(("same" if tag == "equal" else "del", "".join(words[a:b])))
        if d > c:
            right.append(("same" if tag == "equal" else "ins", "".join(new_words[c:d])))
    return tuple(left), tuple(right)


def _unified(rows: Iterable[DiffRow]) -> Iterator[DiffRow]:
    gone: list[DiffRow] = []
    came: list[DiffRow] = []
    for row in rows:
        if not (row.old_class or row.new_class):
            yield from (*gone, *came)
            gone, came = [], []
            yield row
            continue
        if row.old_number is not None:
            gone.append(DiffRow(old_number=row.old_number, old_pieces=row.old_pieces, old_class=row.old_class))
        if row.new_number is not None:
            came.append(DiffRow(new_number=row.new_number, new_pieces=row.new_pieces, new_class=row.new_class))
    yield from (*gone, *came)
