"""Drafts: harnesses that are being edited, saved with every change, and every save kept for a while."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from harnesses.models.versions import Harness, HarnessVersion


class HarnessDraft(models.Model):
    """A harness in the making, shared by everybody who may edit the harness.

    `document` is the spec as JSON text in the author's key order; it has the right shape, but may hold findings of any severity.
    `revision` counts its saves from 1: a save names the revision it started from, and a stale one is refused. `base_version` is
    the version the draft started from or was last merged with (None: an empty harness); `merged_from` is the version of another
    harness whose changes it took over: who wrote these wrote a part of the draft.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        COMMITTED = "committed", "Committed"
        DISCARDED = "discarded", "Discarded"

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="drafts")
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    base_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    committed_version = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    merged_from = models.ForeignKey(HarnessVersion, null=True, on_delete=models.PROTECT, related_name="+")
    document = models.TextField()
    spec_hash = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_name = models.CharField(max_length=320)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    updated_by_name = models.CharField(max_length=320)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="committed", committed_version__isnull=False)
                | (~models.Q(state="committed") & models.Q(committed_version__isnull=True)),
                name="draft_committed_has_version",
            ),
        ]
        indexes = [models.Index(fields=["harness", "state", "-updated_at"], name="draft_open")]

    def __str__(self) -> str:
        return f"{self.name} ({self.harness})"


class DraftRevision(models.Model):
    """One save of a draft, kept so that a stale save can be merged and a mishap taken back. Old ones are thinned out."""

    draft = models.ForeignKey(HarnessDraft, on_delete=models.CASCADE, related_name="revisions")
    revision = models.PositiveIntegerField()
    document = models.TextField()
    spec_hash = models.CharField(max_length=64)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=320)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["draft", "-revision"]
        constraints = [models.UniqueConstraint(fields=["draft", "revision"], name="draft_revision_unique")]

    def __str__(self) -> str:
        return f"{self.draft_id} r{self.revision}"
