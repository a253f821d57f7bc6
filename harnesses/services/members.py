"""Writes to a harness itself and to who works on it: its description, who may see it, its members."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from harnesses import policy
from harnesses.core.membership import HarnessAction, HarnessRole
from harnesses.models import Harness, HarnessMember
from harnesses.selectors.members import MemberKind, holder_get, member_get
from harnesses.services.versions import MAX_DESCRIPTION_CHARS, harness_audit
from ledger.errors import Conflict, Invalid
from ledger.services import AuditObject, AuditWriter, checked_text, team_hold

MAX_TITLE_CHARS = 120
MIN_APPROVALS, MAX_APPROVALS = 1, 5


@transaction.atomic
def harness_update(
    *,
    harness: Harness,
    acting_user: AbstractUser | None,
    title: str | None = None,
    description: str | None = None,
    access: str | None = None,
    min_approvals: int | None = None,
) -> Harness:
    """Change what is said of a harness, who may see it, or how many must approve; what is None stays. Raises Invalid, Denied."""
    policy.require(acting_user, HarnessAction.MANAGE, harness)
    wanted: dict[str, Any] = {}
    if title is not None:
        wanted["title"] = checked_text("title", title, max_chars=MAX_TITLE_CHARS, is_required=True)
    if description is not None:
        wanted["description"] = checked_text("description", description, max_chars=MAX_DESCRIPTION_CHARS)
    if access is not None:
        wanted["access"] = _checked_access(access)
    if min_approvals is not None:
        wanted["min_approvals"] = _checked_approvals(min_approvals)
    locked = Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
    changed = {name: value for name, value in wanted.items() if getattr(locked, name) != value}
    if not changed:
        return locked
    before = {name: getattr(locked, name) for name in changed}
    for name, value in changed.items():
        setattr(locked, name, value)
    locked.save(update_fields=list(changed))
    harness_audit(locked, "harness.updated", acting_user, before=before, after=changed)
    return locked


@transaction.atomic
def member_set(
    *, harness: Harness, kind: str, name: str, role: str, acting_user: AbstractUser | None, reason: str = ""
) -> HarnessMember:
    """Give a person ("user", by user name) or a team ("team", by slug) a role in a harness, instead of any they had.

    The same role again changes nothing. Raises Invalid, NotFound, Denied, and Conflict where the last admin would lose that role.
    """
    policy.require(acting_user, HarnessAction.MANAGE, harness)
    role = _checked_role(role)
    holder = holder_get(kind, name)
    Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
    if kind == "team":
        team_hold(team=holder)
    member = HarnessMember.objects.filter(harness=harness, **{kind: holder}).first()
    if member is not None and member.role == role:
        return member
    before: dict[str, object] | None = {"role": str(member.role)} if member else None
    if member is None:
        member = HarnessMember.objects.create(harness=harness, role=role, **{kind: holder})
    else:
        _keep_an_admin(member)
        member.role = role
        member.save(update_fields=["role"])
    action = "harness_member.changed" if before else "harness_member.added"
    _audit_member(member, action, acting_user, before=before, after={"role": role}, reason=reason)
    return member


@transaction.atomic
def member_remove(
    *, harness: Harness, kind: str, name: str, acting_user: AbstractUser | None, reason: str = ""
) -> None:
    """Take a person or a team out of a harness. Raises NotFound, Denied, and Conflict where it is the last admin."""
    policy.require(acting_user, HarnessAction.MANAGE, harness)
    Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
    member = member_get(harness, kind, name)
    _keep_an_admin(member)
    _audit_member(member, "harness_member.removed", acting_user, before={"role": str(member.role)}, reason=reason)
    member.delete()


def _keep_an_admin(member: HarnessMember) -> None:
    """Raises Conflict where a member is the only admin left. The harness's row must be locked."""
    if member.role != HarnessRole.ADMIN:
        return
    others = HarnessMember.objects.filter(harness_id=member.harness_id, role=HarnessRole.ADMIN).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict(
            f"{member.user or member.team} is the last admin of this harness. Make somebody else admin first.",
            code="last_admin",
        )


def _checked_role(role: str) -> str:
    if role in HarnessRole._value2member_map_:
        return str(HarnessRole(role))
    raise Invalid.field(
        "role", f"There is no role {str(role)[:40]!a}.", f"Choose among {', '.join(HarnessRole)}.", code="unknown_role"
    )


def _checked_access(access: str) -> str:
    if access in Harness.Access.values:
        return str(Harness.Access(access).value)
    mend = f"Choose among {', '.join(Harness.Access.values)}."
    raise Invalid.field("access", f"{str(access)[:40]!a} is no kind of access.", mend, code="unknown_access")


def _checked_approvals(count: int) -> int:
    if isinstance(count, int) and not isinstance(count, bool) and MIN_APPROVALS <= count <= MAX_APPROVALS:
        return count
    mend = f"Use a whole number from {MIN_APPROVALS} to {MAX_APPROVALS}."
    raise Invalid.field("min_approvals", f"{str(count)[:20]!a} is out of range.", mend, code="range")


def _audited(member: HarnessMember) -> AuditObject:
    """The entry names the kind of member and the name, so that it can be read when the account is gone."""
    kind: MemberKind = "user" if member.user else "team"
    name = member.user.username if member.user else member.team.slug if member.team else ""
    return AuditObject(
        "harness_member",
        f"{kind}:{member.user_id or member.team_id}",
        f"{kind} {name} in {member.harness.slug}",
        ("harness", member.harness_id),
    )


_audit_member = AuditWriter(_audited)
