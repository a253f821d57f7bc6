"""All writes to planned releases and freeze windows, and what happens when the time of a release comes."""

from __future__ import annotations

import datetime as dt
import logging

from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from harnesses import policy
from harnesses.core.membership import HarnessAction
from harnesses.models import FreezeWindow, Harness, HarnessVersion, LabelMove, ScheduledRelease
from harnesses.selectors.labels import checked_label_name, is_label_protected, label_find, move_action
from harnesses.selectors.releases import due_release_ids
from harnesses.services.labels import check_confirmed, check_reason, label_move, lock_harness, lock_version
from harnesses.services.versions import refuse_archived
from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.core.strict_json import JsonObject
from ledger.errors import Conflict, Denied, Invalid, TackroomError
from ledger.services import MAX_REASON_CHARS, SYSTEM_ACTOR, AuditObject, AuditWriter, actor_name, checked_text

MAX_AHEAD = dt.timedelta(days=366)
"""How far ahead a release or a freeze may be planned: further is a slip of the year."""

logger = logging.getLogger(__name__)


# --- planned releases ------------------------------------------------------------------------------------------------


@transaction.atomic
def release_schedule(
    *,
    harness: Harness,
    name: str,
    version: HarnessVersion,
    due_at: dt.datetime,
    reason: str = "",
    confirm: str = "",
    acting_user: AbstractUser | None,
) -> ScheduledRelease:
    """Plan a label's move for later. What the move needs must hold then; here it takes the right to move, and the name typed.

    Raises Invalid, Denied, NotFound, Conflict (a plan for this label is there already, or it points there already).
    """
    checked_label_name(name)
    due_at = _checked_time("due_at", due_at)
    locked, version = lock_version(harness, version)
    label = label_find(locked, name)
    is_protected = is_label_protected(name, label)
    policy.require(acting_user, move_action(is_protected), locked)
    refuse_archived(locked)
    if is_protected:
        check_confirmed(name, confirm)
    reason = check_reason(reason, is_required=is_protected)
    if label is not None and label.version_id == version.pk:
        raise Conflict(
            f'"{name}" is at version {version.number} already: there is nothing to release.', code="is_there"
        )
    try:
        with transaction.atomic():
            release = ScheduledRelease.objects.create(
                harness=locked,
                label_name=name,
                version=version,
                expected_version=label.version if label else None,
                due_at=due_at,
                reason=reason,
                created_by_id=acting_user.pk if acting_user else None,
                created_by_name=actor_name(acting_user),
            )
    except IntegrityError as error:
        detail = f'A release of "{name}" is planned already. Cancel it before you plan another one.'
        raise Conflict(detail, code="already_scheduled") from error
    after = {"number": version.number, "due_at": due_at.isoformat()}
    _audit_release(release, "release.scheduled", acting_user, reason=reason, after=after)
    return release


@transaction.atomic
def release_cancel(
    *, release: ScheduledRelease, reason: str = "", acting_user: AbstractUser | None
) -> ScheduledRelease:
    """Call a planned release off. One that was called off already stays as it is. Raises Denied, and Conflict where it has run."""
    harness = lock_harness(release.harness)
    locked = ScheduledRelease.objects.select_for_update(of=("self",)).select_related("version").get(pk=release.pk)
    locked.harness = harness
    is_protected = is_label_protected(locked.label_name, label_find(harness, locked.label_name))
    policy.require(acting_user, move_action(is_protected), harness)
    if locked.state == ScheduledRelease.State.CANCELLED:
        return locked
    if locked.state != ScheduledRelease.State.SCHEDULED:
        raise Conflict("That release has run already. Undo the label's move instead.", code="has_run")
    _finish(locked, ScheduledRelease.State.CANCELLED, "", timezone.now(), acting_user, reason=reason)
    return locked


