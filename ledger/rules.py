"""The table of `ledger.core.roles` as `rules` permissions, so that `user.has_perm("tackroom.…")` answers by role."""

from __future__ import annotations

from collections.abc import Callable

import rules
from django.contrib.auth.models import AbstractUser, AnonymousUser

from ledger.core.roles import Permission
from ledger.selectors import PERMISSION_CACHE, user_permissions


def _permissions_of_user(user: AbstractUser | AnonymousUser) -> frozenset[Permission]:
    """The user's permissions by role, read once per user object (that is, once per request)."""
    if isinstance(user, AnonymousUser):
        return frozenset()
    cached: frozenset[Permission] | None = getattr(user, PERMISSION_CACHE, None)
    if cached is None:
        cached = user_permissions(user)
        setattr(user, PERMISSION_CACHE, cached)
    return cached


def _holds(permission: Permission) -> Callable[[AbstractUser | AnonymousUser], bool]:
    def predicate(user: AbstractUser | AnonymousUser) -> bool:
        return permission in _permissions_of_user(user)

    return predicate


def register() -> None:
    """Make every permission known to `rules`. Called once, when Django starts."""
    for permission in Permission:
        if not rules.perm_exists(permission):
            rules.add_perm(permission, rules.predicate(_holds(permission), name=f"may {permission}"))
