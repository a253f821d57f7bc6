"""Read-only views for administrators: changes go through services."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from inference.models import Checkpoint, Deployment, Session, Turn
from inference.selectors import session_list
from ledger.api.authentication import signed_in_user


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
    """Those of harnesses that the person may see."""

    list_display = ["id", "harness_label", "checkpoint", "turn_count", "created_at", "closed_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        return session_list(viewer=signed_in_user(request))


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Those of harnesses that the person may see."""

    list_display = ["session", "number", "stop_reason", "is_fallback", "duration_ms"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        visible = session_list(viewer=signed_in_user(request)).values("pk")
        return super().get_queryset(request).filter(session__in=visible)
