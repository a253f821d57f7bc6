"""Whether a caller may use a REST resource: by the token's scopes and, always, by the role of the person behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from ledger.core.roles import Permission
from ledger.core.tokens import SCOPE_PERMISSIONS, Scope
from ledger.errors import Denied
from ledger.models import ApiToken

if TYPE_CHECKING:  # At run time it would be a circle: DRF's views import the default permissions.
    from rest_framework.views import APIView

_READ_METHODS = ("HEAD", "OPTIONS")


class HasTokenScope(BasePermission):
    """Asks the view what a method needs, and refuses what the view does not name.

    `required_scopes = {"GET": ["harnesses:read"], "POST": [...]}` is what a token must carry. The person, behind a token or
    logged in, must hold `required_permissions = {"GET": [...]}`; without it, the permissions that the scopes stand for.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        method = request.method or ""
        if method not in view.allowed_methods:
            return True  # Nothing is run: the view answers 405.
        scopes = _needs(view, "required_scopes", method)
        if scopes is None:
            raise Denied(f"{method} is open to nobody here.", code="method_not_open")
        token = request.auth
        if isinstance(token, ApiToken) and (missing := [scope for scope in scopes if scope not in token.scopes]):
            raise Denied(f'The token lacks the scope "{missing[0]}". Make one that has it.', code="missing_scope")
        permissions = _needs(view, "required_permissions", method)
        if permissions is None:
            permissions = [SCOPE_PERMISSIONS[Scope(scope)] for scope in scopes if scope in SCOPE_PERMISSIONS]
        if lacking := [name for name in permissions if not request.user.has_perm(Permission(name))]:
            raise Denied(f'Your role lacks the permission "{lacking[0]}". Ask an administrator for a role that has it.')
        return True


def _needs(view: APIView, attribute: str, method: str) -> list[str] | None:
    """What the view asks for `method`; HEAD and OPTIONS ask what GET asks, or what any method does. None: not named."""
    table: dict[str, Iterable[str]] = getattr(view, attribute, {})
    if method in table:
        return list(table[method])
    if method in _READ_METHODS and table:
        return list(table.get("GET") or next(iter(table.values())))
    return None
