"""Writes to API tokens."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, field

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone

from ledger.core.roles import Permission
from ledger.core.tokens import Scope, make_token
from ledger.errors import Denied, Invalid
from ledger.models import ApiToken
from ledger.services.audit import audit_record, checked_text


@dataclass(frozen=True)
class CreatedToken:
    """A new token. `secret` is the whole token, to be shown this once; it cannot be read again."""

    token: ApiToken
    secret: str = field(repr=False)


@transaction.atomic
def token_create(
    *,
    owner: AbstractUser,
    name: str,
    scopes: Collection[str],
    acting_user: AbstractUser | None,
    ttl_days: int | None = None,
) -> CreatedToken:
    """Make an API token for `owner`, valid `ttl_days` (None: the setting API_TOKEN_TTL_DAYS).

    Everybody may make tokens of their own; for others it takes `manage_tokens`. Raises Invalid, Denied.
    """
    _check_may_manage(owner, acting_user)
    name = checked_text("name", name, max_chars=100, is_required=True)
    chosen = _checked_scopes(scopes)
    days = settings.API_TOKEN_TTL_DAYS if ttl_days is None else ttl_days
    if not 1 <= days <= 3650:
        raise Invalid.field("ttl_days", f"{days} days is out of range.", "Choose 1 to 3650 days.", code="range")
    fresh = make_token()
    expires_at = timezone.now() + dt.timedelta(days=days)
    token = ApiToken.objects.create(
        owner_id=owner.pk,
        name=name,
        prefix=fresh.prefix,
        secret_hash=fresh.secret_hash,
        scopes=chosen,
        expires_at=expires_at,
    )
    audit_record(
        action="token.created",
        acting_user=acting_user,
        object_type="token",
        object_id=token.pk,
        object_label=f"{name} ({fresh.prefix})",
        after={"owner": owner.username, "scopes": chosen, "expires_at": expires_at.isoformat()},
    )
    return CreatedToken(token=token, secret=fresh.text)


@transaction.atomic
def token_revoke(*, token: ApiToken, acting_user: AbstractUser | None, reason: str = "") -> ApiToken:
    """End a token at once. A token that is revoked already stays as it is. Raises Denied."""
    token = ApiToken.objects.select_for_update(of=("self",)).select_related("owner").get(pk=token.pk)
    _check_may_manage(token.owner, acting_user)
    if token.revoked_at is not None:
        return token
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    audit_record(
        action="token.revoked",
        acting_user=acting_user,
        object_type="token",
        object_id=token.pk,
        object_label=f"{token.name} ({token.prefix})",
        reason=reason,
        before={"revoked_at": None},
        after={"revoked_at": token.revoked_at.isoformat()},
    )
    return token


def token_touch(*, token: ApiToken, interval_s: int = 60) -> None:
    """Note that a token was used, at most once per `interval_s`: a mark of use, not an audited change."""
    now = timezone.now()
    if token.last_used_at is None or (now - token.last_used_at).total_seconds() >= interval_s:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        token.last_used_at = now


def _check_may_manage(owner: AbstractUser, acting_user: AbstractUser | None) -> None:
    if acting_user is None or acting_user.pk == owner.pk or acting_user.has_perm(Permission.MANAGE_TOKENS):
        return
    raise Denied("You may make and revoke your own tokens only. Ask a platform engineer.")


def _checked_scopes(scopes: Collection[str]) -> list[str]:
    chosen = sorted(set(scopes))
    if not chosen:
        message = "A token needs at least one scope."
        raise Invalid.field("scopes", message, f"Choose among {', '.join(Scope)}.", code="required")
    if unknown := [scope for scope in chosen if scope not in list(Scope)]:
        message = f'There is no scope "{unknown[0]}".'
        raise Invalid.field("scopes", message, f"Choose among {', '.join(Scope)}.", code="unknown_scope")
    return chosen
