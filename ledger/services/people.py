"""Writes to people: accounts and the roles they have in the installation."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.contrib.auth.models import AbstractUser, Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from ledger.core.roles import Role
from ledger.errors import Conflict, Invalid
from ledger.models import User
from ledger.selectors import PERMISSION_CACHE
from ledger.services.audit import audit_record, checked_text


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
