"""May this person do that with this harness? The one place that answers: for pages, the API, the admin site and commands alike.

Services call `require` themselves, so that no door is left open beside it. `acting_user` None is the platform itself (set-up,
schedules), which may do everything; rules about *who* (nobody approves their own change) are the services' own.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import CharField, Q, QuerySet
from django.db.models.functions import Cast

from harnesses.core.membership import (
    ACTION_PERMISSIONS,
    ROLE_ACTIONS,
    HarnessAction,
    allowed_actions,
    roles_allowing,
)
from harnesses.models import Harness, HarnessMember
from harnesses.selectors.versions import harness_get
from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.errors import Denied, NotFound
from ledger.selectors import held_permissions

ALL_ACTIONS = frozenset(HarnessAction)


def actions(user: AbstractUser | None, harness: Harness) -> frozenset[HarnessAction]:
    """Everything a person may do with a harness, read afresh. None, the platform itself, may do all; an inactive user nothing."""
    if user is None:
        return ALL_ACTIONS
    if not user.is_active:
        return frozenset()
    held = _permissions(user)
    if Permission.MANAGE_HARNESS in held and held >= frozenset(ACTION_PERMISSIONS.values()):
        return ALL_ACTIONS
    roles = HarnessMember.objects.filter(_is_member(user), harness_id=harness.pk).values_list("role", flat=True)
    return allowed_actions(held, roles, is_members_only=harness.access == Harness.Access.MEMBERS)


def may(user: AbstractUser | None, action: HarnessAction, harness: Harness) -> bool:
    """Whether a person may do something with a harness. Takes no query of its own where their permissions alone answer."""
    return action in _by_permission(user, harness) or action in actions(user, harness)


def require(user: AbstractUser | None, action: HarnessAction, harness: Harness) -> None:
    """Raises NotFound where the harness is not theirs to see, Denied (naming who may) where the action is not theirs to do.

    Takes no query of its own where the person's permissions alone allow it: this stands on the path of every reply.
    """
    if {HarnessAction.VIEW, action} <= _by_permission(user, harness):
        return
    allowed = actions(user, harness)
    if HarnessAction.VIEW not in allowed:
        raise NotFound(f"There is no harness {harness.slug!a}.")
    if action not in allowed:
        installation = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(ACTION_PERMISSIONS[action])))
        raise Denied(
            f'You may not {action} the harness "{harness.slug}". It takes one of these roles: {installation}; '
            f"or in this harness: {', '.join(roles_allowing(action))}."
        )


def require_create(user: AbstractUser | None) -> None:
    """Raises Denied where a person may not make harnesses."""
    if user is not None and not (user.is_active and Permission.CHANGE_HARNESS in _permissions(user)):
        roles = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(Permission.CHANGE_HARNESS)))
        raise Denied(f"You may not make harnesses. It takes one of these roles: {roles}.")


def harness_for(user: AbstractUser | None, slug: str, action: HarnessAction = HarnessAction.VIEW) -> Harness:
    """The harness of that slug, if the person may do `action` with it. Raises NotFound, Denied."""
    harness = harness_get(slug)
    require(user, action, harness)
    return harness


def visible_harnesses(user: AbstractUser | None, harnesses: QuerySet[Harness]) -> QuerySet[Harness]:
    """Those of `harnesses` that a person may see."""
    return harnesses_allowing(user, HarnessAction.VIEW, harnesses)


def harnesses_allowing(
    user: AbstractUser | None, action: HarnessAction, harnesses: QuerySet[Harness] | None = None
) -> QuerySet[Harness]:
    """Those of `harnesses` (None: all, archived ones too) with which a person may do something: `actions`, of many at once."""
    chosen = Harness.objects.all() if harnesses is None else harnesses
    if user is None or may_everywhere(user, action):
        return chosen
    if not user.is_active:
        return chosen.none()
    theirs = Q(pk__in=HarnessMember.objects.filter(_is_member(user), role__in=_roles(action)).values("harness"))
    if user.has_perm(ACTION_PERMISSIONS[action]):
        theirs |= Q(access=Harness.Access.OPEN)
    return chosen.filter(theirs)


def may_somewhere(user: AbstractUser, action: HarnessAction) -> bool:
    """Whether there may be a harness with which a person may do something: what menus ask. Most answers take no query."""
    if not user.is_active:
        return False
    if user.has_perm(ACTION_PERMISSIONS[action]):
        return True
    return HarnessMember.objects.filter(_is_member(user), role__in=_roles(action)).exists()


def require_somewhere(user: AbstractUser, action: HarnessAction) -> None:
    """Raises Denied, naming who may, where `may_somewhere` says no."""
    if not may_somewhere(user, action):
        installation = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(ACTION_PERMISSIONS[action])))
        raise Denied(f"You may not {action} any harness. It takes one of these roles: {installation}.")


def hidden_ids(user: AbstractUser | None) -> Any:
    """A query for the keys, as text, of the harnesses that a person may not see; None where they may see all (the audit asks)."""
    if user is None or may_everywhere(user, HarnessAction.VIEW):
        return None
    visible = harnesses_allowing(user, HarnessAction.VIEW)
    hidden = Harness.objects.exclude(pk__in=visible.values("pk"))
    return hidden.annotate(text_id=Cast("pk", CharField())).values("text_id")


def may_everywhere(user: AbstractUser, action: HarnessAction) -> bool:
    """Whether a person may do something with every harness, those for members only included."""
    return user.is_active and user.has_perm(Permission.MANAGE_HARNESS) and user.has_perm(ACTION_PERMISSIONS[action])


def _by_permission(user: AbstractUser | None, harness: Harness) -> frozenset[HarnessAction]:
    """What a person's permissions allow with a harness, whatever their roles in it."""
    if user is None:
        return ALL_ACTIONS
    if not user.is_active:
        return frozenset()
    return allowed_actions(_permissions(user), (), is_members_only=harness.access == Harness.Access.MEMBERS)


def _roles(action: HarnessAction) -> list[str]:
    return [role for role, allowed in ROLE_ACTIONS.items() if action in allowed]


def _is_member(user: AbstractUser) -> Q:
    return Q(user_id=user.pk) | Q(team__members=user.pk)


def _permissions(user: AbstractUser) -> frozenset[Permission]:
    return held_permissions(user)
