"""Addresses of sessions and turns, under `/api/v1/`. Every one is served with and without a slash at its end."""

from __future__ import annotations

from django.urls import re_path

from inference.api import views

app_name = "inference_api"

_SESSION = r"^sessions/(?P<session_id>[^/]+)"

urlpatterns = [
    re_path(r"^sessions/?$", views.SessionListView.as_view(), name="sessions"),
    re_path(rf"{_SESSION}/?$", views.SessionView.as_view(), name="session"),
    re_path(rf"{_SESSION}/close/?$", views.SessionCloseView.as_view(), name="close"),
    re_path(rf"{_SESSION}/turns/?$", views.TurnListView.as_view(), name="turns"),
    re_path(rf"{_SESSION}/turns/(?P<number>[^/]+)/?$", views.TurnView.as_view(), name="turn"),
]
