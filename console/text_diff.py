"""Two texts side by side, line by line, with what changed inside a line marked. Built on difflib."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

CONTEXT_LINES = 3
MAX_ROWS = 1_500
MAX_MARKED_CHARS = 2_000
_WORDS = re.compile(r"\w+|\s+|.")

Pieces = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DiffRow:
    """One row. `*_pieces` are (kind, text) with kind `same`, `del` or `ins`. `skipped` counts equal lines left out here."""

    old_number: int | None = None
    new_number: int | None = None
    old_pieces: Pieces = ()
    new_pieces: Pieces = ()
    old_class: str = ""
    new_class: str = ""
    skipped: int = 0


@dataclass(frozen=True)
class TextDiff:
    """Rows to show. `is_cut`: there are more than MAX_ROWS."""

    old_label: str
    new_label: str
    rows: tuple[DiffRow, ...]
    is_cut: bool


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
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    shown_to = 0
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > shown_to:
            yield DiffRow(skipped=group[0][1] - shown_to)
        for tag, old_from, old_to, new_from, new_to in group:
            left = list(enumerate(old[old_from:old_to], old_from + 1))
            right = list(enumerate(new[new_from:new_to], new_from + 1))
            yield from _equal(left, right) if tag == "equal" else _changed(left, right)
        shown_to = group[-1][2]
    if len(old) > shown_to:
        yield DiffRow(skipped=len(old) - shown_to)


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
    for tag, a, b, c, d in difflib.SequenceMatcher(None, words, new_words, autojunk=False).get_opcodes():
        if b > a:
            left.append(("same" if tag == "equal" else "del", "".join(words[a:b])))
        if d > c:
            right.append(("same" if tag == "equal" else "ins", "".join(new_words[c:d])))
    return tuple(left), tuple(right)
