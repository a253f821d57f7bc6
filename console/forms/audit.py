"""Filters of the audit list."""

from __future__ import annotations

from django import forms

AREAS = [
    ("", "Everything"),
    ("harness", "Harnesses"),
    ("user", "Users"),
    ("token", "API tokens"),
    ("deployment", "Deployments"),
    ("checkpoint", "Checkpoints"),
    ("session", "Sessions"),
]


class AuditFilterForm(forms.Form):
    """Search and area. A value that makes no sense is told, and filters nothing."""

    search = forms.CharField(required=False, max_length=200, label="Object, person or reason")
    area = forms.ChoiceField(required=False, choices=AREAS, label="Area")
