"""Texts that follow a new name, and texts that must stay word for word.

What goes by id follows by itself. A name written out by hand is replaced here (law 3: no leak), except in texts that set or enforce
rules, or that viewers read: these no transform touches, so a name that stands in one of them is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern
from typing import Final

from harnesses.core.caching import cached_by_identity
from harnesses.core.editing.mentions import mention_pattern
from harnesses.core.editing.texts import TextField, is_within, placeholder_spans, text_fields
from harnesses.core.kinds import Kind
from harnesses.core.parsing import spec_from_document
from harnesses.core.spec import AddContext, HarnessSpec, Hook

_BETWEEN: Final = "\0"


@dataclass(frozen=True)
class _Texts:
    """Every text of a harness but the names: in one string, to see quickly that a name stands nowhere, and one by one.

    `kept` are those that no transform touches.
    """

    all_texts: str
    fields: tuple[TextField, ...]
    kept: tuple[TextField, ...]


@cached_by_identity
def _texts(spec: HarnessSpec) -> _Texts:
    fields = tuple(field for field in text_fields(spec.document()) if not field.is_name)
    rules = {section.id for section in spec.prompt if section.is_policy}
    hooks = {hook.id: hook for hook in spec.hooks}
    kept = tuple(field for field in fields if _is_kept(field, rules, hooks))
    return _Texts(_BETWEEN.join(_written_out(field) for field in fields), fields, kept)


def _written_out(field: TextField) -> str:
    """The text without its placeholders: what they hold are ids."""
    if not field.is_template:
        return field.text
    pieces, position = [], 0
    for start, end in placeholder_spans(field.text):
        pieces.append(field.text[position:start])
        position = end
    return _BETWEEN.join([*pieces, field.text[position:]])


@lru_cache(maxsize=2_048)
def _pattern(kind: Kind, name: str) -> Pattern[str]:
    return mention_pattern(kind, name)


def _spans(text: str, kind: Kind, name: str) -> Iterator[tuple[int, int]]:
    start = text.find(name)
    while start >= 0:
        match = _pattern(kind, name).match(text, start)
        if match is not None:
            yield match.span("name")
        start = text.find(name, start + 1)


def _field_spans(field: TextField, kind: Kind, name: str) -> list[tuple[int, int]]:
    if field.is_name or name not in field.text:
        return []
    placeholders = placeholder_spans(field.text) if field.is_template else []
    return [span for span in _spans(field.text, kind, name) if not is_within(placeholders, *span)]


def _stands_nowhere(spec: HarnessSpec, kind: Kind, name: str) -> bool:
    return next(_spans(_texts(spec).all_texts, kind, name), None) is None


def is_mentioned(spec: HarnessSpec, kind: Kind, name: str) -> bool:
    """Whether a text mentions the name by hand."""
    return not _stands_nowhere(spec, kind, name) and any(
        _field_spans(field, kind, name) for field in _texts(spec).fields
    )


def is_fixed(spec: HarnessSpec, kind: Kind, name: str) -> bool:
    """Whether a text that stays word for word mentions the name by hand, so that it cannot be changed without a leak."""
    return not _stands_nowhere(spec, kind, name) and any(_field_spans(field, kind, name) for field in _texts(spec).kept)


def _is_kept(field: TextField, rules: Collection[str], hooks: Mapping[str, Hook]) -> bool:
    if field.kind == "hook":
        return not is_free_hook_text(hooks[field.component_id], field.field)
    return field.kind == "runtime" or (field.kind == "prompt" and field.component_id in rules)


def is_free_hook_text(hook: Hook, field: str) -> bool:
    """Whether a text of a hook is one that only the model reads, and that enforces nothing by its words."""
    action = hook.action
    if isinstance(action, AddContext):
        return field == "action.text"
    if action.type == "deny":
        return field == "action.reason" and hook.event != "UserPromptSubmit"
    return field == "action.message" and action.type == "check_reply" and action.on_violation == "revise"


def follow(spec: HarnessSpec, kind: Kind, renames: Mapping[str, str]) -> HarnessSpec:
    """The harness with every mention by hand of an old name replaced by the new one, all at once.

    `kind` is that of the named thing; "example" for parameters, result keys and values, which have no kind of their own.
    """
    mentioned = [name for name in renames if not _stands_nowhere(spec, kind, name)]
    if not mentioned:
        return spec
    document = spec.document()
    for field in text_fields(document):
        found = [(*span, renames[name]) for name in mentioned for span in _field_spans(field, kind, name)]
        if found:
            field.put(_replaced(field.text, sorted(found)))
    return spec_from_document(document)


def _replaced(text: str, found: list[tuple[int, int, str]]) -> str:
    pieces, position = [], 0
    for start, end, new in found:
        if start >= position:
            pieces += [text[position:start], new]
            position = end
    return "".join([*pieces, text[position:]])
