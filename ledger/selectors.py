"""All reads of the ledger beyond a get."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, QuerySet
from django.utils import timezone

from ledger.core.roles import Permission, permissions_of
from ledger.core.tokens import TOKEN_PATTERN, hash_token
from ledger.errors import NotFound
from ledger.models import ApiToken, AuditEntry, User

PERMISSION_CACHE = "_tackroom_permissions"
"""The attribute of a user object that keeps its permissions for the length of a request."""


def user_by_username(username: str) -> User:
    """The active user of that name. Raises NotFound."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(f'There is no active user "{username}".')
    return user


def user_permissions(user: AbstractUser) -> frozenset[Permission]:
    """Everything a user may do, by their roles; a superuser may do all, an inactive user nothing."""
    return _permissions(user, user.groups.values_list("name", flat=True))


def _permissions(user: AbstractUser, role_names: Iterable[str]) -> frozenset[Permission]:
    if not user.is_active:
        return frozenset()
    return frozenset(Permission) if user.is_superuser else permissions_of(role_names)


def audit_list(
    *,
    object_type: str | None = None,
    object_id: str | int | None = None,
    action_prefix: str | None = None,
    actor_id: int | None = None,
    search: str = "",
) -> QuerySet[AuditEntry]:
    """Audit entries, newest first. `action_prefix` takes a whole action or its first part ("harness")."""
    entries = AuditEntry.objects.select_related("actor")
    if object_type is not None:
        entries = entries.filter(object_type=object_type)
    if object_id is not None:
        entries = entries.filter(object_id=str(object_id))
    if action_prefix:
        entries = entries.filter(Q(action=action_prefix) | Q(action__startswith=f"{action_prefix}."))
    if actor_id is not None:
        entries = entries.filter(actor_id=actor_id)
    if search:
        entries = entries.filter(
            Q(object_label__icontains=search) | Q(actor_name__icontains=search) | Q(reason__icontains=search)
        )
    return entries


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
