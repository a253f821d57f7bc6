"""Addresses of teams and of the audit, under `/api/v1/`. Every one is served with and without a slash at its end."""

from __future__ import annotations

from django.urls import re_path

from ledger.api import audit, teams

app_name = "ledger_api"

urlpatterns = [
    re_path(r"^teams/?$", teams.TeamListView.as_view(), name="teams"),
    re_path(r"^teams/(?P<slug>[^/]+)/?$", teams.TeamView.as_view(), name="team"),
    re_path(r"^audit/?$", audit.AuditListView.as_view(), name="audit"),
    re_path(r"^audit/export/?$", audit.AuditExportView.as_view(), name="audit-export"),
]
