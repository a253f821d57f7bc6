"""Read-only views for administrators: changes go through services."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from inference.models import Checkpoint, Deployment, Session, Turn
from inference.selectors import session_list
from ledger.admin import ReadOnlyAdmin
from ledger.api.authentication import signed_in_user


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
