"""Who may do what: the roles, and the permissions each has.

A role is a Django group of the same name. Code asks for a permission (`user.has_perm(Permission.CHANGE_HARNESS)`), never for a
role; this table is the only place that joins the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Permission(StrEnum):
    """One thing that may be allowed. The value is the name that `User.has_perm` takes."""

    VIEW_HARNESS = "tackroom.view_harness"
    CHANGE_HARNESS = "tackroom.change_harness"
    REVIEW_HARNESS = "tackroom.review_harness"
    RELEASE_HARNESS = "tackroom.release_harness"
    RUN_EVALUATION = "tackroom.run_evaluation"
    TRAIN = "tackroom.train"
    DEPLOY = "tackroom.deploy"
    USE_PLAYGROUND = "tackroom.use_playground"
    VIEW_AUDIT = "tackroom.view_audit"
    MANAGE_TOKENS = "tackroom.manage_tokens"
    MANAGE_HARNESS = "tackroom.manage_harness"
    MANAGE_TEAMS = "tackroom.manage_teams"


class Role(StrEnum):
    """The job a person does here; also the name of the Django group."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    ML_ENGINEER = "ml_engineer"
    PLATFORM_ENGINEER = "platform_engineer"
    ANALYST = "analyst"
    ADMIN = "admin"


ROLE_TITLES: Mapping[Role, str] = {
    Role.VIEWER: "Viewer",
    Role.OPERATOR: "Operator",
    Role.REVIEWER: "Reviewer",
    Role.ML_ENGINEER: "ML engineer",
    Role.PLATFORM_ENGINEER: "Platform engineer",
    Role.ANALYST: "Analyst",
    Role.ADMIN: "Admin",
}

ROLE_PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({Permission.VIEW_HARNESS}),
    Role.OPERATOR: frozenset(
        {
            Permission.VIEW_HARNESS,
            Permission.CHANGE_HARNESS,
            Permission.RUN_EVALUATION,
            Permission.USE_PLAYGROUND,
            Permission.VIEW_AUDIT,
        }
    ),
    Role.REVIEWER: frozenset(
        {
            Permission.VIEW_HARNESS,
            Permission.REVIEW_HARNESS,
            Permission.RELEASE_HARNESS,
            Permission.RUN_EVALUATION,
            Permission.USE_PLAYGROUND,
            Permission.VIEW_AUDIT,
        }
    ),
    Role.ML_ENGINEER: frozenset(
        {
            Permission.VIEW_HARNESS,
            Permission.CHANGE_HARNESS,
            Permission.RUN_EVALUATION,
            Permission.TRAIN,
            Permission.DEPLOY,
            Permission.USE_PLAYGROUND,
            Permission.VIEW_AUDIT,
        }
    ),
    Role.PLATFORM_ENGINEER: frozenset(Permission),
    Role.ANALYST: frozenset({Permission.VIEW_HARNESS, Permission.VIEW_AUDIT}),
    Role.ADMIN: frozenset(Permission),
}


def roles_with(permission: Permission) -> frozenset[Role]:
    """The roles that have a permission."""
    return frozenset(role for role, permissions in ROLE_PERMISSIONS.items() if permission in permissions)


def permissions_of(role_names: Iterable[str]) -> frozenset[Permission]:
    """Everything that holders of these roles may do. Names that are no role are passed over."""
    known = (Role(name) for name in role_names if name in Role._value2member_map_)
    return frozenset(permission for role in known for permission in ROLE_PERMISSIONS[role])
