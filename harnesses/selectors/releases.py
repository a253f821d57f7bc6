"""All reads of planned releases and freeze windows."""

from __future__ import annotations

import datetime as dt

from django.db.models import Q, QuerySet
from django.utils import timezone

from harnesses.models import FreezeWindow, Harness, ScheduledRelease
from ledger.errors import NotFound

MAX_KEY = 2**63 - 1


def release_list(harness: Harness) -> QuerySet[ScheduledRelease]:
    """The planned releases of a harness: those still to come first, by their time; then the others, newest first."""
    return (
        ScheduledRelease.objects.filter(harness=harness)
        .select_related("harness", "version", "expected_version")
        .defer("version__document", "expected_version__document")
        .order_by("-id")
    )


def release_get(harness: Harness, release_id: int | str) -> ScheduledRelease:
    """One planned release of a harness. Raises NotFound."""
    release = release_list(harness).filter(pk=_key(release_id)).first()
    if release is None:
        raise NotFound(f'The harness "{harness.slug}" has no planned release {str(release_id)[:40]!a}.')
    return release


def scheduled_releases(harness: Harness) -> QuerySet[ScheduledRelease]:
    """The planned releases that are still to come, soonest first."""
    return release_list(harness).filter(state=ScheduledRelease.State.SCHEDULED).order_by("due_at", "id")


def due_release_ids(now: dt.datetime) -> list[int]:
    """The keys of the planned releases whose time has come, the earliest first."""
    due = ScheduledRelease.objects.filter(state=ScheduledRelease.State.SCHEDULED, due_at__lte=now)
    return list(due.order_by("due_at", "id").values_list("pk", flat=True))


def freeze_list(harness: Harness | None) -> QuerySet[FreezeWindow]:
    """The freeze windows that concern a harness, those of all harnesses included; of None: those of all alone. Latest first."""
    concerned = Q(harness__isnull=True) if harness is None else Q(harness__isnull=True) | Q(harness=harness)
    return FreezeWindow.objects.select_related("harness").filter(concerned).order_by("-starts_at", "-id")


def freeze_get(harness: Harness | None, freeze_id: int | str) -> FreezeWindow:
    """One freeze window of a harness, or (None) of all. Raises NotFound."""
    freeze = FreezeWindow.objects.select_related("harness").filter(harness=harness, pk=_key(freeze_id)).first()
    if freeze is None:
        raise NotFound(f"There is no freeze window {str(freeze_id)[:40]!a} here.")
    return freeze


def freeze_concerning(harness: Harness | None, freeze_id: int | str) -> FreezeWindow:
    """One of the freeze windows that `freeze_list` gives. Raises NotFound."""
    freeze = freeze_list(harness).filter(pk=_key(freeze_id)).first()
    if freeze is None:
        raise NotFound(f"There is no freeze window {str(freeze_id)[:40]!a} here.")
    return freeze


def coming_freezes(harness: Harness | None) -> QuerySet[FreezeWindow]:
    """The freeze windows that are on or still to come, soonest first."""
    return (
        freeze_list(harness).filter(cancelled_at__isnull=True, ends_at__gt=timezone.now()).order_by("starts_at", "id")
    )


def freeze_at(harness: Harness, moment: dt.datetime) -> FreezeWindow | None:
    """The freeze window that is on at a moment; of several the one that ends last. It starts at its first second and ends before
    its last."""
    return (
        freeze_list(harness)
        .filter(cancelled_at__isnull=True, starts_at__lte=moment, ends_at__gt=moment)
        .order_by("-ends_at")
        .first()
    )


def _key(value: int | str) -> int:
    """A primary key out of an address; -1, which nothing has, for what cannot be one."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MAX_KEY else -1
