"""All writes of the ledger: audit entries, users and their roles, API tokens."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.conf import settings
from django.contrib.auth.models import AbstractUser, Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from ledger.core.roles import Permission, Role
from ledger.core.strict_json import JsonObject
from ledger.core.text import clean_text
from ledger.core.tokens import Scope, make_token
from ledger.errors import Conflict, Denied, Invalid
from ledger.models import ApiToken, AuditEntry, User
from ledger.request_context import current_request_id
from ledger.selectors import PERMISSION_CACHE

SYSTEM_ACTOR = "system"
MAX_REASON_CHARS = 2_000


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


# --- users -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def user_create(
    *,
    username: str,
    password: str | None,
    acting_user: AbstractUser | None,
    roles: Collection[str] = (),
    full_name: str = "",
    email: str = "",
    is_superuser: bool = False,
) -> User:
    """Make a user with roles. `password` None makes an account that cannot log in. Raises Invalid, Conflict."""
    username = checked_text("username", username, max_chars=150, is_required=True)
    first_name, _, last_name = checked_text("full_name", full_name, max_chars=150).partition(" ")
    user = User(username=username, first_name=first_name, last_name=last_name, email=email)
    user.is_staff = user.is_superuser = is_superuser
    user.set_password(password)
    try:
        user.clean_fields()
    except ValidationError as error:
        problems = [Invalid.field(name, " ".join(texts)).field_errors[0] for name, texts in error.message_dict.items()]
        raise Invalid("The user cannot be made like that.", field_errors=problems) from error
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        raise Conflict(f'There is a user "{username}" already. Choose another user name.') from error
    names = _set_groups(user, roles)
    audit_record(
        action="user.created",
        acting_user=acting_user,
        object_type="user",
        object_id=user.pk,
        object_label=user.username,
        after={"username": user.username, "roles": names, "is_superuser": is_superuser},
    )
    return user


@transaction.atomic
def user_set_roles(*, user: AbstractUser, roles: Collection[str], acting_user: AbstractUser | None) -> None:
    """Give a user exactly these roles. Raises Invalid for a name that is no role."""
    before = sorted(user.groups.values_list("name", flat=True))
    names = _set_groups(user, roles)
    if before == names:
        return
    audit_record(
        action="user.roles_set",
        acting_user=acting_user,
        object_type="user",
        object_id=user.pk,
        object_label=user.username,
        before={"roles": before},
        after={"roles": names},
    )


def _set_groups(user: AbstractUser, roles: Iterable[str]) -> list[str]:
    names = sorted(set(roles))
    if unknown := [name for name in names if name not in list(Role)]:
        message = f'There is no role "{unknown[0]}".'
        raise Invalid.field("roles", message, f"Choose among {', '.join(Role)}.", code="unknown_role")
    user.groups.set([Group.objects.get_or_create(name=name)[0] for name in names])
    user.__dict__.pop(PERMISSION_CACHE, None)
    return names


# --- tokens ----------------------------------------------------------------------------------------------------------


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
