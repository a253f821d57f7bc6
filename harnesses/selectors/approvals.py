"""What a version needs before a protected label may take it, and what it has of that.

Counted afresh each time, against what the label holds at that moment: an approval given for a small change does not carry a large
one that came about because the label moved meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from harnesses.core.approvals import Opinion, approving_people, required_approvals
from harnesses.core.risk import RiskReport
from harnesses.models import HarnessVersion, Review
from harnesses.selectors.authorship import change_authors
from harnesses.selectors.reviews import active_review, review_risk


@dataclass(frozen=True)
class Approvals:
    """Who approved a version, and how many must. `review` is its active review, `base` what it was judged against."""

    review: Review | None
    base: HarnessVersion | None
    risk: RiskReport
    required: int
    approved_by: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        return len(self.approved_by) >= self.required


def version_approvals(version: HarnessVersion, held: HarnessVersion | None) -> Approvals:
    """The approvals that hold for moving a label from `held` to `version` now.

    Where the label holds nothing yet, the version is judged against its parent, as its review is. Approvals count while the review
    they belong to stands approved, for this very version, and by people who neither asked for it nor wrote any of what lies
    between. Raises NotFound where the world is unknown here.
    """
    base = held or version.parent
    risk = review_risk(version, base)
    required = required_approvals(risk.required_review, version.harness.min_approvals)
    review = active_review(version)
    return Approvals(review, base, risk, required, _approved_by(review, version, base))


def _approved_by(review: Review | None, version: HarnessVersion, base: HarnessVersion | None) -> tuple[str, ...]:
    if review is None or review.state != Review.State.APPROVED:
        return ()
    authors = set(change_authors(version, base))
    if review.requested_by_id is not None:
        authors.add(review.requested_by_id)
    rows = review.decisions.filter(version=version).order_by("id")
    opinions = [Opinion(*row) for row in rows.values_list("reviewer_id", "reviewer_name", "verdict")]
    return approving_people(opinions, authors)
