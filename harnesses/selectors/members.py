"""Reads of who works on a harness, and in which role."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from django.contrib.auth.models import AbstractUser
from django.db.models import Case, QuerySet, Value, When

from harnesses import policy
from harnesses.core.membership import HarnessAction, HarnessRole
from harnesses.models import Harness, HarnessMember
from ledger.errors import NotFound
from ledger.selectors import team_get, user_by_username

MemberKind = Literal["user", "team"]
MEMBER_KINDS: tuple[MemberKind, ...] = ("user", "team")

_RANK = Case(*(When(role=role, then=Value(rank)) for rank, role in enumerate(reversed(HarnessRole))), default=Value(99))


def member_list(harness: Harness) -> QuerySet[HarnessMember]:
    """The members of a harness, admins first, people before teams, by name."""
    members = HarnessMember.objects.filter(harness=harness).select_related("user", "team", "harness")
    return members.order_by(_RANK, "team__name", "user__username", "id")


def member_get(harness: Harness, kind: str, name: str) -> HarnessMember:
    """One member, by user name or team slug. Raises NotFound."""
    column = {"user": "user__username", "team": "team__slug"}[_checked_kind(kind)]
    member = member_list(harness).filter(**{column: name}).first() if "\x00" not in name else None
    if member is None:
        raise NotFound(f'The {kind} {name[:150]!a} has no role in the harness "{harness.slug}".')
    return member


def holder_get(kind: str, name: str) -> Any:
    """The active user or the team of that name, who may be given a role. Raises NotFound."""
    return user_by_username(name) if _checked_kind(kind) == "user" else team_get(name)


def team_uses(team_id: int) -> list[str]:
    """The harnesses that a team has a role in, in words."""
    slugs = Harness.objects.filter(members__team_id=team_id).order_by("slug").values_list("slug", flat=True)
    return [f"the harness {slug}" for slug in slugs]


def team_roles(user: AbstractUser | None, team: Any) -> list[HarnessMember]:
    """The roles that a team has, in those harnesses that a person may see."""
    visible = policy.harnesses_allowing(user, HarnessAction.VIEW).values("pk")
    roles = HarnessMember.objects.filter(team_id=team.pk, harness__in=visible).select_related("harness")
    return list(roles.order_by("harness__slug"))


def harness_slugs(keys: Iterable[str]) -> dict[str, str]:
    """The slugs of harnesses by their keys as text, as audit entries name them; what is no key is passed over."""
    wanted = {int(key) for key in keys if key.isascii() and key.isdigit() and len(key) < 19}
    return {str(key): slug for key, slug in Harness.objects.filter(pk__in=wanted).values_list("pk", "slug")}


def _checked_kind(kind: str) -> MemberKind:
    for known in MEMBER_KINDS:
        if kind == known:
            return known
    raise NotFound(f"A member is a user or a team, not {kind[:40]!a}.")
