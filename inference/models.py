"""What is served and what was said: checkpoints, the engines that serve them, viewers' sessions and their turns."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q


class Checkpoint(models.Model):
    """One set of model weights on disk (or behind a URL), as an engine serves it.

    `content_hash` and `tokenizer_hash` are SHA-256 (64 hex digits), empty where the weights are not on this machine.
    `served_name` is what the engine calls it in the `model` field of a request.
    """

    class Kind(models.TextChoices):
        BASE = "base", "Base model"
        ADAPTER = "adapter", "Adapter"
        MERGED = "merged", "Merged"

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.BASE)
    path = models.CharField(max_length=1000, blank=True)
    served_name = models.CharField(max_length=200)
    base = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="derived")
    tokenizer_hash = models.CharField(max_length=64, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)
    size_bytes = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    notes = models.TextField(blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(kind="base") & Q(base__isnull=True)) | (~Q(kind="base") & Q(base__isnull=False)),
                name="checkpoint_base_iff_derived",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Deployment(models.Model):
    """One engine that serves one checkpoint. `state` is what the last probe found; `state_reason` says why in plain words."""

    class State(models.TextChoices):
        STARTING = "starting", "Starting"
        HEALTHY = "healthy", "Healthy"
        DEGRADED = "degraded", "Degraded"
        STOPPED = "stopped", "Stopped"
        FAILED = "failed", "Failed"

    class EngineKind(models.TextChoices):
        VLLM = "vllm", "vLLM"
        OPENAI = "openai", "OpenAI-compatible server"
        NULL = "null", "Null engine"

    name = models.CharField(max_length=120, unique=True)
    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.PROTECT, related_name="deployments")
    base_url = models.URLField(max_length=500)
    engine_kind = models.CharField(max_length=16, choices=EngineKind.choices, default=EngineKind.VLLM)
    state = models.CharField(max_length=16, choices=State.choices, default=State.STARTING)
    state_reason = models.TextField(blank=True)
    state_changed_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(null=True, blank=True)
    max_model_len = models.PositiveIntegerField(null=True, blank=True)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="deployment_one_default")
        ]

    def __str__(self) -> str:
        return self.name


class Session(models.Model):
    """A viewer's talk with one harness version, or one state of a draft, on one checkpoint in one room.

    A session on a draft keeps that state for itself (`draft_document`, saved as `draft_revision`): the draft goes on.
    `room_state` and `conversation` are what the next turn starts from. `lease_token` is held by the turn that is running
    now, until `lease_expires_at` at the latest, so that turns of one session follow one another.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    harness_version = models.ForeignKey(
        "harnesses.HarnessVersion", null=True, on_delete=models.PROTECT, related_name="inference_sessions"
    )
    draft = models.ForeignKey("harnesses.HarnessDraft", null=True, on_delete=models.PROTECT, related_name="+")
    draft_revision = models.PositiveIntegerField(null=True)
    draft_document = models.TextField(blank=True, default="")
    draft_hash = models.CharField(max_length=64, blank=True, default="")
    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="sessions")
    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.PROTECT, related_name="sessions")
    world = models.CharField(max_length=64)
    room_state = models.JSONField(default=dict)
    conversation = models.JSONField(default=dict)
    viewer = models.CharField(max_length=80, default="viewer")
    seed = models.BigIntegerField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    turn_count = models.PositiveIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="session_newest")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(harness_version__isnull=False, draft__isnull=True)
                | models.Q(harness_version__isnull=True, draft__isnull=False, draft_revision__isnull=False),
                name="session_version_or_draft",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def harness(self) -> Any:
        """The harness that answers."""
        holder = self.harness_version or self.draft
        assert holder is not None  # The database sees to it.
        return holder.harness

    @property
    def harness_label(self) -> str:
        """What answers, in words: "demo-shop v3", or "demo-shop draft r12"."""
        if self.harness_version is not None:
            return f"{self.harness.slug} v{self.harness_version.number}"
        return f"{self.harness.slug} draft r{self.draft_revision}"


class Turn(models.Model):
    """One comment and its answer. `trace` is the whole `harnesses.runtime.trace.Trace`; the other columns are for lists.

    `calls` sums up the tool calls: tool, operation, status, duration_ms, error code.

    `engine_ms` and `operations_ms` are the engine's and the platform's share of `duration_ms`, the time in the agent loop.
    `overhead_ms` is all that Tackroom added: the whole service call, database included, less `engine_ms`.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    viewer = models.CharField(max_length=80)
    comment = models.TextField()
    reply = models.TextField()
    is_fallback = models.BooleanField()
    stop_reason = models.CharField(max_length=32)
    trace = models.JSONField()
    actions = models.JSONField(default=list)
    calls = models.JSONField(default=list)
    errors = models.JSONField(default=list)
    duration_ms = models.FloatField()
    engine_ms = models.FloatField()
    operations_ms = models.FloatField()
    overhead_ms = models.FloatField()
    time_to_first_token_ms = models.FloatField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 (NULL keys are not unique)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="turn_number_unique_in_session"),
            models.UniqueConstraint(fields=["session", "idempotency_key"], name="turn_idempotency_key_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} #{self.number}"
