"""The texts of a review, component by component and line by line, with the threads at the lines they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from console.component_words import KIND_TITLES, field_title
from console.text_diff import DiffRow, Pieces, TextDiff, text_diff
from harnesses.core.component_texts import FieldTexts, compared_texts, line_of
from harnesses.core.kinds import component_name, component_of
from harnesses.core.risk import RiskReport
from harnesses.core.spec import HarnessSpec, RuntimeSettings

MAX_FOLDED = 200
"""Equal lines that can be unfolded in one place, and commented on."""


@dataclass(frozen=True)
class Line:
    """One line of a difference in one column. `mark` is `+`, `-`, or empty.

    `skipped` counts equal lines folded here, and `hidden` holds them unless they are more than MAX_FOLDED. `threads` are those
    about the line; only lines of the new text (`new_number`) have any.
    """

    mark: str = ""
    old_number: int | None = None
    new_number: int | None = None
    pieces: Pieces = ()
    skipped: int = 0
    hidden: tuple[Line, ...] = ()
    threads: tuple[Any, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a fold is shown open: somebody speaks about a line in it."""
        return any(line.threads for line in self.hidden)


@dataclass(frozen=True)
class Place:
    """Where in a harness a thread is; all empty: the change as a whole. `title` names the component as people do."""

    kind: str = ""
    component_id: str = ""
    field: str = ""
    line: int | None = None
    title: str = ""

    @property
    def words(self) -> str:
        """The place in words: "Tool get_price, description, line 3"."""
        if not self.kind:
            return "The change as a whole"
        parts = [KIND_TITLES.get(self.kind, self.kind) if self.kind == "runtime" else self._component]
        if self.field:
            parts.append(field_title(self.field).lower())
        if self.line:
            parts.append(f"line {self.line}")
        return ", ".join(parts)

    @property
    def _component(self) -> str:
        return f"{KIND_TITLES.get(self.kind, self.kind)} {self.title or self.component_id}"

    @property
    def key(self) -> str:
        """A name for the place within a page."""
        return "-".join(str(part) for part in (self.kind, self.component_id, self.field, self.line) if part) or "whole"


@dataclass(frozen=True)
class FieldDiff:
    """What changed in one field. `threads` are threads about the field, or about a line that is not on show."""

    name: str
    title: str
    lines: tuple[Line, ...]
    is_cut: bool
    threads: tuple[Any, ...]


@dataclass(frozen=True)
class ComponentDiff:
    """One component that changed, or that somebody spoke about. `state` says what became of it as a whole."""

    place: Place
    state: str
    fields: tuple[FieldDiff, ...]
    threads: tuple[Any, ...]
    open_count: int = 0


@dataclass
class _Placed:
    """Threads by where they can be shown: at a line, at a field, at the component."""

    at_line: dict[tuple[str, int], list[Any]] = field(default_factory=lambda: defaultdict(list))
    at_field: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    at_component: list[Any] = field(default_factory=list)


def component_diffs(
    old: HarnessSpec, new: HarnessSpec, report: RiskReport, threads: Sequence[Any]
) -> tuple[ComponentDiff, ...]:
    """Every component that changed, and those that were spoken about, in the order of the changes."""
    names = {
        (item.change.kind, item.change.component_id): item.change.component_name
        for item in report.changes
        if item.change.component_id
    }
    spoken = [(item.component_kind, item.component_id) for item in threads if item.component_kind]
    keys = dict.fromkeys([*names, *spoken])
    return tuple(_component_diff(old, new, kind, key, names.get((kind, key), ""), threads) for kind, key in keys)


def _component_diff(
    old: HarnessSpec, new: HarnessSpec, kind: str, component_id: str, name: str, threads: Iterable[Any]
) -> ComponentDiff:
    before, after = component_of(old, kind, component_id), component_of(new, kind, component_id)
    own = [item for item in threads if (item.component_kind, item.component_id) == (kind, component_id)]
    compared = list(compared_texts(before, after))
    placed = _placed(own, {item.name: item.new for item in compared if item.new})
    fields = []
    for item in compared:
        diff = text_diff(item.old, item.new, old_label="old", new_label="new")
        if diff is None and item.name not in {thread.field for thread in own}:
            continue
        fields.append(_field_diff(item.name, diff, item.new, placed))
    shown = after or before
    called = component_name(shown) if shown is not None and not isinstance(shown, RuntimeSettings) else ""
    return ComponentDiff(
        place=Place(kind, component_id, title=name or called or component_id),
        state=_state(before is not None, after is not None, compared),
        fields=tuple(fields),
        threads=tuple(placed.at_component),
        open_count=sum(item.resolved_at is None for item in own),
    )


def _state(was_there: bool, is_there: bool, fields: Sequence[FieldTexts]) -> str:
    if not was_there:
        return "added" if is_there else "gone"
    if not is_there:
        return "removed"
    return "changed" if any(item.old != item.new for item in fields) else "unchanged"


def _field_diff(name: str, diff: TextDiff | None, text: str, placed: _Placed) -> FieldDiff:
    lines = unified(diff)
    if diff is None:  # Nothing changed here; only the lines that were spoken about are shown.
        numbers = sorted(number for field_name, number in placed.at_line if field_name == name)
        lines = [Line("", n, n, (("same", line_of(text, n) or ""),)) for n in numbers]
    lines = [_with_threads(line, name, placed) for line in lines]
    shown = {line.new_number for outer in lines for line in (outer, *outer.hidden)}
    unseen = [
        item
        for (field_name, number), items in placed.at_line.items()
        if field_name == name and number not in shown
        for item in items
    ]
    is_cut = diff.is_cut if diff else False
    return FieldDiff(name, field_title(name), tuple(lines), is_cut, (*placed.at_field.get(name, ()), *unseen))


def _with_threads(line: Line, name: str, placed: _Placed) -> Line:
    hidden = tuple(_with_threads(inner, name, placed) for inner in line.hidden)
    found = placed.at_line.get((name, line.new_number), ()) if line.new_number else ()
    return replace(line, hidden=hidden, threads=tuple(found))


def _placed(threads: Iterable[Any], texts: dict[str, str]) -> _Placed:
    placed = _Placed()
    for item in threads:
        number = current_line(item, texts)
        if number is not None:
            placed.at_line[item.field, number].append(item)
        elif item.field in texts:
            placed.at_field[item.field].append(item)
        else:
            placed.at_component.append(item)
    return placed


def current_line(thread: Any, texts: dict[str, str]) -> int | None:
    """Where the line that a thread is about stands now: where it stood, if it is the same there, or the only one like it."""
    text = texts.get(thread.field)
    if text is None or not thread.line:
        return None

    def is_it(line: str | None) -> bool:
        return line is not None and line[: len(thread.quote) or None] == thread.quote

    if is_it(line_of(text, thread.line)):
        return int(thread.line)
    alike = [number for number, line in enumerate(text.split("\n"), 1) if line == thread.quote and line.strip()]
    return alike[0] if len(alike) == 1 else None


def unified(diff: TextDiff | None) -> list[Line]:
    """A difference in one column, of each run of changed lines first what went, then what came."""
    return [_line(row) for row in diff.unified] if diff is not None else []


def _line(row: DiffRow) -> Line:
    if row.skipped:
        hidden = row.hidden if row.skipped <= MAX_FOLDED else ()
        return Line(skipped=row.skipped, hidden=tuple(_line(item) for item in hidden))
    if not row.new_number:
        return Line("-", row.old_number, None, row.old_pieces)
    return Line("" if row.old_number else "+", row.old_number, row.new_number, row.new_pieces)
