"""All reads of the ledger beyond a get."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from ledger import ports
from ledger.core.roles import Permission, permissions_of
from ledger.core.text import SLUG_PATTERN
from ledger.core.tokens import TOKEN_PATTERN, hash_token
from ledger.errors import NotFound
from ledger.models import ApiToken, AuditEntry, Team, User

PERMISSION_CACHE = "_tackroom_permissions"
"""The attribute of a user object that keeps its permissions for the length of a request."""


def user_by_username(username: str) -> User:
    """The active user of that name. Raises NotFound."""
    user = User.objects.filter(username=username, is_active=True).first() if "\x00" not in username else None
    if user is None:
        raise NotFound(f"There is no active user {username[:150]!a}.")
    return user


def user_permissions(user: AbstractUser) -> frozenset[Permission]:
    """Everything a user may do, by their roles, read afresh; a superuser may do all, an inactive user nothing."""
    return _permissions(user, user.groups.values_list("name", flat=True))


def held_permissions(user: AbstractUser) -> frozenset[Permission]:
    """Everything a user may do, read once per user object (that is, once per request). An inactive user may do nothing."""
    if not user.is_active:
        return frozenset()
    cached: frozenset[Permission] | None = getattr(user, PERMISSION_CACHE, None)
    if cached is None:
        cached = user_permissions(user)
        setattr(user, PERMISSION_CACHE, cached)
    return cached


def _permissions(user: AbstractUser, role_names: Iterable[str]) -> frozenset[Permission]:
    if not user.is_active:
        return frozenset()
    return frozenset(Permission) if user.is_superuser else permissions_of(role_names)


def audit_list(
    *,
    viewer: AbstractUser | None = None,
    within: tuple[str, str | int] | None = None,
    object_type: str | None = None,
    object_id: str | int | None = None,
    action_prefix: str | None = None,
    actor_id: int | None = None,
    actor: str = "",
    search: str = "",
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
) -> QuerySet[AuditEntry]:
    """Audit entries, newest first, without those of objects that `viewer` may not see (None is the platform, which sees all).

    `within` is the type and key of an object: entries of it and of its parts. `action_prefix` takes a whole action or its first
    part ("harness"). `actor` is a user name. `since` counts, `until` does not.
    """
    entries = _visible_to(viewer, AuditEntry.objects.select_related("actor"))
    if within is not None:
        kind, key = within[0], str(within[1])
        entries = entries.filter(Q(object_type=kind, object_id=key) | Q(parent_type=kind, parent_id=key))
    if object_type is not None:
        entries = entries.filter(object_type=object_type)
    if object_id is not None:
        entries = entries.filter(object_id=str(object_id))
    if action_prefix:
        entries = entries.filter(Q(action=action_prefix) | Q(action__startswith=f"{action_prefix}."))
    if actor_id is not None:
        entries = entries.filter(actor_id=actor_id)
    if actor:
        entries = entries.filter(actor__username=actor)
    if search:
        entries = entries.filter(
            Q(object_label__icontains=search) | Q(actor_name__icontains=search) | Q(reason__icontains=search)
        )
    if since is not None:
        entries = entries.filter(created_at__gte=since)
    if until is not None:
        entries = entries.filter(created_at__lt=until)
    return entries


def _visible_to(viewer: AbstractUser | None, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
    for object_type, kind in ports.audited_kinds().items():
        if (hidden := kind.hidden_ids(viewer)) is not None:
            entries = entries.exclude(object_type=object_type, object_id__in=hidden)
            entries = entries.exclude(parent_type=object_type, parent_id__in=hidden)
    return entries


def audit_object_id(viewer: AbstractUser | None, object_type: str, name: str) -> int:
    """The key of an object by the name people call it (a harness's slug). Raises NotFound where `viewer` may not see it."""
    return ports.audited_kinds()[object_type].find(viewer, name)


def team_list() -> QuerySet[Team]:
    """All teams by name, each with `member_count`, the number of its active people."""
    is_active = Q(members__is_active=True)
    return Team.objects.annotate(member_count=Count("members", filter=is_active)).order_by("name", "slug")


def team_get(slug: str) -> Team:
    """The team of that slug. Raises NotFound."""
    team = team_list().filter(slug=slug).first() if SLUG_PATTERN.fullmatch(slug) else None
    if team is None:
        raise NotFound(f"There is no team {slug[:80]!a}.")
    return team


def team_people(team: Team) -> QuerySet[User]:
    """The people of a team by user name, those whose account is closed too."""
    return team.members.order_by("username")


def people_list() -> QuerySet[User]:
    """All active users by user name."""
    return User.objects.filter(is_active=True).order_by("username")


def token_list(*, owner: AbstractUser | None = None) -> QuerySet[ApiToken]:
    """API tokens, newest first; of one owner or of all."""
    tokens = ApiToken.objects.select_related("owner")
    return tokens if owner is None else tokens.filter(owner_id=owner.pk)


def token_get(token_id: int) -> ApiToken:
    """One token with its owner. Raises NotFound."""
    token = ApiToken.objects.select_related("owner").filter(pk=token_id).first()
    if token is None:
        raise NotFound("There is no such token.")
    return token


def token_by_secret(secret: str) -> ApiToken | None:
    """The usable token behind a secret: known, not revoked, not expired, owner active; else None.

    The owner comes with their permissions, so that a request with a token takes one query to judge.
    """
    if not TOKEN_PATTERN.fullmatch(secret):
        return None
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("owner")
        .annotate(owner_roles=ArrayAgg("owner__groups__name", default=[], filter=Q(owner__groups__isnull=False)))
        .filter(secret_hash=hash_token(secret), revoked_at__isnull=True, owner__is_active=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        .first()
    )
    if token is not None:
        setattr(token.owner, PERMISSION_CACHE, _permissions(token.owner, token.owner_roles))
    return token
