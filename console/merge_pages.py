"""Merging another harness in: what would be taken over, what both changed, and the draft that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from console import harness_pages
from console.component_words import KIND_TITLES, field_title
from console.harness_pages import RiskView
from console.presenters import json_text
from harnesses import selectors, services
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.merge import MergeConflict, MergeResult, Side, merge_specs
from harnesses.core.risk import assess
from harnesses.core.spec import HarnessSpec
from harnesses.services.labels import lock_harness
from ledger.errors import Conflict

CHOICE = "choice-"
"""The fields of the form that choose a side begin with this, followed by the conflict's key."""
_ORDER = "order"


@dataclass(frozen=True)
class SideRow:
    """One side of a conflict. `text` None: there it does not exist."""

    side: Side
    label: str
    text: str | None
    is_chosen: bool


@dataclass(frozen=True)
class ConflictRow:
    """One conflict in words, with the sides to choose from; `name` is the form's field."""

    name: str
    title: str
    sides: tuple[SideRow, ...]


@dataclass(frozen=True)
class MergePreview:
    """What a merge would do. `ancestor` is the version both come from (None: nothing in common); `report` judges what is taken."""

    newest: Any
    version: Any
    ancestor: Any
    conflicts: tuple[ConflictRow, ...]
    report: RiskView

    @property
    def is_empty(self) -> bool:
        return not self.conflicts and not self.report.changes


def preview(harness: Any, version: Any, chosen: Mapping[str, str]) -> MergePreview:
    """What merging a version of another harness into the newest one would do. `chosen`: side by the form's field."""
    newest = selectors.version_get(harness) if harness.version_count else None
    ancestor = selectors.common_ancestor(newest, version) if newest else None
    mine = selectors.version_spec(newest) if newest else HarnessSpec()
    base = selectors.version_spec(ancestor) if ancestor else HarnessSpec()
    result: MergeResult = merge_specs(base, mine, selectors.version_spec(version))
    rows = tuple(_row(item, harness, version.harness, chosen) for item in result.conflicts)
    report = assess(mine, result.spec, selectors.catalogue_for(harness.world))
    return MergePreview(newest, version, ancestor, rows, harness_pages.risk_view(report))


def _row(item: MergeConflict, mine: Any, theirs: Any, chosen: Mapping[str, str]) -> ConflictRow:
    name = f"{CHOICE}{item.key}"
    picked = chosen.get(name, "mine")
    values: dict[Side, Any] = {"mine": item.mine, "theirs": item.theirs, "base": item.base}
    labels: dict[Side, str] = {"mine": f"{mine.slug} (this one)", "theirs": theirs.slug, "base": "as it was before"}
    sides = tuple(
        SideRow(side, labels[side], None if side in item.missing else json_text(value), side == picked)
        for side, value in values.items()
    )
    return ConflictRow(name, conflict_title(item), sides)


def conflict_title(item: MergeConflict) -> str:
    """What both sides changed: "Tool get_price, description"."""
    kind = KIND_TITLES.get(item.kind, item.kind)
    if item.field == _ORDER and not item.component_id:
        return f"The order of the {kind.lower()}s"
    component = kind if item.kind == "runtime" else f"{kind} {item.component_name or item.component_id}"
    return f"{component}, {field_title(item.field).lower()}" if item.field else component


@transaction.atomic
def merge(
    *,
    harness: Any,
    version: Any,
    expected_number: int | None,
    chosen: Mapping[str, str],
    acting_user: AbstractUser,
) -> Any:
    """Open the draft, with the chosen side in the place of each conflict. The same merge a second time gives the first one's draft.

    `expected_number` is the newest version that was looked at. Raises Conflict if there is a newer one: then the choices may be
    about something else by now.
    """
    if expected_number != harness.version_count:
        raise Conflict(
            f"Version {harness.version_count} of {harness.slug} was committed meanwhile. Look at the merge again; "
            "your choices are kept.",
            code="version_conflict",
        )
    lock_harness(harness)
    merged = services.harness_merge_from(harness=harness, version=version, acting_user=acting_user)
    edits: list[JsonObject] = []
    for item in sorted(merged.merge.conflicts, key=lambda conflict: conflict.field == _ORDER):
        side = chosen.get(f"{CHOICE}{item.key}", "mine")
        if side in ("base", "theirs"):
            edits += item.edits("base" if side == "base" else "theirs")
    draft = merged.draft
    if edits:
        draft = services.draft_save(draft=draft, revision=draft.revision, edits=edits, acting_user=acting_user).draft
    if (first := selectors.merged_twin(draft)) is not None:
        # The second click on the button: one draft is enough, and this one is taken back.
        transaction.set_rollback(True)
        return first
    return draft
