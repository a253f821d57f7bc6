"""May this person do that with this harness? The one place that answers: for pages, the API, the admin site and commands alike.

Services call `require` themselves, so that no door is left open beside it. `acting_user` None is the platform itself (set-up,
schedules), which may do everything; rules about *who* (nobody approves their own change) are the services' own.
"""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db.models import Q, QuerySet

from harnesses.core.membership import ACTION_PERMISSIONS, HarnessAction, allowed_actions, roles_allowing
from harnesses.models import Harness, HarnessMember
from harnesses.selectors.versions import harness_get
from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.errors import Denied, NotFound

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
    """Whether a person may do something with a harness."""
    return action in actions(user, harness)


def require(user: AbstractUser | None, action: HarnessAction, harness: Harness) -> None:
    """Raises NotFound where the harness is not theirs to see, Denied (naming who may) where the action is not theirs to do."""
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
    if user is None:
        return harnesses
    held = _permissions(user)
    if not user.is_active:
        return harnesses.none()
    if Permission.MANAGE_HARNESS in held:
        return harnesses
    theirs = Q(pk__in=HarnessMember.objects.filter(_is_member(user)).values("harness"))
    if Permission.VIEW_HARNESS in held:
        theirs |= Q(access=Harness.Access.OPEN)
    return harnesses.filter(theirs)


def _is_member(user: AbstractUser) -> Q:
    return Q(user_id=user.pk) | Q(team__members=user.pk)


def _permissions(user: AbstractUser) -> frozenset[Permission]:
    return frozenset(permission for permission in Permission if user.has_perm(permission))