def release_run_due(*, now: dt.datetime | None = None) -> list[ScheduledRelease]:
    """Run every planned release whose time has come; gives those that it brought to an end.

    Safe to call at once from several workers and twice in a row: each release is taken under the lock of its harness, in a
    transaction of its own, and only while it is still scheduled. One that cannot be judged (a bug, an outage) stays scheduled for
    the next call and does not hold up the others.
    """
    now = now or timezone.now()
    finished = []
    for release_id in due_release_ids(now):
        try:
            release = _run(release_id, now)
        except Exception:
            logger.exception("The planned release %s could not be run; it is tried again.", release_id)
            continue
        if release is not None:
            finished.append(release)
    return finished


@transaction.atomic
def _run(release_id: int, now: dt.datetime) -> ScheduledRelease | None:
    """One due release; None where somebody else ran it or called it off meanwhile."""
    harness_id = ScheduledRelease.objects.values_list("harness_id", flat=True).get(pk=release_id)
    harness = Harness.objects.select_for_update(no_key=True).get(pk=harness_id)
    release = (
        ScheduledRelease.objects.select_for_update(of=("self",))
        .select_related("version", "expected_version", "created_by")
        .defer("version__document", "expected_version__document")
        .filter(pk=release_id, state=ScheduledRelease.State.SCHEDULED, due_at__lte=now)
        .first()
    )
    if release is None:
        return None
    release.harness = harness
    try:
        with transaction.atomic():
            _release(release)
    except TackroomError as error:
        _finish(release, ScheduledRelease.State.FAILED, error.detail, now, None)
    else:
        _finish(release, ScheduledRelease.State.SUCCEEDED, "", now, None)
    return release


def _release(release: ScheduledRelease) -> None:
    """Move the label in the name of whoever planned it. Raises what forbids it."""
    name, planner = release.label_name, release.created_by
    if planner is None and release.created_by_name != SYSTEM_ACTOR:
        detail = f"The account of {release.created_by_name}, who planned this, is gone. Plan it again."
        raise Conflict(detail, code="planner_gone")
    label = label_find(release.harness, name)
    holds = label.version if label else None
    if (holds.pk if holds else None) != release.expected_version_id:
        now = f"at version {holds.number}" if holds else "gone"
        was = f"at version {release.expected_version.number}" if release.expected_version else "not there"
        detail = f'"{name}" was {was} when this was planned; now it is {now}. Look at it, and plan again if it is still right.'
        raise Conflict(detail, code="label_moved")
    label_move(
        harness=release.harness,
        name=name,
        version=release.version,
        reason=release.reason,
        confirm=name,
        acting_user=planner,
        cause=LabelMove.Cause.SCHEDULE,
    )


def _finish(
    release: ScheduledRelease,
    state: ScheduledRelease.State,
    failure: str,
    now: dt.datetime,
    acting_user: AbstractUser | None,
    *,
    reason: str = "",
) -> None:
    release.state, release.failure, release.finished_at = state, failure, now
    release.save(update_fields=["state", "failure", "finished_at"])
    before = {"state": str(ScheduledRelease.State.SCHEDULED)}
    after: JsonObject = {"state": str(state), "number": release.version.number}
    if failure:
        after["failure"] = failure
    _audit_release(release, f"release.{state}", acting_user, reason=reason, before=before, after=after)


def _audited_release(release: ScheduledRelease) -> AuditObject:
    return AuditObject(
        "release",
        release.pk,
        f"{release.harness.slug}@{release.label_name} → v{release.version.number}",
        ("harness", release.harness_id),
    )


_audit_release = AuditWriter(_audited_release)


# --- freeze windows --------------------------------------------------------------------------------------------------


