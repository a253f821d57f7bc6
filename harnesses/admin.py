"""The admin site shows harnesses, versions and members, and changes none. What is hidden elsewhere is hidden there too."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from harnesses import policy
from harnesses.core.membership import HarnessAction
from harnesses.models import Harness, HarnessMember, HarnessVersion
from ledger.admin import ReadOnlyAdmin
from ledger.api.authentication import signed_in_user


class HarnessScopedAdmin(ReadOnlyAdmin):
    """Shows the rows of those harnesses that the person may see. `harness_path` leads from a row to its harness's key."""

    harness_path = "harness_id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        visible = policy.harnesses_allowing(signed_in_user(request), HarnessAction.VIEW).values("pk")
        return super().get_queryset(request).filter(**{f"{self.harness_path}__in": visible})


@admin.register(Harness)
class HarnessAdmin(HarnessScopedAdmin):
    harness_path = "pk"
    list_display = ("slug", "title", "world", "access", "version_count", "created_at", "archived_at")


@admin.register(HarnessVersion)
class HarnessVersionAdmin(HarnessScopedAdmin):
    list_display = ("harness", "number", "spec_hash", "author_name", "source", "message", "created_at")
    list_select_related = ("harness",)


@admin.register(HarnessMember)
class HarnessMemberAdmin(HarnessScopedAdmin):
    list_display = ("harness", "user", "team", "role", "created_at")
    list_select_related = ("harness", "user", "team")
