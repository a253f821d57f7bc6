"""What the audit and the changelogs show: each entry with what changed, old beside new, and where its object is found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse

from harnesses.selectors import harness_slugs

MAX_VALUE_CHARS = 2_000
_NOTHING = "nothing"
_BY_ID = {"review": "review_detail"}
"""Objects whose page is found by their key."""
_IN_HARNESS = {
    "harness_member": "member_list",
    "draft": "draft_list",
    "label": "harness_labels",
    "release": "harness_labels",
    "freeze": "harness_labels",
}
"""Objects that stand on a page of their harness."""
_LISTS = {"deployment": "deployment_list", "checkpoint": "deployment_list"}
"""Objects that stand on a list alone."""


@dataclass(frozen=True)
class Change:
    """One field, old and new in words. None where the entry tells only one side."""

    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class EntryRow:
    """An entry; `url` is its object's page, `harness_slug` the harness it belongs to, both empty where there is none."""

    entry: Any
    changes: tuple[Change, ...]
    url: str
    harness_slug: str


def entry_rows(entries: Iterable[Any]) -> list[EntryRow]:
    """Entries as the pages show them. Takes one query for all of them together."""
    listed = list(entries)
    slugs = harness_slugs(entry.parent_id for entry in listed if entry.parent_type == "harness")
    return [_row(entry, slugs) for entry in listed]


def changes_of(before: Any, after: Any) -> tuple[Change, ...]:
    """Field by field, in the order of the new; a field that only one side has is told too."""
    old, new = before if isinstance(before, dict) else {}, after if isinstance(after, dict) else {}
    names = [*new, *(name for name in old if name not in new)]
    has_old, has_new = before is not None, after is not None
    return tuple(
        Change(
            name.replace("_", " "),
            _value(name, old.get(name)) if has_old else None,
            _value(name, new.get(name)) if has_new else None,
        )
        for name in names
        if not (has_old and has_new and name in old and name in new and old[name] == new[name])
    )


def _value(name: str, value: Any) -> str:
    """Of a hash the first ten digits, as everywhere on the pages; exports hold all of it."""
    return value[:10] if name.endswith("_hash") and isinstance(value, str) and value else _words(value)


def _words(value: Any) -> str:
    if value is None or value == "" or value == []:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        text = ", ".join(str(item) for item in value)
    elif isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}… ({len(text):,} characters)"


def _row(entry: Any, slugs: dict[str, str]) -> EntryRow:
    slug = slugs.get(entry.parent_id, "") if entry.parent_type == "harness" else ""
    return EntryRow(entry, changes_of(entry.before, entry.after), _url(entry, slug), slug)


def _url(entry: Any, slug: str) -> str:
    kind = entry.object_type
    try:
        if kind == "harness":
            return reverse("console:harness_detail", args=[entry.object_label])
        if kind in _IN_HARNESS and slug:
            return reverse(f"console:{_IN_HARNESS[kind]}", args=[slug])
        if kind == "team" and entry.action != "team.deleted":
            return reverse("console:team_detail", args=[entry.object_label])
        if kind in _BY_ID:
            return reverse(f"console:{_BY_ID[kind]}", args=[int(entry.object_id)])
        return reverse(f"console:{_LISTS[kind]}") if kind in _LISTS else ""
    except (NoReverseMatch, ValueError):
        return ""
