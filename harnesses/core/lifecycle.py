"""The life of a harness change on its two axes: what a content *is*, and where its review *stands*.

Lifecycle: draft → candidate → live → retired. It is never stored: a draft is a draft, and what a version is follows from the
labels that point to it now or once did. Review: idle → in review → approved or rejected, with ways back. This table is the only
one; services refuse by it and buttons appear by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Lifecycle(StrEnum):
    """What a content is."""

    DRAFT = "draft"
    CANDIDATE = "candidate"
    LIVE = "live"
    RETIRED = "retired"


class ReviewState(StrEnum):
    """Where the review of a version stands. Idle: there is none."""

    IDLE = "idle"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class ReviewStep(StrEnum):
    """What can be done with a review."""

    REQUEST = "request"
    APPROVE = "approve"
    REJECT = "reject"
    WITHDRAW = "withdraw"
    RENEW = "renew"
    """The author commits again, or asks again: the review goes on with the newer content, and earlier decisions no longer count."""


_R, _S = ReviewState, ReviewStep

REVIEW_STEPS: Final[Mapping[tuple[ReviewState, ReviewStep], ReviewState]] = {
    (_R.IDLE, _S.REQUEST): _R.IN_REVIEW,
    (_R.REJECTED, _S.REQUEST): _R.IN_REVIEW,
    (_R.WITHDRAWN, _S.REQUEST): _R.IN_REVIEW,
    (_R.IN_REVIEW, _S.APPROVE): _R.APPROVED,
    (_R.IN_REVIEW, _S.REJECT): _R.REJECTED,
    (_R.IN_REVIEW, _S.WITHDRAW): _R.WITHDRAWN,
    (_R.IN_REVIEW, _S.RENEW): _R.IN_REVIEW,
    (_R.APPROVED, _S.APPROVE): _R.APPROVED,
    (_R.APPROVED, _S.REJECT): _R.REJECTED,
    (_R.APPROVED, _S.WITHDRAW): _R.WITHDRAWN,
    (_R.APPROVED, _S.RENEW): _R.IN_REVIEW,
    (_R.REJECTED, _S.RENEW): _R.IN_REVIEW,
}
"""(state, step) → state. APPROVE leads to APPROVED once as many people approve as are required; until then it stays IN_REVIEW."""


def next_review_state(state: ReviewState, step: ReviewStep) -> ReviewState | None:
    """Where a step leads, or None where it cannot be taken."""
    return REVIEW_STEPS.get((state, step))


def state_after_approval(approvals: int, required: int) -> ReviewState:
    """APPROVED once enough people approve, else IN_REVIEW."""
    return ReviewState.APPROVED if approvals >= required else ReviewState.IN_REVIEW


def version_lifecycle(*, is_held: bool, was_held: bool) -> Lifecycle:
    """What a version is: live while a protected label points to it, retired once one did, else a candidate."""
    if is_held:
        return Lifecycle.LIVE
    return Lifecycle.RETIRED if was_held else Lifecycle.CANDIDATE
