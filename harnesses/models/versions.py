"""Harnesses and their versions, as they are stored.

A `Harness` is a name with a history; what it is at one moment is a `HarnessVersion`, which never changes.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models

IMMUTABLE = "Harness versions are immutable: commit a new version instead."


class Harness(models.Model):
    """A harness with its history. `world` says which platform's operations its tools stand for.

    `version_count` is also the number of the newest version: numbers have no gaps. `access` says who may see it: everybody who
    may see harnesses, or its members alone. `min_approvals` is how many people must approve a version before a protected label
    moves to it, at the least (the risk of the change can ask for more).
    """

    class Access(models.TextChoices):
        OPEN = "open", "Everybody"
        MEMBERS = "members", "Members only"

    slug = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    world = models.CharField(max_length=64)
    access = models.CharField(max_length=8, choices=Access.choices, default=Access.OPEN)
    min_approvals = models.PositiveSmallIntegerField(default=1)
    forked_from = models.ForeignKey("HarnessVersion", null=True, on_delete=models.PROTECT, related_name="forks")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    version_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "harnesses"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(min_approvals__gte=1, min_approvals__lte=5), name="harness_min_approvals_1_to_5"
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class VersionQuerySet(models.QuerySet["HarnessVersion"]):
    """Reads and inserts only. The database refuses the rest too, by a trigger (migration 0002)."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError(IMMUTABLE)

    def delete(self) -> NoReturn:
        raise TypeError(IMMUTABLE)

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(IMMUTABLE)


class HarnessVersion(models.Model):
    """One harness at one moment. Never changed, never deleted; only `author` may become empty, when an account is removed.

    `document` is the spec as JSON text in the author's key order (a jsonb column would lose the order); `spec_hash` is its
    identity. `warning_count` counts the findings, none of them errors, at the time of the commit.
    """

    class Source(models.TextChoices):
        IMPORT = "import", "Import"
        EDITOR = "editor", "Editor"
        SEED = "seed", "Seed"
        API = "api", "API"

    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    spec_hash = models.CharField(max_length=64, db_index=True)
    document = models.TextField()
    schema_version = models.PositiveSmallIntegerField()
    message = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=320)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    source = models.CharField(max_length=8, choices=Source.choices)
    warning_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        ordering = ["harness", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["harness", "number"], name="harness_version_number_unique"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="harness_version_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.harness}@{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError(IMMUTABLE)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(IMMUTABLE)
