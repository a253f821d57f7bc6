"""All writes to labels: move, undo, remove, protect.

Every one locks the harness's row first, as archiving and committing do, so that moves of a harness follow one another and none
slips past an archive. Each move leaves a row of history and an audit entry in its own transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from harnesses import policy
from harnesses.core.labels import ALWAYS_PROTECTED
from harnesses.core.membership import HarnessAction
from harnesses.errors import ReleaseBlocked, StaleLabel
from harnesses.models import Harness, HarnessLabel, HarnessVersion, LabelMove
from harnesses.selectors.labels import (
    checked_label_name,
    is_label_protected,
    label_find,
    label_get,
    label_moves,
    label_preview,
    last_move,
    move_action,
)
from harnesses.services.versions import refuse_archived
from ledger.errors import Conflict, Invalid
from ledger.services import MAX_REASON_CHARS, AuditObject, AuditWriter, actor_name, checked_text


@dataclass(frozen=True)
class MoveResult:
    """What a move gave. `is_moved` is False where the label pointed there already: then nothing was written."""

    label: HarnessLabel
    move: LabelMove | None

    @property
    def is_moved(self) -> bool:
        return self.move is not None


@transaction.atomic
def label_move(
    *,
    harness: Harness,
    name: str,
    version: HarnessVersion,
    reason: str = "",
    confirm: str = "",
    acting_user: AbstractUser | None,
    expected_revision: int | None = None,
    cause: str = LabelMove.Cause.MOVE,
) -> MoveResult:
    """Point a label at a version of its harness; the first move makes the label.

    Of a protected label the name must be typed (`confirm`), a reason given, and the version approved or held before.
    `expected_revision` is the label's revision that was looked at (0: no such label). A label that points there already is left
    alone, whatever revision was sent: a request that comes twice is harmless. Raises Invalid, Denied, NotFound, StaleLabel,
    ReleaseBlocked, Conflict.
    """
    checked_label_name(name)
    reason = check_reason(reason)
    locked, version = lock_version(harness, version)
    label = label_find(locked, name)
    is_protected = is_label_protected(name, label)
    policy.require(acting_user, move_action(is_protected), locked)
    if label is not None and label.version_id == version.pk:
        return MoveResult(label, None)
    _check_revision(name, label, expected_revision)
    refuse_archived(locked)
    if is_protected:
        check_confirmed(name, confirm)
        check_reason(reason, is_required=cause == LabelMove.Cause.MOVE)
    blockers = label_preview(locked, name, version, acting_user).blockers
    if blockers:
        raise ReleaseBlocked(blockers)
    return _move(locked, name, label, version, reason=reason, acting_user=acting_user, cause=cause)


@transaction.atomic
def label_undo(
    *,
    harness: Harness,
    name: str,
    reason: str = "",
    confirm: str = "",
    acting_user: AbstractUser | None,
    expected_revision: int | None = None,
) -> MoveResult:
    """Take back a label's last move: it points again to what it held before. Undoing an undo moves it forward again.

    With `expected_revision`, the same undo sent twice is done once. Raises NotFound, Denied, Invalid, StaleLabel, ReleaseBlocked,
    and Conflict where the last move made the label.
    """
    locked = lock_harness(harness)
    policy.require(acting_user, HarnessAction.VIEW, locked)
    label = label_get(locked, name)
    move = last_move(locked, name)
    if move is not None and move.cause == LabelMove.Cause.UNDO and expected_revision == label.revision - 1:
        policy.require(acting_user, move_action(label.is_protected), locked)
        return MoveResult(label, None)
    if move is None or move.from_version is None:
        raise Conflict(
            f'There is nothing to undo: "{name}" was made by its last move. Move it to another version, or remove it.',
            code="nothing_to_undo",
        )
    return label_move(
        harness=locked,
        name=name,
        version=move.from_version,
        reason=reason,
        confirm=confirm,
        acting_user=acting_user,
        expected_revision=expected_revision,
        cause=LabelMove.Cause.UNDO,
    )


@transaction.atomic
def label_remove(
    *,
    harness: Harness,
    name: str,
    reason: str = "",
    acting_user: AbstractUser | None,
    expected_revision: int | None = None,
) -> None:
    """Take a label away; its history stays. Raises NotFound, Denied, StaleLabel, and Conflict where it is protected."""
    locked = lock_harness(harness)
    policy.require(acting_user, HarnessAction.EDIT, locked)
    label = label_get(locked, name)
    _check_revision(name, label, expected_revision)
    refuse_archived(locked)
    if label.is_protected:
        mend = "" if name in ALWAYS_PROTECTED else " An admin of the harness must take the protection off before that."
        raise Conflict(f'"{name}" is protected: it cannot be removed.{mend}', code="protected")
    number = label.version.number
    _record_move(locked, name, label.version, None, LabelMove.Cause.REMOVE, False, reason, acting_user)
    _audit(label, "label.removed", acting_user, reason=reason, before={"number": number}, after=None)
    label.delete()


@transaction.atomic
def label_protect(
    *,
    harness: Harness,
    name: str,
    is_protected: bool,
    reason: str = "",
    acting_user: AbstractUser | None,
    expected_revision: int | None = None,
) -> HarnessLabel:
    """Put a label under protection or take it off: an admin's decision, but of `production`, which stays protected for good: one
    person could else take it off, release what they wrote, and put it on again. What a label holds now counts as held under
    protection from then on. One that is so already stays as it is. Raises NotFound, Denied, StaleLabel, Conflict."""
    locked = lock_harness(harness)
    policy.require(acting_user, HarnessAction.MANAGE, locked)
    label = label_get(locked, name)
    if label.is_protected == is_protected:
        return label
    if name in ALWAYS_PROTECTED:
        raise Conflict(
            f'"{name}" stays protected: what is live takes two people. Use another label for what one may move alone.',
            code="always_protected",
        )
    _check_revision(name, label, expected_revision)
    refuse_archived(locked)
    before, label.is_protected = label.is_protected, is_protected
    label.save(update_fields=["is_protected", "updated_at"])
    _audit(
        label,
        "label.protected" if is_protected else "label.unprotected",
        acting_user,
        reason=reason,
        before={"is_protected": before, "number": label.version.number},
        after={"is_protected": is_protected, "number": label.version.number},
    )
    return label


# --- how it is done --------------------------------------------------------------------------------------------------


def lock_harness(harness: Harness) -> Harness:
    """The harness, its row locked until the transaction ends."""
    return Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)


def lock_version(harness: Harness, version: HarnessVersion) -> tuple[Harness, HarnessVersion]:
    """The harness, locked, and one of its versions, read under the lock. Raises Invalid for a version of another harness."""
    locked = lock_harness(harness)
    own = HarnessVersion.objects.select_related("parent").defer("document", "parent__document")
    found = own.filter(harness=locked, pk=version.pk).first()
    if found is None:
        message = f'{version} is no version of "{locked.slug}".'
        raise Invalid.field("number", message, "A label points to versions of its own harness.", code="other_harness")
    found.harness = locked
    return locked, found


def _check_revision(name: str, label: HarnessLabel | None, expected_revision: int | None) -> None:
    revision = label.revision if label else 0
    if expected_revision is None or expected_revision == revision:
        return
    holds = f"at version {label.version.number}" if label else ""
    raise StaleLabel(name=name, sent=expected_revision, revision=revision, holds=holds)


def check_reason(reason: str, *, is_required: bool = False) -> str:
    """The reason in its stored form. Raises Invalid."""
    cleaned = checked_text("reason", reason, max_chars=MAX_REASON_CHARS)
    if is_required and not cleaned:
        mend = "Say why, for those who read the history."
        raise Invalid.field("reason", "A protected label moves for a reason.", mend, code="required")
    return cleaned


def check_confirmed(name: str, confirm: str) -> None:
    """Raises Invalid unless the label's name was typed."""
    if confirm.strip() != name:
        found = f"{confirm[:60]!a} was typed" if confirm.strip() else "nothing was typed"
        message = f"The label is protected: its name must be typed, and {found}."
        raise Invalid.field("confirm", message, f"Type {name}.", code="not_confirmed")


