"""What the pages of labels show: blockers with where to go, causes and states in words, what a move replaces."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from console import harness_pages
from console.presenters import Badge
from harnesses import selectors
from harnesses.core.labels import USUAL_LABELS
from harnesses.core.membership import HarnessAction

VERSIONS_OFFERED = 300
RELEASES_SHOWN = 10
_CAUSES = {
    "move": Badge("Moved", "info"),
    "undo": Badge("Undone", "warn", "Back to what it held before."),
    "schedule": Badge("On schedule", "leather", "Planned before, and moved when the time came."),
    "remove": Badge("Removed", "mute"),
}
_RELEASES = {
    "scheduled": Badge("Planned", "info"),
    "succeeded": Badge("Released", "ok"),
    "failed": Badge("Not released", "bad"),
    "cancelled": Badge("Cancelled", "mute"),
}
PROTECTED = Badge("Protected", "leather", "It moves only to what was approved, and its name must be typed.")
OPEN = Badge("Not protected", "mute", "Whoever may edit the harness may move it.")


@dataclass(frozen=True)
class BlockerRow:
    """One reason why a label does not move, with a link to where it can be mended (empty: there is none)."""

    message: str
    mend: str
    url: str = ""
    action: str = ""


def protection_badge(is_protected: bool) -> Badge:
    return PROTECTED if is_protected else OPEN


def cause_badge(cause: str) -> Badge:
    return _CAUSES[cause]


def release_badge(state: str) -> Badge:
    return _RELEASES[state]


def move_context(preview: selectors.LabelPreview) -> dict[str, Any]:
    """Everything a page shows of a move that is about to be made."""
    return {
        "preview": preview,
        "blockers": [_blocker_row(preview, item) for item in preview.blockers],
        "report": harness_pages.risk_view(preview.risk),
        "protection": protection_badge(preview.is_protected),
    }


def _blocker_row(preview: selectors.LabelPreview, blocker: Any) -> BlockerRow:
    slug = preview.harness.slug
    url = action = ""
    if blocker.code == "not_approved" and preview.review is not None:
        url, action = reverse("console:review_detail", args=[preview.review.pk]), "Open its review"
    elif blocker.code == "not_approved":
        url = f"{reverse('console:review_request', args=[slug])}?version={preview.version.number}"
        action = "Request a review"
    elif blocker.code == "frozen":
        url, action = reverse("console:harness_freezes", args=[slug]), "See the freeze windows"
    elif blocker.code == "denied":
        url, action = reverse("console:member_list", args=[slug]), "See who may"
    elif blocker.code == "archived":
        url, action = reverse("console:harness_settings", args=[slug]), "Open the settings"
    return BlockerRow(blocker.message, blocker.mend, url, action)


def version_choices(harness: Any) -> list[tuple[int, str]]:
    """The versions of a harness to choose from, newest first."""
    rows = selectors.version_list(harness).values_list("number", "message")[:VERSIONS_OFFERED]
    return [(number, f"v{number}: {message[:60]}" if message else f"v{number}") for number, message in rows]


@dataclass(frozen=True)
class LabelRights:
    """What a person may do with a label. Who may edit may look at what a protected move needs, without the right to it."""

    can_look: bool
    can_move: bool


def label_rights(name: str, label: Any, allowed: Collection[HarnessAction]) -> LabelRights:
    """What `allowed` gives with a label; `label` None is one whose first move is still to come."""
    is_protected = selectors.is_label_protected(name, label)
    can_move = selectors.move_action(is_protected) in allowed
    return LabelRights(can_look=can_move or (is_protected and HarnessAction.EDIT in allowed), can_move=can_move)


@dataclass(frozen=True)
class LabelRow:
    """A label, its protection in words, the review of what it holds, and what the person may do with it."""

    label: Any
    protection: Badge
    review: Any
    rights: LabelRights


def label_rows(harness: Any, allowed: Collection[HarnessAction]) -> dict[str, Any]:
    """The labels of a harness, and those of the usual ones that the person may ask for and that are still to be made."""
    labels = list(selectors.label_list(harness))
    names = {label.name for label in labels}
    reviews = selectors.version_reviews(harness, [label.version for label in labels])
    return {
        "labels": [
            LabelRow(
                label=item,
                protection=protection_badge(item.is_protected),
                review=reviews.get(item.version_id),
                rights=label_rights(item.name, item, allowed),
            )
            for item in labels
        ],
        "missing": [
            name
            for name in USUAL_LABELS
            if harness.version_count and name not in names and label_rights(name, None, allowed).can_look
        ],
    }


def release_rows(harness: Any, allowed: Collection[HarnessAction]) -> dict[str, Any]:
    """The planned releases: those to come, each with whether the person may cancel it, and the last that are over."""
    over = selectors.release_list(harness).exclude(state="scheduled")[:RELEASES_SHOWN]
    labels = {item.name: item for item in selectors.label_list(harness)}
    return {
        "coming": [
            (item, label_rights(item.label_name, labels.get(item.label_name), allowed).can_move)
            for item in selectors.scheduled_releases(harness)
        ],
        "over": [(release, release_badge(release.state)) for release in over],
    }


def freeze_row(freeze: Any, now: dt.datetime, *, can_end: bool) -> tuple[Any, Badge, bool]:
    """A freeze window, where it stands, and whether this person may end it."""
    if freeze.cancelled_at is not None:
        return freeze, Badge("Ended early", "mute"), False
    if freeze.ends_at <= now:
        return freeze, Badge("Over", "mute"), False
    return freeze, Badge("On now", "warn") if freeze.starts_at <= now else Badge("To come", "info"), can_end
