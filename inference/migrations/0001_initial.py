"""Checkpoints, deployments, sessions and turns."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("harnesses", "0002_version_immutable"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("base", "Base model"), ("adapter", "Adapter"), ("merged", "Merged")],
                        default="base",
                        max_length=16,
                    ),
                ),
                ("path", models.CharField(blank=True, max_length=1000)),
                ("served_name", models.CharField(max_length=200)),
                ("tokenizer_hash", models.CharField(blank=True, max_length=64)),
                ("content_hash", models.CharField(blank=True, max_length=64)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("notes", models.TextField(blank=True)),
                (
                    "base",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="derived",
                        to="inference.checkpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120, unique=True)),
                ("base_url", models.URLField(max_length=500)),
                (
                    "engine_kind",
                    models.CharField(
                        choices=[("vllm", "vLLM"), ("openai", "OpenAI-compatible server"), ("null", "Null engine")],
                        default="vllm",
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("starting", "Starting"),
                            ("healthy", "Healthy"),
                            ("degraded", "Degraded"),
                            ("stopped", "Stopped"),
                            ("failed", "Failed"),
                        ],
                        default="starting",
                        max_length=16,
                    ),
                ),
                ("state_reason", models.TextField(blank=True)),
                ("state_changed_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                ("max_model_len", models.PositiveIntegerField(blank=True, null=True)),
                ("is_default", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "checkpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deployments",
                        to="inference.checkpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("world", models.CharField(max_length=64)),
                ("room_state", models.JSONField(default=dict)),
                ("conversation", models.JSONField(default=dict)),
                ("viewer", models.CharField(default="viewer", max_length=80)),
                ("seed", models.BigIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("turn_count", models.PositiveIntegerField(default=0)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "checkpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="inference.checkpoint"
                    ),
                ),
                (
                    "closed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "deployment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="inference.deployment"
                    ),
                ),
                (
                    "harness_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inference_sessions",
                        to="harnesses.harnessversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("viewer", models.CharField(max_length=80)),
                ("comment", models.TextField()),
                ("reply", models.TextField()),
                ("is_fallback", models.BooleanField()),
                ("stop_reason", models.CharField(max_length=32)),
                ("trace", models.JSONField()),
                ("actions", models.JSONField(default=list)),
                ("calls", models.JSONField(default=list)),
                ("errors", models.JSONField(default=list)),
                ("duration_ms", models.FloatField()),
                ("engine_ms", models.FloatField()),
                ("operations_ms", models.FloatField()),
                ("overhead_ms", models.FloatField()),
                ("time_to_first_token_ms", models.FloatField(blank=True, null=True)),
                ("prompt_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("completion_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("idempotency_key", models.CharField(blank=True, max_length=200, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="turns", to="inference.session"
                    ),
                ),
            ],
            options={
                "ordering": ["session", "number"],
            },
        ),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "base"), ("base__isnull", True)),
                    models.Q(models.Q(("kind", "base"), _negated=True), ("base__isnull", False)),
                    _connector="OR",
                ),
                name="checkpoint_base_iff_derived",
            ),
        ),
        migrations.AddConstraint(
            model_name="deployment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)), fields=("is_default",), name="deployment_one_default"
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["-created_at"], name="session_newest"),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(fields=("session", "number"), name="turn_number_unique_in_session"),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(
                fields=("session", "idempotency_key"), name="turn_idempotency_key_unique"
            ),
        ),
    ]
