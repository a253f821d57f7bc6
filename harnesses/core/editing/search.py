"""Search and replace over the texts of a harness: names, titles, descriptions, bodies, hook texts, examples.

Placeholders of templates are left alone, since they hold ids, unless what is looked for is itself part of a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from harnesses.core.editing.texts import Lines, TextField, is_within, placeholder_spans, text_fields
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import Kind
from harnesses.core.spec import HarnessSpec

MAX_FOUND = 2_000


@dataclass(frozen=True)
class FoundLine:
    """A line (from 1) of one text in which something was found, and how often."""

    kind: Kind
    component_id: str
    component_name: str
    field: str
    line: int
    excerpt: str
    count: int


def search_text(
    spec: HarnessSpec, find: str, *, is_case_sensitive: bool = False, kinds: Collection[str] | None = None
) -> tuple[FoundLine, ...]:
    """The lines that hold a text, at most MAX_FOUND of them; `kinds` limits where to look. Nothing is found of an empty text."""
    found: list[FoundLine] = []
    for field in _fields(spec.document(), kinds):
        by_line: dict[int, list[int]] = {}
        lines = Lines(field.text)
        for match in _matches(field, find, is_case_sensitive=is_case_sensitive):
            by_line.setdefault(lines.number(match.start()), []).append(match.start())
        for line, starts in by_line.items():
            shown = lines.excerpt(starts[0])
            place = (field.kind, field.component_id, field.component_name, field.field)
            found.append(FoundLine(*place, line, shown, len(starts)))
            if len(found) >= MAX_FOUND:
                return tuple(found)
    return tuple(found)


def replace_in_document(
    document: JsonObject,
    find: str,
    replacement: str,
    *,
    is_case_sensitive: bool,
    kinds: Collection[str] | None = None,
) -> int:
    """Put `replacement` in the place of every match, in the document itself. Returns how many there were."""
    count = 0
    for field in _fields(document, kinds):
        matches = list(_matches(field, find, is_case_sensitive=is_case_sensitive))
        pieces, position = [], 0
        for match in matches:
            pieces += [field.text[position : match.start()], replacement]
            position = match.end()
        if matches:
            field.put("".join([*pieces, field.text[position:]]))
        count += len(matches)
    return count


def _fields(document: JsonObject, kinds: Collection[str] | None) -> Iterator[TextField]:
    return (field for field in text_fields(document) if kinds is None or field.kind in kinds)


def _matches(field: TextField, find: str, *, is_case_sensitive: bool) -> Iterator[re.Match[str]]:
    if not find:
        return
    has_braces = any(mark in find for mark in ("{{", "}}", "{%", "%}"))
    spans = placeholder_spans(field.text) if field.is_template and not has_braces else []
    for match in re.compile(re.escape(find), 0 if is_case_sensitive else re.IGNORECASE).finditer(field.text):
        if not is_within(spans, *match.span()):
            yield match
