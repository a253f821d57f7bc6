"""The table of `ledger.core.roles` as `rules` permissions, so that `user.has_perm("tackroom.…")` answers by role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from rules.permissions import ObjectPermissionBackend

from ledger.core.roles import Permission
from ledger.selectors import held_permissions


class RoleBackend(ObjectPermissionBackend):
    """Answers for our own permissions, and answers for good: Django's tables, two queries, are not asked behind it."""

    def has_perm(self, user: AbstractUser | AnonymousUser, perm: str, *args: Any, **kwargs: Any) -> bool:
        if super().has_perm(user, perm, *args, **kwargs):
            return True
        if perm in Permission._value2member_map_:
            raise PermissionDenied  # Django's way of saying "no, and ask nobody else"; has_perm gives False.
        return False


def _holds(permission: Permission) -> Callable[[AbstractUser | AnonymousUser], bool]:
    def predicate(user: AbstractUser | AnonymousUser) -> bool:
        return not isinstance(user, AnonymousUser) and permission in held_permissions(user)

    return predicate


def register() -> None:
    """Make every permission known to `rules`. Called once, when Django starts."""
    for permission in Permission:
        if not rules.perm_exists(permission):
            rules.add_perm(permission, rules.predicate(_holds(permission), name=f"may {permission}"))