@transaction.atomic
def freeze_create(
    *,
    harness: Harness | None,
    starts_at: dt.datetime,
    ends_at: dt.datetime,
    reason: str,
    acting_user: AbstractUser | None,
) -> FreezeWindow:
    """Keep protected labels from moving for a time, of one harness or (None) of all. It may have begun. Raises Invalid, Denied."""
    _require_freeze(harness, acting_user)
    starts_at = _aware("starts_at", starts_at)
    ends_at = _checked_time("ends_at", ends_at)
    if ends_at <= starts_at:
        raise Invalid.field("ends_at", "The freeze ends before it starts.", "Let it end later.", code="order")
    if starts_at < timezone.now() - MAX_AHEAD:
        raise Invalid.field("starts_at", "That is more than a year ago.", "Check the year.", code="range")
    freeze = FreezeWindow.objects.create(
        harness=harness,
        starts_at=starts_at,
        ends_at=ends_at,
        reason=checked_text("reason", reason, max_chars=MAX_REASON_CHARS, is_required=True),
        created_by_id=acting_user.pk if acting_user else None,
        created_by_name=actor_name(acting_user),
    )
    _audit_freeze(freeze, "freeze.created", acting_user, reason=freeze.reason, after=_window(freeze))
    return freeze


@transaction.atomic
def freeze_cancel(*, freeze: FreezeWindow, reason: str = "", acting_user: AbstractUser | None) -> FreezeWindow:
    """End a freeze window now, or call it off before it starts. One that is over stays as it is. Raises Denied."""
    locked = FreezeWindow.objects.select_for_update(of=("self",)).select_related("harness").get(pk=freeze.pk)
    _require_freeze(locked.harness, acting_user)
    now = timezone.now()
    if locked.cancelled_at is None and locked.ends_at > now:
        locked.cancelled_at = now
        locked.save(update_fields=["cancelled_at"])
        _audit_freeze(locked, "freeze.cancelled", acting_user, reason=reason, before=_window(locked))
    return locked


def may_freeze_all(user: AbstractUser | None) -> bool:
    """Whether somebody may freeze the releases of all harnesses."""
    return user is None or (user.is_active and user.has_perm(Permission.MANAGE_HARNESS))


def _require_freeze(harness: Harness | None, acting_user: AbstractUser | None) -> None:
    if harness is not None:
        policy.require(acting_user, HarnessAction.MANAGE, harness)
    elif not may_freeze_all(acting_user):
        roles = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(Permission.MANAGE_HARNESS)))
        raise Denied(f"You may not freeze the releases of all harnesses. It takes one of these roles: {roles}.")


def _window(freeze: FreezeWindow) -> JsonObject:
    return {"starts_at": freeze.starts_at.isoformat(), "ends_at": freeze.ends_at.isoformat()}


def _audited_freeze(freeze: FreezeWindow) -> AuditObject:
    if freeze.harness is None:
        return AuditObject("freeze", freeze.pk, "Freeze of all harnesses")
    return AuditObject("freeze", freeze.pk, f"Freeze of {freeze.harness.slug}", ("harness", freeze.harness.pk))


_audit_freeze = AuditWriter(_audited_freeze)


# --- time ------------------------------------------------------------------------------------------------------------


def _aware(field: str, moment: dt.datetime) -> dt.datetime:
    """The moment in UTC. Raises Invalid for one without a zone."""
    if timezone.is_naive(moment):
        mend = "Add one, such as 2026-12-01T20:00:00+08:00."
        raise Invalid.field(field, "The time has no zone.", mend, code="no_zone")
    return moment.astimezone(dt.UTC)


def _checked_time(field: str, moment: dt.datetime) -> dt.datetime:
    """A moment to come, at most `MAX_AHEAD` from now. Raises Invalid."""
    moment, now = _aware(field, moment), timezone.now()
    if moment <= now:
        message = f"{moment:%Y-%m-%d %H:%M:%S} UTC is over."
        raise Invalid.field(field, message, f"Choose a time after {now:%Y-%m-%d %H:%M:%S} UTC.", code="past")
    if moment > now + MAX_AHEAD:
        message = f"{moment:%Y-%m-%d} is more than a year ahead."
        raise Invalid.field(field, message, "Check the year.", code="range")
    return moment
