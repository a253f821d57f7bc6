"""The admin site shows the ledger and changes none of it: changes go through services, which audit them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ledger.api.authentication import signed_in_user
from ledger.models import ApiToken, AuditEntry, Team, User
from ledger.selectors import audit_list

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(_ModelAdmin):
    """Shows rows and changes none."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class UserReadAdmin(ReadOnlyAdmin):
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser", "last_login")
    exclude = ("password",)


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    list_display = ("slug", "name", "created_at")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Without the entries of what is hidden from the person."""

    list_display = ("created_at", "action", "object_label", "actor_name", "request_id")
    list_filter = ("action",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        return audit_list(viewer=signed_in_user(request))


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "prefix", "owner", "created_at", "last_used_at", "expires_at", "revoked_at")
    exclude = ("secret_hash",)
