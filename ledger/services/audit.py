"""Writing the audit: one entry per change, in the transaction of the change; and the form in which texts are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from ledger.core.strict_json import JsonObject
from ledger.core.text import clean_text
from ledger.errors import Invalid
from ledger.models import AuditEntry
from ledger.request_context import current_request_id

SYSTEM_ACTOR = "system"
MAX_REASON_CHARS = 2_000
Audited = TypeVar("Audited")


@dataclass(frozen=True)
class AuditObject:
    """What an entry is about: its type, its id, what people call it, and the type and id of what it belongs to."""

    object_type: str
    object_id: str | int
    object_label: str
    parent: tuple[str, str | int] | None = None


class AuditWriter(Generic[Audited]):
    """Writes the audit of one kind of object. `describe` says of each what it is; the rest is as in `audit_record`."""

    def __init__(self, describe: Callable[[Audited], AuditObject]) -> None:
        self._describe = describe

    def __call__(
        self,
        audited: Audited,
        action: str,
        acting_user: AbstractUser | None,
        *,
        before: JsonObject | None = None,
        after: JsonObject | None = None,
        reason: str = "",
    ) -> None:
        about = self._describe(audited)
        audit_record(
            action=action,
            acting_user=acting_user,
            object_type=about.object_type,
            object_id=about.object_id,
            object_label=about.object_label,
            parent=about.parent,
            before=before,
            after=after,
            reason=reason,
        )


def audit_record(
    *,
    action: str,
    acting_user: AbstractUser | None,
    object_type: str,
    object_id: str | int,
    object_label: str = "",
    parent: tuple[str, str | int] | None = None,
    before: JsonObject | None = None,
    after: JsonObject | None = None,
    reason: str = "",
) -> AuditEntry:
    """Write one audit entry; call it inside the transaction of the change. `acting_user` None is the platform itself.

    `action` is dotted (`harness.committed`). `parent` is the type and id of the object that this one belongs to. `before` and
    `after` hold what changed, as plain JSON. Raises TransactionManagementError outside a transaction.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An audit entry is written in the transaction of its change.")
    return AuditEntry.objects.create(
        action=action,
        actor_id=acting_user.pk if acting_user else None,
        actor_name=actor_name(acting_user),
        object_type=object_type,
        object_id=str(object_id),
        object_label=(object_label or str(object_id))[:300],
        parent_type=parent[0] if parent else "",
        parent_id=str(parent[1]) if parent else "",
        before=before,
        after=after,
        reason=checked_text("reason", reason, max_chars=MAX_REASON_CHARS),
        request_id=current_request_id(),
    )


def actor_name(acting_user: AbstractUser | None) -> str:
    """The name that is copied into records: full name and user name, or "system"."""
    if acting_user is None:
        return SYSTEM_ACTOR
    full_name = acting_user.get_full_name()
    return f"{full_name} ({acting_user.username})" if full_name else acting_user.username


def checked_text(field_name: str, text: str, *, max_chars: int, is_required: bool = False) -> str:
    """A text in its stored form. Raises Invalid, naming the field, where it is empty, too long or holds control characters."""
    try:
        cleaned = clean_text(text).strip()
    except ValueError as error:
        raise Invalid.field(field_name, f"The text {error}.", code="control_character") from error
    if is_required and not cleaned:
        raise Invalid.field(field_name, "The text is empty.", "Write something.", code="required")
    if len(cleaned) > max_chars:
        message = f"The text has {len(cleaned):,} characters; the limit is {max_chars:,}."
        raise Invalid.field(field_name, message, "Shorten it.", code="too_long")
    return cleaned
