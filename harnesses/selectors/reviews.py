"""All reads of reviews: lists, one review, how far it is, what a person may do with it, and where versions stand."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from harnesses import policy
from harnesses.core.approvals import Opinion, approving_people, required_approvals
from harnesses.core.lifecycle import Lifecycle, ReviewState, ReviewStep, next_review_state, version_lifecycle
from harnesses.core.membership import HarnessAction
from harnesses.core.risk import RiskReport, assess
from harnesses.core.spec import HarnessSpec
from harnesses.models import (
    DraftRevision,
    Harness,
    HarnessLabel,
    HarnessVersion,
    LabelMove,
    Review,
    ReviewComment,
    ReviewDecision,
    ReviewThread,
)
from harnesses.models.reviews import ACTIVE_STATES
from harnesses.selectors.authorship import change_authors
from harnesses.selectors.versions import catalogue_for, version_spec
from ledger.errors import NotFound

OWN_CHANGE = "You wrote a part of this change, or asked for its review. Somebody else must decide."
COMMENT_ACTIONS = frozenset({HarnessAction.EDIT, HarnessAction.REVIEW})


@dataclass(frozen=True)
class ReviewProgress:
    """How far a review is.

    `approved_by` are the people whose approval counts now; `decisions` those about the version under review, `earlier` those about
    versions it has moved on from, which no longer count; `waiting_for` are the people who were asked and did not decide.
    """

    approved_by: tuple[str, ...]
    required: int
    decisions: tuple[ReviewDecision, ...]
    earlier: tuple[ReviewDecision, ...]
    waiting_for: tuple[AbstractUser, ...]

    @property
    def approvals(self) -> int:
        return len(self.approved_by)

    @property
    def missing(self) -> int:
        return max(0, self.required - self.approvals)


@dataclass(frozen=True)
class ReviewOptions:
    """What a person may do with a review now. `why_not_decide` says why they cannot approve or reject; empty where they can.

    `newer` is the version that the review can move on to, None where there is none or it is not theirs to move.
    """

    can_approve: bool
    can_reject: bool
    can_withdraw: bool
    can_comment: bool
    newer: HarnessVersion | None
    why_not_decide: str


# --- lists -----------------------------------------------------------------------------------------------------------


def review_list(
    user: AbstractUser | None,
    *,
    states: Collection[str] = (),
    harness: Harness | None = None,
    asked: AbstractUser | None = None,
    author: AbstractUser | None = None,
    waiting_for: AbstractUser | None = None,
    is_pending: bool = False,
    search: str = "",
) -> QuerySet[Review]:
    """The reviews that `user` may see, newest first, with their counts (`_annotated`).

    `asked` is who was asked by name, `author` who requested. `waiting_for` is who can and should decide next: they may review the
    harness, wrote no part of the change, have not decided on this version, and were asked, or nobody was. `is_pending` leaves
    those whose work is not done: in review, or approved and not released yet.
    """
    reviews = _annotated(Review.objects.filter(harness__in=policy.visible_harnesses(user, Harness.objects.all())))
    if states:
        reviews = reviews.filter(state__in=states)
    if harness is not None:
        reviews = reviews.filter(harness_id=harness.pk)
    if asked is not None:
        reviews = reviews.filter(Exists(_asked(asked)))
    if author is not None:
        reviews = reviews.filter(requested_by_id=author.pk)
    if waiting_for is not None:
        reviews = reviews.filter(_waits_for(waiting_for))
    if is_pending:
        reviews = reviews.filter(_pending())
    if search:
        reviews = reviews.filter(
            Q(harness__slug__icontains=search)
            | Q(harness__title__icontains=search)
            | Q(message__icontains=search)
            | Q(requested_by_name__icontains=search)
        )
    return reviews.order_by("-id")


def waiting_count(user: AbstractUser) -> int:
    """How many reviews wait for a person."""
    reviews = Review.objects.filter(harness__in=policy.visible_harnesses(user, Harness.objects.all()))
    return reviews.filter(_waits_for(user)).count()


def open_review_counts(harnesses: Iterable[Harness]) -> dict[int, int]:
    """How many reviews have work to do (`is_pending`), by the harness's key; without those that have none. Takes one query."""
    reviews = Review.objects.filter(_pending(), harness__in=[harness.pk for harness in harnesses])
    return dict(reviews.order_by().values_list("harness_id").annotate(Count("pk")))


def _annotated(reviews: QuerySet[Review]) -> QuerySet[Review]:
    """With harness and versions, and `approval_count`, `open_threads`, `comment_count`."""
    last = (
        ReviewDecision.objects.filter(review=OuterRef("review"), version=OuterRef("version"))
        .filter(Q(reviewer=OuterRef("reviewer")) | Q(reviewer__isnull=True, reviewer_name=OuterRef("reviewer_name")))
        .order_by("-id")
    )
    approvals = ReviewDecision.objects.filter(
        review=OuterRef("pk"),
        version=OuterRef("version"),
        verdict=ReviewDecision.Verdict.APPROVE,
        pk=Subquery(last.values("pk")[:1]),
    )
    threads = ReviewThread.objects.filter(review=OuterRef("pk"), resolved_at__isnull=True)
    comments = ReviewComment.objects.filter(thread__review=OuterRef("pk"))
    return (
        reviews.select_related("harness", "version", "base_version", "requested_by")
        .defer("version__document", "base_version__document")
        .annotate(
            approval_count=_count(approvals, "review"),
            open_threads=_count(threads, "review"),
            comment_count=_count(comments, "thread__review"),
        )
    )


