"""Who calls the REST API: the owner of the token in the Authorization header."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from ledger.models import ApiToken
from ledger.selectors import token_by_secret
from ledger.services import token_touch

SCHEME = "Bearer"
MALFORMED = "The Authorization header is malformed. Send: Authorization: Bearer tkr_…"
UNKNOWN = "The token is unknown, revoked or expired. Make a new one on the tokens page."


def signed_in_user(request: HttpRequest) -> AbstractUser:
    """Who sent a request to a page. Raises PermissionDenied for strangers."""
    if isinstance(request.user, AbstractUser):
        return request.user
    raise PermissionDenied


def calling_user(request: Request) -> AbstractUser:
    """Who sent an authenticated request. Raises NotAuthenticated for anybody else."""
    if isinstance(request.user, AbstractUser):
        return request.user
    raise NotAuthenticated


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer tkr_…`. Sets `request.auth` to the ApiToken; its last use is written at most once a minute."""

    def authenticate(self, request: Request) -> tuple[AbstractUser, ApiToken] | None:
        header = request.headers.get("Authorization", "")
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        if not secret or " " in secret:
            raise AuthenticationFailed(MALFORMED)
        token = token_by_secret(secret)
        if token is None:
            raise AuthenticationFailed(UNKNOWN)
        token_touch(token=token)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="Tackroom API"'
