"""Signing in, and API tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from ledger.core.tokens import Scope

SCOPE_LABELS = {
    Scope.HARNESSES_READ: "harnesses:read: read harnesses, versions and comparisons",
    Scope.HARNESSES_WRITE: "harnesses:write: create harnesses, commit and import versions",
    Scope.REVIEWS_WRITE: "reviews:write: request reviews, comment, approve and reject",
    Scope.LABELS_WRITE: "labels:write: move labels, plan and undo releases",
    Scope.SESSIONS_READ: "sessions:read: read sessions, turns and traces",
    Scope.SESSIONS_WRITE: "sessions:write: start sessions and take turns",
    Scope.AUDIT_READ: "audit:read: read who did what",
}


class LoginForm(AuthenticationForm):
    """User name and password."""

    error_messages = {
        "invalid_login": "That user name and password do not match. Both are case-sensitive.",
        "inactive": "This account is closed. Ask a platform engineer.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "User name"


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(max_length=100, help_text="What will use it, for example “stream platform, staging”.")
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, SCOPE_LABELS[scope]) for scope in Scope], widget=forms.CheckboxSelectMultiple
    )
    ttl_days = forms.IntegerField(label="Valid for (days)", min_value=1, max_value=3650, initial=90)
