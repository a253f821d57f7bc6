"""Where the texts of a harness mention a component by the name that the model knows, and what follows a rename by itself.

What goes by id (placeholders such as `{{ tool("price") }}`, allowed tools, matchers) needs no change. A name written out by hand
does. A name that could be an English word counts as a mention only where the text marks it as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harnesses.core.editing.texts import Lines, TextField, is_within, placeholder_spans, text_fields
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import NAME_FIELDS, Kind, component_of
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import template_references

_NOUNS = {"tool": ("tool", "function"), "skill": ("skill",), "hook": ("hook", "rule"), "prompt": ("section",)}


@dataclass(frozen=True)
class Mention:
    """One mention of a name: in which text of which component, on which line (from 1), and that line."""

    kind: Kind
    component_id: str
    component_name: str
    field: str
    line: int
    excerpt: str


def find_mentions(spec: HarnessSpec, kind: Kind, component_id: str) -> tuple[Mention, ...]:
    """Every mention, written by hand, of the present name of a component; empty where it has no name, or is not there."""
    name = _name_of(spec, kind, component_id)
    if not name:
        return ()
    return find_word(spec, kind, name)


def find_word(spec: HarnessSpec, kind: Kind, name: str) -> tuple[Mention, ...]:
    """Every mention of a name of that kind of component, whether or not there still is one of that name."""
    found: list[Mention] = []
    for field in text_fields(spec.document()):
        lines, place = Lines(field.text), (field.kind, field.component_id, field.component_name, field.field)
        found += [Mention(*place, lines.number(start), lines.excerpt(start)) for start, _ in _spans(field, kind, name)]
    return tuple(found)


def count_references(spec: HarnessSpec, kind: Kind, component_id: str) -> int:
    """How many places refer to a component by its id, and so follow its rename by themselves."""
    count = sum(
        1
        for field in text_fields(spec.document())
        if field.is_template
        for reference in template_references(field.text)
        if reference.id == component_id and (reference.kind == "skill") == (kind == "skill")
    )
    if kind == "tool":
        count += sum(skill.allowed_tools.count(component_id) for skill in spec.skills)
        count += sum(hook.matcher.count(component_id) for hook in spec.hooks)
    return count if kind in ("tool", "skill") else 0


def follow_rename(document: JsonObject, kind: Kind, old: str, new: str) -> int:
    """Write `new` wherever the texts of the document mention `old`. Returns how many mentions there were."""
    count = 0
    for field in text_fields(document):
        spans = list(_spans(field, kind, old))
        count += len(spans)
        if spans:
            field.put(_replaced(field.text, spans, new))
    return count


def _replaced(text: str, spans: list[tuple[int, int]], new: str) -> str:
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position:]])


def _name_of(spec: HarnessSpec, kind: Kind, component_id: str) -> str:
    component = component_of(spec, kind, component_id)
    return getattr(component, NAME_FIELDS[kind], "") if kind in NAME_FIELDS else ""


def _spans(field: TextField, kind: Kind, name: str) -> Iterator[tuple[int, int]]:
    if not name.strip() or field.is_name:
        return
    placeholders = placeholder_spans(field.text) if field.is_template else []
    for match in mention_pattern(kind, name).finditer(field.text):
        start, end = match.span("name")
        if not is_within(placeholders, start, end):
            yield start, end


def mention_pattern(kind: Kind, name: str) -> re.Pattern[str]:
    """What a mention of this name looks like; the group `name` is the name itself.

    `get_price`, `size-advice` and `getPrice` are names wherever they stand; `price` is one in quotes or backticks, before `(`,
    in a written call, or beside the word for its kind ("the tool price").
    """
    word = re.escape(name)
    if re.fullmatch(r"[\w-]*(?:[_\d-]|[a-z][A-Z])[\w-]*", name):
        return re.compile(rf"(?<![\w-])(?P<name>{word})(?!\w|-\w)")
    marks = [rf"(?<=[`\"'“‘]){word}(?=[`\"'”’])"]
    if kind in ("tool", "skill"):
        marks += [rf"(?<![\w-]){word}(?=\()", rf"(?<=CALL ){word}(?![\w-])"]
    for noun in _NOUNS.get(kind, ()):
        marks += [rf"(?<=\b(?i:{noun}) ){word}(?![\w-])", rf"(?<![\w-]){word}(?= {noun}s?\b)"]
    return re.compile(f"(?P<name>{'|'.join(marks)})")
