"""The admin site shows harnesses and versions and changes none of them."""

from __future__ import annotations

from django.contrib import admin

from harnesses.models import Harness, HarnessVersion
from ledger.admin import ReadOnlyAdmin


@admin.register(Harness)
class HarnessAdmin(ReadOnlyAdmin):
    list_display = ("slug", "title", "world", "version_count", "created_at", "archived_at")


@admin.register(HarnessVersion)
class HarnessVersionAdmin(ReadOnlyAdmin):
    list_display = ("harness", "number", "spec_hash", "author_name", "source", "message", "created_at")
    list_select_related = ("harness",)
