"""Addresses of the harness resources, under `/api/v1/`. Every one is served with and without a slash at its end."""

from __future__ import annotations

from django.urls import re_path

from harnesses.api import drafts, views

app_name = "harnesses_api"

_HARNESS = r"^harnesses/(?P<slug>[^/]+)"
_VERSION = rf"{_HARNESS}/versions/(?P<number>[^/]+)"
_DRAFT = rf"{_HARNESS}/drafts/(?P<draft_id>[^/]+)"

urlpatterns = [
    re_path(r"^harnesses/?$", views.HarnessListView.as_view(), name="harnesses"),
    re_path(rf"{_HARNESS}/?$", views.HarnessView.as_view(), name="harness"),
    re_path(rf"{_HARNESS}/versions/?$", views.VersionListView.as_view(), name="versions"),
    re_path(rf"{_VERSION}/?$", views.VersionView.as_view(), name="version"),
    re_path(rf"{_VERSION}/export/?$", views.VersionExportView.as_view(), name="export"),
    re_path(rf"{_HARNESS}/import/?$", views.ImportView.as_view(), name="import"),
    re_path(rf"{_HARNESS}/import/preview/?$", views.ImportPreviewView.as_view(), name="import-preview"),
    re_path(rf"{_HARNESS}/compare/?$", views.CompareView.as_view(), name="compare"),
    re_path(rf"{_HARNESS}/drafts/?$", drafts.DraftListView.as_view(), name="drafts"),
    re_path(rf"{_DRAFT}/?$", drafts.DraftView.as_view(), name="draft"),
    re_path(rf"{_DRAFT}/check/?$", drafts.DraftCheckView.as_view(), name="draft-check"),
    re_path(rf"{_DRAFT}/prompt/?$", drafts.DraftPromptView.as_view(), name="draft-prompt"),
]