def _count(rows: QuerySet[ReviewDecision] | QuerySet[ReviewThread] | QuerySet[ReviewComment], by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(counted=Count("pk")).values("counted")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _pending() -> Q:
    """In review, or approved for a version that no protected label holds or held."""
    held = HarnessLabel.objects.filter(version=OuterRef("version"), is_protected=True)
    moved = LabelMove.objects.filter(
        Q(to_version=OuterRef("version")) | Q(from_version=OuterRef("version")), is_protected=True
    )
    return Q(~Q(Exists(held)), ~Q(Exists(moved)), state__in=ACTIVE_STATES)


def _asked(user: AbstractUser) -> QuerySet[Review]:
    return Review.objects.filter(pk=OuterRef("pk"), reviewers=user.pk)


def _waits_for(user: AbstractUser) -> Q:
    asked_anybody = Review.reviewers.through.objects.filter(review_id=OuterRef("pk"))
    decided = ReviewDecision.objects.filter(review=OuterRef("pk"), version=OuterRef("version"), reviewer=user.pk)
    after = Coalesce(OuterRef("base_version__number"), 0)
    in_change = Q(number__gt=after, number__lte=OuterRef("version__number")) | Q(pk=OuterRef("version"))
    versions = HarnessVersion.objects.filter(in_change, harness=OuterRef("harness"))
    drafts = DraftRevision.objects.filter(
        Q(
            draft__committed_version__number__gt=after,
            draft__committed_version__number__lte=OuterRef("version__number"),
        )
        | Q(draft__committed_version=OuterRef("version")),
        draft__harness=OuterRef("harness"),
    )
    return Q(
        Q(requested_by__isnull=True) | ~Q(requested_by=user.pk),
        Q(Exists(_asked(user))) | ~Q(Exists(asked_anybody)),
        ~Q(Exists(decided)),
        ~Q(Exists(versions.filter(author=user.pk))),
        ~Q(Exists(drafts.filter(author=user.pk))),
        state=ReviewState.IN_REVIEW,
        harness__archived_at__isnull=True,
        harness__in=policy.harnesses_allowing(user, HarnessAction.REVIEW, Harness.objects.all()),
    )


# --- one review ------------------------------------------------------------------------------------------------------


def review_get(user: AbstractUser | None, review_id: int | str) -> Review:
    """A review with its harness and versions, if the person may see the harness. Raises NotFound."""
    text = str(review_id)
    review = None
    if text.isascii() and text.isdigit() and len(text) <= 18:
        review = review_list(user).filter(pk=int(text)).first()
    if review is None:
        raise NotFound(f"There is no review {text[:40]!a}.")
    return review


def active_review(version: HarnessVersion) -> Review | None:
    """The review of a version that is in review or approved; at most one is."""
    return Review.objects.filter(version_id=version.pk, state__in=ACTIVE_STATES).select_related("harness").first()


def review_risk(version: HarnessVersion, base_version: HarnessVersion | None) -> RiskReport:
    """What changes from the base (None: the empty harness) to a version, and how risky that is."""
    base = version_spec(base_version) if base_version is not None else HarnessSpec()
    return assess(base, version_spec(version), catalogue_for(version.harness.world))


def review_authors(review: Review) -> frozenset[int]:
    """The ids of those who may not decide: who requested the review, and who wrote a part of the change."""
    asked = {review.requested_by_id} if review.requested_by_id is not None else set()
    return change_authors(review.version, review.base_version) | asked


def approvals_needed(version: HarnessVersion, base_version: HarnessVersion | None) -> int:
    """How many people must approve a version against a base: what the risk asks for, and never fewer than the harness does."""
    return required_approvals(review_risk(version, base_version).required_review, version.harness.min_approvals)


def review_approvals(review: Review) -> tuple[str, ...]:
    """The names of the people whose approval counts: for the version under review, by nobody who wrote a part of it."""
    rows = review.decisions.filter(version_id=review.version_id).order_by("id")
    opinions = [Opinion(*row) for row in rows.values_list("reviewer_id", "reviewer_name", "verdict")]
    return approving_people(opinions, review_authors(review))


def review_progress(review: Review) -> ReviewProgress:
    """How far a review is. What is required is what was asked for when it was requested, renewed or last decided."""
    decisions = list(review.decisions.select_related("version").defer("version__document").order_by("id"))
    now = tuple(row for row in decisions if row.version_id == review.version_id)
    decided = {row.reviewer_id for row in now}
    opinions = [Opinion(row.reviewer_id, row.reviewer_name, row.verdict) for row in now]
    return ReviewProgress(
        approved_by=approving_people(opinions, review_authors(review)),
        required=review.required_approvals,
        decisions=now,
        earlier=tuple(row for row in decisions if row.version_id != review.version_id),
        waiting_for=tuple(user for user in review.reviewers.order_by("username") if user.pk not in decided),
    )


def review_threads(review: Review) -> list[ReviewThread]:
    """The threads of a review with their comments, oldest first. Takes two queries."""
    comments = Prefetch("comments", ReviewComment.objects.order_by("id"))
    threads = review.threads.select_related("version").defer("version__document").prefetch_related(comments)
    return list(threads.order_by("id"))


def thread_get(review: Review, thread_id: int | str) -> ReviewThread:
    """One thread of a review. Raises NotFound."""
    text = str(thread_id)
    thread = None
    if text.isascii() and text.isdigit() and len(text) <= 18:
        thread = review.threads.filter(pk=int(text)).select_related("version", "review__harness").first()
    if thread is None:
        raise NotFound(f"There is no thread {text[:40]!a} in this review.")
    return thread


def review_options(review: Review, user: AbstractUser) -> ReviewOptions:
    """What a person may do with a review now, by the transition table, the policy and the rule about authors. Buttons ask this."""
    allowed = policy.actions(user, review.harness)
    state, is_archived = ReviewState(review.state), review.harness.is_archived

    def may(step: ReviewStep) -> bool:
        return not is_archived and next_review_state(state, step) is not None

    why_not = _why_not_decide(review, user, allowed, can_step=may(ReviewStep.REJECT))
    decided = ""
    if not why_not:
        decided = _last_verdict(review, user)
    is_requester = review.requested_by_id is not None and review.requested_by_id == user.pk
    is_theirs = is_requester or HarnessAction.MANAGE in allowed
    return ReviewOptions(
        can_approve=not why_not and not decided and may(ReviewStep.APPROVE),
        can_reject=not why_not and decided != ReviewDecision.Verdict.REJECT,
        can_withdraw=is_theirs and next_review_state(state, ReviewStep.WITHDRAW) is not None,
        can_comment=not is_archived and bool(allowed & COMMENT_ACTIONS),
        newer=_newer(review) if may(ReviewStep.RENEW) and HarnessAction.EDIT in allowed else None,
        why_not_decide=why_not,
    )


def _why_not_decide(review: Review, user: AbstractUser, allowed: frozenset[HarnessAction], *, can_step: bool) -> str:
    if review.harness.is_archived:
        return "The harness is archived."
    if not can_step:
        return f"The review is {review.get_state_display().lower()}."
    if HarnessAction.REVIEW not in allowed:
        return "Your role does not decide on reviews."
    return OWN_CHANGE if user.pk in review_authors(review) else ""


def _last_verdict(review: Review, user: AbstractUser) -> str:
    last = review.decisions.filter(version_id=review.version_id, reviewer_id=user.pk).order_by("-id").first()
    return last.verdict if last is not None else ""


def _newer(review: Review) -> HarnessVersion | None:
    """The newest version after the one under review, unless it is under review itself."""
    versions = HarnessVersion.objects.filter(harness_id=review.harness_id, number__gt=review.version.number)
    newest = versions.order_by("-number").defer("document").first()
    if newest is None or Review.objects.filter(version=newest, state__in=ACTIVE_STATES).exists():
        return None
    if is_released(review.version):
        return None
    return newest


# --- where versions stand --------------------------------------------------------------------------------------------


def version_reviews(harness: Harness, versions: Iterable[HarnessVersion]) -> dict[int, Review]:
    """The review that counts for each version, by the version's key: the active one, or else the last. Takes one query."""
    rows = Review.objects.filter(harness_id=harness.pk, version__in=[version.pk for version in versions])
    found: dict[int, Review] = {}
    for review in rows.order_by("id"):
        earlier = found.get(review.version_id)
        if earlier is None or review.state in ACTIVE_STATES or earlier.state not in ACTIVE_STATES:
            found[review.version_id] = review
    return found


def version_lifecycles(harness: Harness, versions: Iterable[HarnessVersion]) -> dict[int, Lifecycle]:
    """What each version is, by its key: live, retired or a candidate. Takes two queries."""
    ids = [version.pk for version in versions]
    labels = HarnessLabel.objects.filter(harness_id=harness.pk, is_protected=True, version__in=ids)
    held = set(labels.values_list(F("version_id"), flat=True))
    # What a label held when it came under protection was never moved to under protection, only away from.
    moves = LabelMove.objects.filter(
        Q(to_version__in=ids) | Q(from_version__in=ids), harness_id=harness.pk, is_protected=True
    )
    was_held = {key for pair in moves.values_list("to_version_id", "from_version_id") for key in pair}
    return {key: version_lifecycle(is_held=key in held, was_held=key in was_held) for key in ids}


def is_released(version: HarnessVersion) -> bool:
    """Whether a protected label points to the version, or once did: then its review has done its work."""
    return version_lifecycles(version.harness, [version])[version.pk] is not Lifecycle.CANDIDATE
