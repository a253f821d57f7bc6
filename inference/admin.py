"""Read-only views for administrators: changes go through services."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from inference.models import Checkpoint, Deployment, Session, Turn


class ReadOnlyAdmin(admin.ModelAdmin):
    """Shows rows and lets nobody change them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "served_name", "size_bytes", "created_at"]


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    list_display = ["name", "checkpoint", "base_url", "state", "is_default"]


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ["id", "harness_label", "checkpoint", "turn_count", "created_at", "closed_at"]


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    list_display = ["session", "number", "stop_reason", "is_fallback", "duration_ms"]
