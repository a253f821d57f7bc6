"""What the REST API takes and gives for reviews. Rules live in services; here is only shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import AbstractUser
from rest_framework import serializers

from harnesses.core.kinds import KINDS
from harnesses.models import Review, ReviewComment, ReviewDecision, ReviewThread
from harnesses.selectors import (
    MAX_NUMBER,
    SuggestedReviewer,
    review_options,
    review_progress,
    review_risk,
)
from ledger.api.fields import StrictSerializer, WholeNumberField
from ledger.core.strict_json import JsonObject


class ReviewSerializer(serializers.ModelSerializer[Review]):
    """A review. `number` is the version under review, `base_number` what it is compared with (null: an empty harness).

    `approvals` counts those that hold for this version now.
    """

    harness = serializers.CharField(source="harness.slug", read_only=True)
    number = serializers.IntegerField(source="version.number", read_only=True)
    base_number = serializers.IntegerField(source="base_version.number", read_only=True, default=None, allow_null=True)
    approvals = serializers.IntegerField(source="approval_count", read_only=True)
    open_threads = serializers.IntegerField(read_only=True)
    comments = serializers.IntegerField(source="comment_count", read_only=True)
    requested_by = serializers.CharField(source="requested_by_name", read_only=True)
    reviewers = serializers.SlugRelatedField(slug_field="username", many=True, read_only=True)  # type: ignore[var-annotated]

    class Meta:
        model = Review
        fields = (
            "id",
            "harness",
            "number",
            "base_number",
            "state",
            "message",
            "required_approvals",
            "approvals",
            "requested_by",
            "reviewers",
            "open_threads",
            "comments",
            "created_at",
            "updated_at",
            "closed_at",
        )


class DecisionSerializer(serializers.ModelSerializer[ReviewDecision]):
    """One person's verdict on one version. Those on versions that the review moved on from no longer count."""

    number = serializers.IntegerField(source="version.number", read_only=True)
    reviewer = serializers.CharField(source="reviewer_name", read_only=True)

    class Meta:
        model = ReviewDecision
        fields = ("reviewer", "verdict", "reason", "number", "created_at")


class OptionsSerializer(serializers.Serializer[Any]):
    """What the caller may do with the review now. `newer_number` is the version that it can move on to."""

    can_approve = serializers.BooleanField()
    can_reject = serializers.BooleanField()
    can_withdraw = serializers.BooleanField()
    can_comment = serializers.BooleanField()
    newer_number = serializers.IntegerField(allow_null=True)
    why_not_decide = serializers.CharField(allow_blank=True)


class ReviewDetailSerializer(ReviewSerializer):
    """A review with its decisions, what changes and how risky that is, and what the caller may do."""

    approved_by = serializers.ListField(child=serializers.CharField())
    decisions = DecisionSerializer(many=True)
    earlier_decisions = DecisionSerializer(many=True)
    risk = serializers.DictField(
        help_text="Each change from the base by HSA family, and whether the task is preserved."
    )
    you = OptionsSerializer()

    class Meta(ReviewSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *ReviewSerializer.Meta.fields,
            "approved_by",
            "decisions",
            "earlier_decisions",
            "risk",
            "you",
        )


class ReviewRequestSerializer(StrictSerializer):
    """What requests a review."""

    number = WholeNumberField(min_value=1, max_value=MAX_NUMBER, help_text="The version to review.")
    message = serializers.CharField(required=False, allow_blank=True, default="", help_text="What to look at.")
    reviewers = serializers.ListField(
        child=serializers.CharField(max_length=150), required=False, default=list, help_text="User names."
    )


class DecisionRequestSerializer(StrictSerializer):
    """A decision. `number` is the version that was looked at: after the review moved on, the decision is refused (409)."""

    verdict = serializers.ChoiceField(choices=ReviewDecision.Verdict.choices)
    reason = serializers.CharField(required=False, allow_blank=True, default="", help_text="A rejection needs one.")
    number = WholeNumberField(min_value=1, max_value=MAX_NUMBER)


class WithdrawSerializer(StrictSerializer):
    """Why a review is taken back."""

    reason = serializers.CharField(required=False, allow_blank=True, default="")


class RenewSerializer(StrictSerializer):
    """The newer version that a review moves on to."""

    number = WholeNumberField(min_value=1, max_value=MAX_NUMBER)
    message = serializers.CharField(required=False, allow_blank=True, default="")


class CommentSerializer(serializers.ModelSerializer[ReviewComment]):
    """One contribution to a thread."""

    author = serializers.CharField(source="author_name", read_only=True)

    class Meta:
        model = ReviewComment
        fields = ("id", "author", "body", "created_at")


class CommentRequestSerializer(StrictSerializer):
    """What to say."""

    body = serializers.CharField()


class ThreadSerializer(serializers.ModelSerializer[ReviewThread]):
    """A thread about the change as a whole, a component, a field of it, or a line of that field's text.

    `number` is the version it was opened on, `quote` the line as it was there.
    """

    number = serializers.IntegerField(source="version.number", read_only=True)
    is_resolved = serializers.SerializerMethodField()
    resolved_by = serializers.CharField(source="resolved_by_name", read_only=True)
    comments = CommentSerializer(many=True, read_only=True)

    class Meta:
        model = ReviewThread
        fields = (
            "id",
            "number",
            "component_kind",
            "component_id",
            "field",
            "line",
            "quote",
            "is_resolved",
            "resolved_by",
            "resolved_at",
            "created_at",
            "comments",
        )

    def get_is_resolved(self, thread: ReviewThread) -> bool:
        return thread.resolved_at is not None


class ThreadRequestSerializer(CommentRequestSerializer):
    """A new thread and its place; without a component it is about the change as a whole. Lines count from 1."""

    component_kind = serializers.ChoiceField(choices=KINDS, required=False, allow_blank=True, default="")
    component_id = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)
    field = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)
    line = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=MAX_NUMBER)


class ReviewerSerializer(serializers.Serializer[Any]):
    """Somebody who may review. `reason` says why they are suggested first."""

    username = serializers.CharField()
    name = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)


def review_detail(review: Review, user: AbstractUser) -> JsonObject:
    """A review with everything that one looks at to decide, as plain JSON."""
    progress, options = review_progress(review), review_options(review, user)
    you = {
        "can_approve": options.can_approve,
        "can_reject": options.can_reject,
        "can_withdraw": options.can_withdraw,
        "can_comment": options.can_comment,
        "newer_number": options.newer.number if options.newer else None,
        "why_not_decide": options.why_not_decide,
    }
    return {
        **ReviewSerializer(review).data,
        "approvals": progress.approvals,
        "approved_by": list(progress.approved_by),
        "decisions": DecisionSerializer(progress.decisions, many=True).data,
        "earlier_decisions": DecisionSerializer(progress.earlier, many=True).data,
        "risk": asdict(review_risk(review.version, review.base_version)),
        "you": you,
    }


def reviewer_documents(suggested: Iterable[SuggestedReviewer]) -> list[JsonObject]:
    """Suggested reviewers as plain JSON."""
    return [
        {"username": item.user.username, "name": item.user.get_full_name(), "reason": item.reason} for item in suggested
    ]
