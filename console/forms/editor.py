"""What begins a draft."""

from __future__ import annotations

from django import forms

from harnesses.selectors import MAX_NUMBER
from harnesses.services import MAX_NAME_CHARS


class DraftStartForm(forms.Form):
    """`from_version`: the version to start from (none: the newest); `new`: make a draft even where one is open."""

    name = forms.CharField(max_length=MAX_NAME_CHARS, required=False)
    from_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, required=False)
    new = forms.BooleanField(required=False)
