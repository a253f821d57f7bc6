"""How many people must approve a change, and whose approval counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from harnesses.core.risk import RequiredReview

RISK_APPROVALS: Final[Mapping[RequiredReview, int]] = {"none": 0, "one_reviewer": 1, "two_reviewers": 2}
"""How many approvals the risk of a change asks for."""


class Opinion(NamedTuple):
    """One person's verdict (`approve` or `reject`). `reviewer_id` is None where the account is gone."""

    reviewer_id: int | None
    reviewer_name: str
    verdict: str


def required_approvals(required_review: RequiredReview, min_approvals: int) -> int:
    """How many people must approve: what the risk asks for, and never fewer than the harness does."""
    return max(RISK_APPROVALS[required_review], min_approvals)


def approving_people(opinions: Iterable[Opinion], authors: Collection[int] = ()) -> tuple[str, ...]:
    """The names of the people who approve: whose last verdict is `approve`, and who wrote no part of the change.

    `opinions` are in the order in which they were given. An approval stays one when the account is removed later.
    """
    last = {opinion.reviewer_id or opinion.reviewer_name: opinion for opinion in opinions}
    return tuple(
        opinion.reviewer_name
        for opinion in last.values()
        if opinion.verdict == "approve" and opinion.reviewer_id not in authors
    )
