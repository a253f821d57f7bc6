"""Every text of a harness that people write and a model reads, with the place where it stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from harnesses.core.fieldpaths import FieldPath, format_path
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.kinds import KIND_FIELDS, Kind

_CLOSING: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_OPENING: Final = re.compile(r"\{[{%#]")
_TEMPLATE_FIELDS: Final = frozenset({
    ("prompt", "body"), ("skill", "body"), ("hook", "action.text"), ("hook", "action.reason"),
    ("hook", "action.replacement"), ("hook", "action.message"),
})  # fmt: skip
_SCHEMA_TEXTS: Final = frozenset({"description", "title"})
_MAX_EXCERPT: Final = 160


@dataclass(frozen=True)
class TextField:
    """One text of one component. `put` stores another in its place, in the document that was walked.

    `is_name`: what the component is called. `is_template`: placeholders in it are filled in.
    """

    kind: Kind
    component_id: str
    component_name: str
    path: FieldPath
    text: str
    put: Callable[[str], None]
    is_name: bool = False

    @property
    def field(self) -> str:
        return format_path(self.path)

    @property
    def is_template(self) -> bool:
        return (self.kind, self.field) in _TEMPLATE_FIELDS


def text_fields(document: JsonObject) -> Iterator[TextField]:
    """The texts of a harness's document, component by component in the order of the format."""
    for kind, field in KIND_FIELDS.items():
        for component in document[field]:
            name = str(component.get("title" if kind == "prompt" else "name") or component.get("comment") or "")
            for path, owner, key in _places(kind, component):
                is_name = path in (("name",), ("title",)) and (kind != "tool" or path == ("name",))
                yield _field(kind, str(component["id"]), " ".join(name.split())[:60], path, owner, key, is_name)
    runtime = document["runtime"]
    yield _field("runtime", "runtime", "runtime", ("fallback_reply",), runtime, "fallback_reply", False)


def _field(
    kind: Kind, component_id: str, name: str, path: FieldPath, owner: JsonValue, key: str | int, is_name: bool
) -> TextField:
    def put(text: str) -> None:
        owner[key] = text

    return TextField(kind, component_id, name, path, owner[key], put, is_name)


_Place = tuple[FieldPath, JsonValue, str | int]


def _places(kind: Kind, component: JsonObject) -> Iterator[_Place]:
    fields = {
        "prompt": ("title", "body"),
        "skill": ("name", "description", "body"),
        "tool": ("name", "title", "description"),
        "hook": ("name",),
        "example": ("comment", "reply"),
    }
    for field in fields[kind]:
        yield (field,), component, field
    if kind == "tool":
        for name in ("input_schema", "output_schema"):
            yield from _schema_places((name,), component.get(name))
    elif kind == "hook":
        yield from _hook_places(component)


def _schema_places(path: FieldPath, schema: JsonValue) -> Iterator[_Place]:
    """The descriptions in a schema, however deep; not the values that it allows."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from _schema_places((*path, index), item)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        inner = (*path, key)
        if isinstance(value, str) and key in _SCHEMA_TEXTS and path[-1] != "properties":
            yield inner, schema, key
        elif key not in ("const", "enum", "default", "examples", "required"):
            yield from _schema_places(inner, value)


def _hook_places(hook: JsonObject) -> Iterator[_Place]:
    action = hook["action"]
    for field in ("text", "reason", "replacement", "message"):
        if action.get(field):
            yield ("action", field), action, field
    for index in range(len(action.get("phrases", ()))):
        yield ("action", "phrases", index), action["phrases"], index
    for number, condition in enumerate(hook["when"]):
        values = condition["values"]
        for index in (index for index, value in enumerate(values) if isinstance(value, str)):
            yield ("when", number, "values", index), values, index


def placeholder_spans(text: str, *, has_comments: bool = True) -> list[tuple[int, int]]:
    """Where a template's placeholders and tags stand, and its comments, in order and apart from one another.

    Each end is looked for once, so that a text of openings without one takes no longer than another.
    """
    spans: list[tuple[int, int]] = []
    endless = set() if has_comments else {"{#"}
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        mark, place = opening[0], opening.start() + 1
        end = -1 if mark in endless else text.find(_CLOSING[mark], opening.end())
        if end >= 0:
            place = end + 2
            spans.append((opening.start(), place))
        else:
            endless.add(mark)
            if len(endless) == len(_CLOSING):
                break
    return spans


def is_within(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether `start` to `end` touches one of the spans, which are in order and apart from one another."""
    after = bisect_left(spans, (end,))
    return after > 0 and start < spans[after - 1][1]


class Lines:
    """The lines of a text, found once: a text of a hundred thousand matches is not counted through for each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def number(self, position: int) -> int:
        """The number, from 1, of the line that holds a position."""
        return bisect_left(self._ends, position) + 1

    def excerpt(self, position: int) -> str:
        """The line around a position, cut to a readable length."""
        index = bisect_left(self._ends, position)
        start = self._ends[index - 1] + 1 if index else 0
        end = self._ends[index] if index < len(self._ends) else len(self.text)
        if end - start <= _MAX_EXCERPT:
            return self.text[start:end].strip()
        first = max(start, position - _MAX_EXCERPT // 3)
        cut = self.text[first : min(end, first + _MAX_EXCERPT)].strip()
        return f"{'…' if first > start else ''}{cut}{'…' if first + _MAX_EXCERPT < end else ''}"