def _move(
    harness: Harness,
    name: str,
    label: HarnessLabel | None,
    version: HarnessVersion,
    *,
    reason: str,
    acting_user: AbstractUser | None,
    cause: str,
) -> MoveResult:
    held = label.version if label else None
    if label is None:
        is_protected = is_label_protected(name, None)
        # A label that is made again counts on, so that an old look at it is not taken for a new one.
        revision = label_moves(harness, name).count() + 1
        label = HarnessLabel.objects.create(
            harness=harness, name=name, version=version, is_protected=is_protected, revision=revision
        )
    else:
        label.version, label.revision = version, label.revision + 1
        label.save(update_fields=["version", "revision", "updated_at"])
    move = _record_move(harness, name, held, version, cause, label.is_protected, reason, acting_user)
    _audit(
        label,
        "label.undone" if cause == LabelMove.Cause.UNDO else "label.moved",
        acting_user,
        reason=reason,
        before={"number": held.number, "spec_hash": held.spec_hash} if held else None,
        after={"number": version.number, "spec_hash": version.spec_hash, "cause": str(cause)},
    )
    return MoveResult(label, move)


def _record_move(
    harness: Harness,
    name: str,
    from_version: HarnessVersion | None,
    to_version: HarnessVersion | None,
    cause: str,
    is_protected: bool,
    reason: str,
    acting_user: AbstractUser | None,
) -> LabelMove:
    return LabelMove.objects.create(
        harness=harness,
        label_name=name,
        from_version=from_version,
        to_version=to_version,
        cause=cause,
        is_protected=is_protected,
        reason=checked_text("reason", reason, max_chars=MAX_REASON_CHARS),
        moved_by_id=acting_user.pk if acting_user else None,
        moved_by_name=actor_name(acting_user),
    )


def _audited(label: HarnessLabel) -> AuditObject:
    return AuditObject("label", label.pk, f"{label.harness.slug}@{label.name}", ("harness", label.harness_id))


_audit = AuditWriter(_audited)
