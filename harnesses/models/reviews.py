"""Reviews of harness versions: who asked, who decided what, and what was said about which component."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from harnesses.models.versions import Harness, HarnessVersion

ACTIVE_STATES = ("in_review", "approved")


class Review(models.Model):
    """A question to other people: may this version be released?

    `version` is what is reviewed now; when its author commits again, the review moves on to the newer version and earlier
    decisions no longer count. `base_version` is what it is compared with (what `production` held, or else the parent; None: an
    empty harness). A version without an active review is idle.
    """

    class State(models.TextChoices):
        IN_REVIEW = "in_review", "In review"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        WITHDRAWN = "withdrawn", "Withdrawn"

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="reviews")
    version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="reviews")
    base_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.IN_REVIEW)
    message = models.TextField(blank=True)
    required_approvals = models.PositiveSmallIntegerField()
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_by_name = models.CharField(max_length=320)
    reviewers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="asked_reviews", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["version"], condition=Q(state__in=ACTIVE_STATES), name="review_active_unique"
            )
        ]
        indexes = [models.Index(fields=["state", "-id"], name="review_state")]

    def __str__(self) -> str:
        return f"review {self.pk} of {self.version}"


class ReviewDecision(models.Model):
    """One person's verdict on one version under review. Never changed: a later one is another row, and their last one counts."""

    class Verdict(models.TextChoices):
        APPROVE = "approve", "Approve"
        REJECT = "reject", "Reject"

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="decisions")
    version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="decisions")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    reviewer_name = models.CharField(max_length=320)
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["review", "version", "reviewer", "verdict"], name="review_one_decision_each"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.reviewer_name}"


class ReviewThread(models.Model):
    """A thread about one place of the version: a component, a field of it, or a line of that field's text.

    With `component_kind` empty it is about the change as a whole. `line` counts from 1 in the text of `field`; `quote` is that
    line as it was, so that the thread stays readable when the text moves on.
    """

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="threads")
    version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="+")
    component_kind = models.CharField(max_length=10, blank=True)
    component_id = models.CharField(max_length=64, blank=True)
    field = models.CharField(max_length=300, blank=True)
    line = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    resolved_by_name = models.CharField(max_length=320, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"thread {self.pk} of review {self.review_id}"


class ReviewComment(models.Model):
    """One contribution to a thread. Not changed once sent."""

    thread = models.ForeignKey(ReviewThread, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=320)
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"comment {self.pk}"
