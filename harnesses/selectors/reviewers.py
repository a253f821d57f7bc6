"""Who may review a version, and whom to ask first."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db.models import Q, QuerySet

from harnesses.core.diff import diff_specs
from harnesses.core.labels import PRODUCTION
from harnesses.core.membership import ROLE_ACTIONS, HarnessAction
from harnesses.core.spec import HarnessSpec
from harnesses.models import (
    Harness,
    HarnessLabel,
    HarnessMember,
    HarnessVersion,
    ReviewComment,
    ReviewDecision,
)
from harnesses.selectors.authorship import change_authors
from harnesses.selectors.versions import version_spec
from ledger.core.roles import Permission, roles_with

_REVIEWING_ROLES = tuple(role for role, allowed in ROLE_ACTIONS.items() if HarnessAction.REVIEW in allowed)


@dataclass(frozen=True)
class SuggestedReviewer:
    """Somebody who may review a version. `reason` says why they are suggested; empty where only their role speaks for them."""

    user: AbstractUser
    rank: int = 2
    reason: str = ""
    last_at: dt.datetime | None = None


def review_base(version: HarnessVersion) -> HarnessVersion | None:
    """What a version is reviewed against: what `production` points to, or else its parent; None is the empty harness."""
    label = (
        HarnessLabel.objects.select_related("version")
        .filter(harness_id=version.harness_id, name=PRODUCTION)
        .exclude(version_id=version.pk)
        .first()
    )
    return label.version if label is not None else version.parent


def reviewers_of(harness: Harness) -> QuerySet[AbstractUser]:
    """The active people who may review a harness, by user name."""
    members = HarnessMember.objects.filter(harness_id=harness.pk, role__in=_REVIEWING_ROLES)
    may = (
        Q(is_superuser=True)
        | Q(pk__in=members.filter(user__isnull=False).values("user"))
        | Q(teams__in=members.filter(team__isnull=False).values("team"))
        | Q(groups__name__in=_roles_reviewing(harness))
    )
    users: QuerySet[AbstractUser] = get_user_model()._default_manager.filter(may, is_active=True)
    return users.distinct().order_by("username")


def _roles_reviewing(harness: Harness) -> list[str]:
    """The installation's roles whose holders may review a harness: of one for members only, those who manage harnesses alone."""
    roles = roles_with(Permission.REVIEW_HARNESS)
    if harness.access == Harness.Access.MEMBERS:
        roles &= roles_with(Permission.MANAGE_HARNESS)
    return sorted(roles)


def suggested_reviewers(
    version: HarnessVersion, *, requested_by: AbstractUser | None = None, limit: int = 50
) -> list[SuggestedReviewer]:
    """People who may review a version and wrote no part of it, at most `limit`.

    First those who spoke lately about what it changes, then those who decided lately about this harness, then the others by
    user name. `requested_by`, the one who asks, is left out.
    """
    base = review_base(version)
    excluded = set(change_authors(version, base)) | ({requested_by.pk} if requested_by is not None else set())
    people = reviewers_of(version.harness).exclude(pk__in=excluded)
    ids = people.order_by().values("pk")
    known = {**_decided(version, ids), **_spoke_about(version, base, ids)}
    rows = [SuggestedReviewer(person, *known[person.pk]) for person in people.filter(pk__in=list(known))]
    rows.sort(key=lambda row: (row.rank, -(row.last_at.timestamp() if row.last_at else 0)))
    others = people.exclude(pk__in=list(known))[: max(0, limit - len(rows))]
    return [*rows[:limit], *(SuggestedReviewer(person) for person in others)]


Known = dict[int, tuple[int, str, dt.datetime]]


def _spoke_about(version: HarnessVersion, base: HarnessVersion | None, people: QuerySet[Any, Any]) -> Known:
    """The last comment of each person on a component that this version changes."""
    changes = diff_specs(version_spec(base) if base else HarnessSpec(), version_spec(version)).changes
    names = {change.component_id: change.component_name for change in changes if change.component_id}
    comments = ReviewComment.objects.filter(
        author__in=people, thread__review__harness_id=version.harness_id, thread__component_id__in=names
    )
    rows = comments.order_by("author", "-id").distinct("author")
    values = rows.values_list("author", "thread__component_id", "created_at")
    return {person: (0, f"spoke about {names[component]}", at) for person, component, at in values}


def _decided(version: HarnessVersion, people: QuerySet[Any, Any]) -> Known:
    """The last decision of each person about this harness."""
    decisions = ReviewDecision.objects.filter(reviewer__in=people, review__harness_id=version.harness_id)
    rows = decisions.order_by("reviewer", "-id").distinct("reviewer")
    values = rows.values_list("reviewer", "version__number", "created_at")
    return {person: (1, f"reviewed version {number}", at) for person, number, at in values}
