"""Who may do what with one harness: the actions, the roles its members have, and how both join the roles of the installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from ledger.core.roles import Permission


class HarnessAction(StrEnum):
    """One thing that may be done with a harness."""

    VIEW = "view"
    EDIT = "edit"
    REVIEW = "review"
    RELEASE = "release"
    PLAY = "play"
    EVALUATE = "evaluate"
    TRAIN = "train"
    MANAGE = "manage"


class HarnessRole(StrEnum):
    """What a person or a team is in one harness."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    ENGINEER = "engineer"
    ADMIN = "admin"


HARNESS_ROLE_TITLES: Final[Mapping[HarnessRole, str]] = {
    HarnessRole.VIEWER: "Viewer",
    HarnessRole.OPERATOR: "Operator",
    HarnessRole.REVIEWER: "Reviewer",
    HarnessRole.ENGINEER: "Engineer",
    HarnessRole.ADMIN: "Admin",
}

_A = HarnessAction
ROLE_ACTIONS: Final[Mapping[HarnessRole, frozenset[HarnessAction]]] = {
    HarnessRole.VIEWER: frozenset({_A.VIEW}),
    HarnessRole.OPERATOR: frozenset({_A.VIEW, _A.EDIT, _A.PLAY, _A.EVALUATE}),
    HarnessRole.REVIEWER: frozenset({_A.VIEW, _A.REVIEW, _A.RELEASE, _A.PLAY, _A.EVALUATE}),
    HarnessRole.ENGINEER: frozenset({_A.VIEW, _A.EDIT, _A.PLAY, _A.EVALUATE, _A.TRAIN}),
    HarnessRole.ADMIN: frozenset(HarnessAction),
}

ACTION_PERMISSIONS: Final[Mapping[HarnessAction, Permission]] = {
    _A.VIEW: Permission.VIEW_HARNESS,
    _A.EDIT: Permission.CHANGE_HARNESS,
    _A.REVIEW: Permission.REVIEW_HARNESS,
    _A.RELEASE: Permission.RELEASE_HARNESS,
    _A.PLAY: Permission.USE_PLAYGROUND,
    _A.EVALUATE: Permission.RUN_EVALUATION,
    _A.TRAIN: Permission.TRAIN,
    _A.MANAGE: Permission.MANAGE_HARNESS,
}
"""The permission (by the installation's roles) that allows an action on every harness that is open to everybody."""


def allowed_actions(
    permissions: Iterable[Permission], member_roles: Iterable[str], *, is_members_only: bool
) -> frozenset[HarnessAction]:
    """What somebody may do with a harness, by their permissions and their roles in it.

    Of a harness that is open, both count. Of one for members only, the roles in it count, and the permission to manage harnesses
    (so that no harness is ever beyond everybody's reach).
    """
    held = frozenset(permissions)
    by_role = frozenset(
        action
        for role in member_roles
        if role in HarnessRole._value2member_map_
        for action in ROLE_ACTIONS[HarnessRole(role)]
    )
    if is_members_only and Permission.MANAGE_HARNESS not in held:
        return by_role
    return by_role | {action for action, permission in ACTION_PERMISSIONS.items() if permission in held}


def roles_allowing(action: HarnessAction) -> tuple[str, ...]:
    """The titles of the roles in a harness that may do something, for messages."""
    return tuple(title for role, title in HARNESS_ROLE_TITLES.items() if action in ROLE_ACTIONS[role])
