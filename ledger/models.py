"""Who works here, what they did, and the tokens their programs use."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

APPEND_ONLY = "Audit entries are append-only: they are never changed or deleted."


class User(AbstractUser):
    """A person or a machine account that acts in Tackroom."""

    @property
    def display_name(self) -> str:
        """The full name, or the user name of those who have none."""
        return self.get_full_name() or self.username


class Team(models.Model):
    """People who work together. What a team may do is said where it is given a role (a harness's members)."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    members = models.ManyToManyField(User, related_name="teams", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Reads and inserts only. The database refuses the rest too, by a trigger (migration 0003)."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError(APPEND_ONLY)

    def delete(self) -> NoReturn:
        raise TypeError(APPEND_ONLY)

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(APPEND_ONLY)


class AuditEntry(models.Model):
    """One change that somebody made, written in the transaction of the change itself.

    `actor_name` is a copy, so that the entry outlives the account; empty `actor` with the name "system" is the platform itself.
    `parent_type` and `parent_id` name the object that the changed one belongs to (a label's harness), so that one changelog
    tells all that happened to it and to its parts; empty where it belongs to none.
    """

    action = models.CharField(max_length=100, help_text="Dotted: harness.committed, token.revoked …")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=320)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=64)
    object_label = models.CharField(max_length=300)
    parent_type = models.CharField(max_length=60, blank=True, default="")
    parent_id = models.CharField(max_length=64, blank=True, default="")
    reason = models.TextField(blank=True)
    before = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    request_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["object_type", "object_id", "-id"], name="audit_object"),
            models.Index(fields=["parent_type", "parent_id", "-id"], name="audit_parent"),
            models.Index(fields=["action", "-id"], name="audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_label} by {self.actor_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError(APPEND_ONLY)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(APPEND_ONLY)


class ApiToken(models.Model):
    """A token for the REST API. The secret itself is not here; see `ledger.core.tokens`."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    secret_hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=40))
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class IdempotencyRecord(models.Model):
    """The answer that a repeated request gets: one per person and `Idempotency-Key`, kept for a day.

    `fingerprint` is the SHA-256 of method, address and body: the same key with another request is a mistake of the caller.
    `status` is None while the first request is still being answered.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_unique")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_age")]

    def __str__(self) -> str:
        return self.key
