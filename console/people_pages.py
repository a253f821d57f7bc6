"""What the pages about people show: members with what they may do, and what each role may do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harnesses.core.membership import HARNESS_ROLE_TITLES, ROLE_ACTIONS, HarnessAction, HarnessRole

ACTION_WORDS = {
    HarnessAction.VIEW: "see it",
    HarnessAction.EDIT: "edit and commit",
    HarnessAction.REVIEW: "review",
    HarnessAction.RELEASE: "release",
    HarnessAction.PLAY: "use it in the playground",
    HarnessAction.EVALUATE: "run evaluations",
    HarnessAction.TRAIN: "train for it",
    HarnessAction.MANAGE: "change settings and members",
}


@dataclass(frozen=True)
class MemberRow:
    """A member: `kind` and `name` as services take them, `title` for people. A team's `slug` leads to its page."""

    kind: str
    name: str
    title: str
    role: str
    role_title: str
    may: str
    is_closed: bool


def member_rows(members: Iterable[Any]) -> list[MemberRow]:
    """Members in words."""
    return [_member_row(member) for member in members]


def _member_row(member: Any) -> MemberRow:
    kind = "user" if member.user is not None else "team"
    name = member.user.username if member.user is not None else member.team.slug
    title = member.user.display_name if member.user is not None else member.team.name
    is_closed = member.user is not None and not member.user.is_active
    return MemberRow(kind, name, title, member.role, role_title(member.role), role_words(member.role), is_closed)


def role_title(role: str) -> str:
    """A role in a harness, as people call it."""
    return HARNESS_ROLE_TITLES[HarnessRole(role)] if role in list(HarnessRole) else role


def role_words(role: str) -> str:
    """What a role in a harness may do, in words."""
    allowed = ROLE_ACTIONS[HarnessRole(role)] if role in list(HarnessRole) else frozenset()
    if allowed == frozenset(HarnessAction):
        return "everything"
    return ", ".join(words for action, words in ACTION_WORDS.items() if action in allowed)


def access_rows() -> list[tuple[str, str]]:
    """Every role in a harness with what it may do."""
    return [(title, role_words(role)) for role, title in HARNESS_ROLE_TITLES.items()]
