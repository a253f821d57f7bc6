"""Labels: names that point to one version each, every move they made, and when they may not or shall move."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from harnesses.models.versions import Harness, HarnessVersion

APPEND_ONLY = "Label moves are history: they are never changed or deleted."


class HarnessLabel(models.Model):
    """A name for the one version it points to. `revision` counts its moves from 1.

    A protected label moves only to a version that was approved, or that it held before. The database sees to it that label and
    version belong to the same harness (migration 0004), and that `production` is always protected.
    """

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="labels")
    name = models.CharField(max_length=40)
    version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="labels")
    is_protected = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["harness", "-is_protected", "name"]
        constraints = [
            models.UniqueConstraint(fields=["harness", "name"], name="label_name_unique"),
            models.CheckConstraint(
                condition=~Q(name="production") | Q(is_protected=True), name="label_production_protected"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.harness}@{self.name}"


class LabelMoveQuerySet(models.QuerySet["LabelMove"]):
    """Reads and inserts only. The database refuses the rest too, by a trigger (migration 0004)."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError(APPEND_ONLY)

    def delete(self) -> NoReturn:
        raise TypeError(APPEND_ONLY)


class LabelMove(models.Model):
    """One move of a label: from which version to which (None: made, or taken away), by whom, when and why.

    `is_protected` tells whether the label was protected then: only what it held under protection may be rolled back to without
    another approval, and only that was ever live.
    """

    class Cause(models.TextChoices):
        MOVE = "move", "Moved"
        UNDO = "undo", "Undone"
        SCHEDULE = "schedule", "Moved on schedule"
        REMOVE = "remove", "Taken away"

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="label_moves")
    label_name = models.CharField(max_length=40)
    from_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    to_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="label_moves")
    cause = models.CharField(max_length=10, choices=Cause.choices, default=Cause.MOVE)
    is_protected = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    moved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    moved_by_name = models.CharField(max_length=320)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabelMoveQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["harness", "label_name", "-id"], name="label_move_history")]

    def __str__(self) -> str:
        return f"{self.label_name}: {self.from_version_id} → {self.to_version_id}"


class FreezeWindow(models.Model):
    """A time in which protected labels do not move, of one harness or (None) of all. Rolling back stays possible."""

    harness = models.ForeignKey(Harness, null=True, blank=True, on_delete=models.PROTECT, related_name="freeze_windows")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_name = models.CharField(max_length=320)
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["starts_at"]
        constraints = [models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="freeze_ends_after_start")]

    def __str__(self) -> str:
        return f"freeze of {self.harness or 'everything'} from {self.starts_at:%Y-%m-%d %H:%M}"


class ScheduledRelease(models.Model):
    """A move of a label that happens by itself at `due_at`, if everything that a move needs holds then.

    `expected_version` is what the label pointed to when it was planned (None: the label did not exist): if that changed
    meanwhile, the release fails rather than undo somebody's work.
    """

    class State(models.TextChoices):
        SCHEDULED = "scheduled", "Scheduled"
        SUCCEEDED = "succeeded", "Released"
        FAILED = "failed", "Not released"
        CANCELLED = "cancelled", "Cancelled"

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="scheduled_releases")
    label_name = models.CharField(max_length=40)
    version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="+")
    expected_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    due_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.SCHEDULED)
    reason = models.TextField(blank=True)
    failure = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_name = models.CharField(max_length=320)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["due_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["harness", "label_name"], condition=Q(state="scheduled"), name="release_one_scheduled_a_label"
            )
        ]
        indexes = [models.Index(fields=["state", "due_at"], name="release_due")]

    def __str__(self) -> str:
        return f"{self.label_name} → {self.version} at {self.due_at:%Y-%m-%d %H:%M}"
