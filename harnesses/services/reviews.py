"""All writes to reviews: request, decide, withdraw, move on to a newer version. Threads are in `review_threads`.

Two people's work: nobody decides on a change that they wrote a part of or asked the review for, through whichever door they come.
The harness's row is locked first, then the review's, so that parallel decisions, commits and label moves see each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone

from harnesses import policy
from harnesses.core.lifecycle import ReviewState, ReviewStep, next_review_state, state_after_approval
from harnesses.core.membership import HarnessAction
from harnesses.models import Harness, HarnessVersion, Review, ReviewDecision
from harnesses.models.reviews import ACTIVE_STATES
from harnesses.selectors.authorship import change_authors
from harnesses.selectors.reviewers import review_base, reviewers_of
from harnesses.selectors.reviews import OWN_CHANGE, approvals_needed, is_released, review_approvals, review_authors
from ledger.core.strict_json import JsonObject
from ledger.core.text import clean_text
from ledger.errors import Conflict, Denied, FieldError, Invalid
from ledger.services import AuditObject, AuditWriter, actor_name, checked_text

MAX_MESSAGE_CHARS = 2_000
MAX_REASON_CHARS = 2_000
MAX_REVIEWERS = 20

NOBODY_DECIDES = "A review is decided by a person."
NEEDS_REASON = "A rejection says why."


@dataclass(frozen=True)
class _Locked:
    """A review and its harness, both locked in this order; `actor` is read afresh, with the roles they hold at this moment."""

    harness: Harness
    review: Review
    actor: AbstractUser | None


@transaction.atomic
def review_request(
    *,
    version: HarnessVersion,
    message: str = "",
    reviewers: Sequence[AbstractUser | str] = (),
    acting_user: AbstractUser | None,
) -> Review:
    """Ask other people whether a version may be released. `reviewers` (people or user names) are asked by name.

    Raises Denied, Invalid (fields `message`, `reviewers`), Conflict where the harness is archived or a review of this version is
    under way.
    """
    policy.require(acting_user, HarnessAction.EDIT, version.harness)
    message = checked_text("message", message, max_chars=MAX_MESSAGE_CHARS)
    harness = Harness.objects.select_for_update(no_key=True).get(pk=version.harness_id)
    _refuse_archived(harness)
    version = harness.versions.select_related("harness", "parent").get(pk=version.pk)
    _refuse_second_review(version)
    base = review_base(version)
    asked = _checked_reviewers(reviewers, version, base, acting_user)
    review = Review.objects.create(
        harness=harness,
        version=version,
        base_version=base,
        message=message,
        required_approvals=approvals_needed(version, base),
        requested_by_id=acting_user.pk if acting_user else None,
        requested_by_name=actor_name(acting_user),
    )
    review.reviewers.set([user.pk for user in asked])
    _audit(
        review,
        "review.requested",
        acting_user,
        reason=message,
        after={**_standing(review), "reviewers": sorted(user.username for user in asked)},
    )
    return review


@transaction.atomic
def review_decide(
    *, review: Review, verdict: str, reason: str = "", number: int, acting_user: AbstractUser | None
) -> Review:
    """Approve or reject the version that was looked at (`number`). The same verdict again changes nothing.

    An approval can be turned into a rejection, which ends the review; a rejection stands until a newer version or another review.
    Raises Denied (no role any more, or an author of the change), Conflict (`stale_review`: the review has moved on;
    `review_closed`; `archived`), Invalid (fields `verdict`, `reason`).
    """
    if verdict not in ReviewDecision.Verdict.values:
        raise Invalid.field("verdict", f"{verdict[:40]!a} is no verdict.", "Use approve or reject.", code="bad_verdict")
    is_rejection = verdict == ReviewDecision.Verdict.REJECT
    reason = _checked_reason(reason, is_required=is_rejection)
    locked = _lock(review, acting_user)
    review, actor = locked.review, locked.actor
    if actor is None:
        raise Denied(NOBODY_DECIDES)
    policy.require(actor, HarnessAction.REVIEW, locked.harness)
    if actor.pk in review_authors(review):
        raise Denied(OWN_CHANGE, code="own_change")
    _refuse_archived(locked.harness)
    _refuse_stale(review, number)
    last = review.decisions.filter(version_id=review.version_id, reviewer_id=actor.pk).order_by("-id").first()
    if last is not None and last.verdict == verdict:
        return review
    step = ReviewStep.REJECT if is_rejection else ReviewStep.APPROVE
    state = _next_state(review, step)
    before = _standing(review)
    ReviewDecision.objects.create(
        review=review,
        version_id=review.version_id,
        reviewer_id=actor.pk,
        reviewer_name=actor_name(actor),
        verdict=verdict,
        reason=reason,
    )
    approvals = review_approvals(review)
    if not is_rejection:
        review.required_approvals = approvals_needed(review.version, review.base_version)
        state = state_after_approval(len(approvals), review.required_approvals)
    _set_state(review, state)
    _audit(
        review,
        "review.rejected" if is_rejection else "review.approved",
        actor,
        reason=reason,
        before=before,
        after={**_standing(review), "approvals": len(approvals)},
    )
    return review


@transaction.atomic
def review_withdraw(*, review: Review, reason: str = "", acting_user: AbstractUser | None) -> Review:
    """Take a review back: its version can be put up again. For who requested it, and for who manages the harness.

    A review that is withdrawn already stays as it is. Raises Denied, Conflict (`review_closed`), Invalid (field `reason`).
    """
    reason = _checked_reason(reason)
    locked = _lock(review, acting_user)
    review, actor = locked.review, locked.actor
    is_requester = actor is not None and review.requested_by_id == actor.pk
    policy.require(actor, HarnessAction.VIEW if is_requester else HarnessAction.MANAGE, locked.harness)
    if review.state == Review.State.WITHDRAWN:
        return review
    before = _standing(review)
    _set_state(review, _next_state(review, ReviewStep.WITHDRAW))
    _audit(review, "review.withdrawn", actor, reason=reason, before=before, after=_standing(review))
    return review


@transaction.atomic
def review_renew(
    *, review: Review, version: HarnessVersion, message: str = "", acting_user: AbstractUser | None
) -> Review:
    """Move a review on to a newer version: it is in review again, and decisions on the earlier one no longer count.

    `message`, where given, takes the place of the earlier one. Asking for the version that is under review already changes nothing.
    Raises Denied, Conflict (`archived`, `review_closed`, `review_active`, `released`), Invalid (fields `number`, `message`).
    """
    message = checked_text("message", message, max_chars=MAX_MESSAGE_CHARS)
    locked = _lock(review, acting_user)
    review = locked.review
    policy.require(locked.actor, HarnessAction.EDIT, locked.harness)
    _refuse_archived(locked.harness)
    if version.harness_id != review.harness_id:
        text = f"That version belongs to another harness than {locked.harness.slug}."
        raise Invalid.field("number", text, "Choose a version of this one.", code="other_harness")
    if version.pk == review.version_id and review.state in ACTIVE_STATES:
        return review
    if version.number <= review.version.number:
        text = f"The review is about version {review.version.number}: it moves on to newer versions only."
        raise Invalid.field("number", text, "Request a review of that version of its own.", code="not_newer")
    _next_state(review, ReviewStep.RENEW)
    if is_released(review.version):
        text = f"Version {review.version.number} was released: its review is done. Request one of version {version.number}."
        raise Conflict(text, code="released")
    _refuse_second_review(version)
    return _renew(review, version, message, locked.actor)


def review_follow_commit(*, version: HarnessVersion, acting_user: AbstractUser | None) -> Review | None:
    """Move the committer's own active review, if they have one, on to the version they just committed.

    Call it in the transaction of the commit, with the harness locked. With several, the one of the newest version moves. The
    review of a version that was released stays with it: it has done its work.
    """
    if acting_user is None:
        return None
    mine = Review.objects.select_for_update(of=("self",)).filter(
        harness_id=version.harness_id, requested_by_id=acting_user.pk, state__in=ACTIVE_STATES
    )
    candidates = mine.select_related("harness", "version__harness").order_by("-version__number")
    review = next((item for item in candidates if not is_released(item.version)), None)
    if review is None or review.version.number >= version.number:
        return None
    return _renew(review, version, "", acting_user)


def _renew(review: Review, version: HarnessVersion, message: str, actor: AbstractUser | None) -> Review:
    before = _standing(review)
    base = review_base(version)
    review.version, review.base_version = version, base
    review.required_approvals = approvals_needed(version, base)
    review.message = message or review.message
    _set_state(review, ReviewState.IN_REVIEW)
    review.reviewers.remove(*change_authors(version, base))
    _audit(review, "review.renewed", actor, reason=message, before=before, after=_standing(review))
    return review


# --- what must hold --------------------------------------------------------------------------------------------------


def _lock(review: Review, acting_user: AbstractUser | None) -> _Locked:
    """Raises NotFound where the harness is not theirs to see."""
    harness = Harness.objects.select_for_update(no_key=True).get(pk=review.harness_id)
    rows = Review.objects.select_for_update(of=("self",)).select_related("version", "base_version")
    fresh = rows.get(pk=review.pk)
    fresh.harness = fresh.version.harness = harness
    actor = None
    if acting_user is not None:
        actor = get_user_model()._default_manager.get(pk=acting_user.pk)
        policy.require(actor, HarnessAction.VIEW, harness)
    return _Locked(harness, fresh, actor)


def _refuse_archived(harness: Harness) -> None:
    if harness.is_archived:
        detail = f'The harness "{harness.slug}" is archived. Take it back into use before you review its versions.'
        raise Conflict(detail, code="archived")


def _refuse_second_review(version: HarnessVersion) -> None:
    other = Review.objects.filter(version_id=version.pk, state__in=ACTIVE_STATES).first()
    if other is not None:
        detail = (
            f"Version {version.number} has a review already, number {other.pk}, {other.get_state_display().lower()}. "
            "Take part in that one, or withdraw it first."
        )
        raise Conflict(detail, code="review_active")


def _refuse_stale(review: Review, number: int) -> None:
    if number != review.version.number:
        detail = (
            f"You looked at version {number}, but the review has moved on to version {review.version.number}. "
            "Look at what changed, then decide again."
        )
        raise Conflict(detail, code="stale_review")


def _next_state(review: Review, step: ReviewStep) -> ReviewState:
    """Where a step leads by the transition table. Raises Conflict where it cannot be taken."""
    state = next_review_state(ReviewState(review.state), step)
    if state is None:
        detail = f"The review is {review.get_state_display().lower()}: you cannot {step.value} it any more. Request another review."
        raise Conflict(detail, code="review_closed")
    return state


def _checked_reason(reason: str, *, is_required: bool = False) -> str:
    text = checked_text("reason", reason, max_chars=MAX_REASON_CHARS)
    if is_required and not text:
        raise Invalid.field("reason", NEEDS_REASON, "Write what must change.", code="required")
    return text


def _checked_reviewers(
    reviewers: Sequence[AbstractUser | str],
    version: HarnessVersion,
    base: HarnessVersion | None,
    acting_user: AbstractUser | None,
) -> list[AbstractUser]:
    """Those people, each once. Raises Invalid, person by person, for those who may not review or wrote a part of the change."""
    names = list(dict.fromkeys(item if isinstance(item, str) else item.username for item in reviewers))
    if len(names) > MAX_REVIEWERS:
        message = f"{len(names)} people are asked; {MAX_REVIEWERS} at most."
        raise Invalid.field("reviewers", message, "Ask fewer.", code="too_many")
    known = [name for name in names if _is_storable(name)]
    able = {user.username: user for user in reviewers_of(version.harness).filter(username__in=known)}
    authors = change_authors(version, base) | ({acting_user.pk} if acting_user else set())
    problems = [text for name in names if (text := _reviewer_problem(name, able, authors))]
    if problems:
        errors = [FieldError("reviewers", text, "Choose somebody else.", "bad_reviewer") for text in problems]
        raise Invalid(f"reviewers: {' '.join(problems)}", field_errors=errors)
    return [able[name] for name in names]


def _is_storable(name: str) -> bool:
    """Whether the database can be asked for a name at all."""
    try:
        return clean_text(name) == name
    except ValueError:
        return False


def _reviewer_problem(name: str, able: dict[str, AbstractUser], authors: Collection[int]) -> str:
    if name not in able:
        return f"{name[:80]!a} is nobody who may review this harness."
    return f"{name!a} wrote a part of this change or asks for its review." if able[name].pk in authors else ""


def _set_state(review: Review, state: ReviewState) -> None:
    review.state = state
    review.closed_at = None if state in ACTIVE_STATES else timezone.now()
    review.save()


def _standing(review: Review) -> JsonObject:
    """Where a review stands, for the audit."""
    return {
        "state": str(review.state),
        "number": review.version.number,
        "base_number": review.base_version.number if review.base_version else None,
        "required_approvals": review.required_approvals,
    }


def _audited(review: Review) -> AuditObject:
    return AuditObject(
        "review", review.pk, f"{review.harness.slug} v{review.version.number}", ("harness", review.harness_id)
    )


_audit = AuditWriter(_audited)
