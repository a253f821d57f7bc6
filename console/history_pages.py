"""What the pages about the history of a harness show: its versions, where each stands, who last changed which component."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractUser

from console import compare_sides
from console.presenters import Badge
from harnesses import policy, selectors
from harnesses.core.labels import PRODUCTION
from harnesses.core.lifecycle import Lifecycle
from ledger.errors import Denied

_LIFECYCLES = {
    Lifecycle.CANDIDATE: Badge("Candidate", "mute", "No protected label has pointed to it yet."),
    Lifecycle.LIVE: Badge("Live", "ok", "A protected label points to it now."),
    Lifecycle.RETIRED: Badge("Retired", "plain", "A protected label once pointed to it."),
}
Blames = dict[tuple[str, str], Any]


@dataclass(frozen=True)
class VersionRow:
    """One version of the list. `production` is the number that `production` holds, if that is another one.

    `is_released`: a protected label points to it, or once did.
    """

    version: Any
    lifecycle: Badge
    review: Any
    production: int | None
    labels: list[Any] = field(default_factory=list)
    is_released: bool = False


@dataclass(frozen=True)
class Relative:
    """The harness that this one was forked from, or a fork of it. `version` is where the two parted."""

    harness: Any
    is_origin: bool
    number: int


def version_rows(harness: Any, versions: Iterable[Any]) -> list[VersionRow]:
    """The versions with their labels, reviews and lifecycles; the number of queries does not depend on how many there are."""
    shown = list(versions)
    lifecycles = selectors.version_lifecycles(harness, shown)
    reviews = selectors.version_reviews(harness, shown)
    labels = list(selectors.label_list(harness))
    production = next((item.version.number for item in labels if item.name == PRODUCTION), None)
    return [
        VersionRow(
            version=version,
            lifecycle=_LIFECYCLES[lifecycles[version.pk]],
            review=reviews.get(version.pk),
            production=production if production != version.number else None,
            labels=[item for item in labels if item.version_id == version.pk],
            is_released=lifecycles[version.pk] is not Lifecycle.CANDIDATE,
        )
        for version in shown
    ]


def relatives(user: AbstractUser, harness: Any) -> list[Relative]:
    """Origin and forks that the person may see, with the version at which they parted."""
    rows = []
    for item in compare_sides.relatives(user, harness):
        is_fork = item.forked_from is not None and item.forked_from.harness_id == harness.pk
        parted = item.forked_from if is_fork else selectors.version_by_id(harness.forked_from_id)
        rows.append(Relative(item, not is_fork, parted.number))
    return rows


def blames(version: Any) -> Blames:
    """The version that last changed each component, by kind and id."""
    return {(item.kind, item.component_id): item.version for item in selectors.version_blame(version)}


def can_fork(user: AbstractUser) -> bool:
    """Whether a person may make harnesses at all."""
    try:
        policy.require_create(user)
    except Denied:
        return False
    return True
