"""Choosing what to compare."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import AbstractUser

from console.compare_sides import Side, offered, read_side
from ledger.errors import Denied, NotFound

MAX_REF_CHARS = 120


class CompareForm(forms.Form):
    """Two sides, each a version, a label, a draft, or a version of another harness; see `console.compare_sides`."""

    old = forms.CharField(label="Before", max_length=MAX_REF_CHARS, widget=forms.Select())
    new = forms.CharField(label="After", max_length=MAX_REF_CHARS, widget=forms.Select())

    def __init__(self, *args: Any, user: AbstractUser, harness: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.harness = harness

    def clean_old(self) -> Side:
        return self._side("old")

    def clean_new(self) -> Side:
        return self._side("new")

    def _side(self, name: str) -> Side:
        ref = self.cleaned_data[name]
        try:
            return read_side(self.user, self.harness, ref)
        except (NotFound, Denied) as error:
            raise forms.ValidationError(f"There is no version {ref[:40]!a}. Choose one from the list.") from error

    def offer(self) -> None:
        """Fill both lists; call it once the form was validated, because what was chosen is always among the choices."""
        chosen = [side for side in (self.cleaned_data.get("old"), self.cleaned_data.get("new")) if side is not None]
        choices = offered(self.user, self.harness, chosen)
        for name in ("old", "new"):
            widget = self.fields[name].widget
            assert isinstance(widget, forms.Select)
            widget.choices = [(group, entries) for group, entries in choices if entries]
