"""Filters of the audit."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms

AREAS = [
    ("", "Everything"),
    ("harness", "Harnesses and their versions"),
    ("harness_member", "Members of harnesses"),
    ("draft", "Drafts"),
    ("review", "Reviews"),
    ("label", "Labels"),
    ("release", "Planned releases"),
    ("freeze", "Freeze windows"),
    ("team", "Teams"),
    ("user", "Users"),
    ("token", "API tokens"),
    ("deployment", "Deployments"),
    ("checkpoint", "Checkpoints"),
]
_DATE = {"type": "date"}


class AuditFilterForm(forms.Form):
    """Search, area, person, harness, days. A value that makes no sense is told, and filters nothing."""

    search = forms.CharField(required=False, max_length=200, label="Object, person or reason")
    area = forms.ChoiceField(required=False, choices=AREAS, label="Area")
    person = forms.CharField(
        required=False,
        max_length=150,
        label="User name",
        widget=forms.TextInput(attrs={"list": "people", "autocomplete": "off", "spellcheck": "false"}),
    )
    harness = forms.CharField(
        required=False,
        max_length=64,
        label="Harness",
        widget=forms.TextInput(attrs={"list": "harnesses", "autocomplete": "off"}),
    )
    since = forms.DateField(required=False, label="From day (UTC)", widget=forms.DateInput(attrs=_DATE))
    until = forms.DateField(required=False, label="To day (UTC)", widget=forms.DateInput(attrs=_DATE))

    def clean(self) -> dict[str, Any]:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            self.add_error("until", "This day is before the first. Choose a later one.")
        return self.cleaned_data

    def filters(self) -> dict[str, Any]:
        """The arguments of `audit_list` but for the harness; call it on a valid form. The last day counts whole."""
        chosen = self.cleaned_data
        return {
            "action_prefix": chosen["area"],
            "actor": chosen["person"],
            "search": chosen["search"],
            "since": _midnight(chosen["since"]),
            "until": _midnight(chosen["until"], days=1),
        }


def _midnight(day: dt.date | None, *, days: int = 0) -> dt.datetime | None:
    """The beginning of a day in UTC, `days` later; the end of time where there is none later."""
    if day is None:
        return None
    try:
        return dt.datetime.combine(day, dt.time.min, tzinfo=dt.UTC) + dt.timedelta(days=days)
    except OverflowError:
        return None
