"""Going back to a version, forking a harness, choosing what to merge."""

from __future__ import annotations

from typing import Any

from django import forms

from console.forms.fields import LongTextField
from harnesses.selectors import MAX_NUMBER
from harnesses.services.versions import MAX_DESCRIPTION_CHARS, MAX_MESSAGE_CHARS


class RevertForm(forms.Form):
    """Why to go back. `newest` is the version that was the newest when the page was made."""

    message = LongTextField(
        limit=MAX_MESSAGE_CHARS,
        label="Why",
        help_text="Others read it in the list of versions.",
    )
    newest = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


class ForkForm(forms.Form):
    """The new harness."""

    title = forms.CharField(max_length=120, help_text="What people call it.")
    slug = forms.CharField(
        label="Short name",
        max_length=64,
        help_text="In addresses and API calls: lower-case letters, digits, hyphens. It stays.",
    )
    description = LongTextField(required=False, limit=MAX_DESCRIPTION_CHARS, rows=3)


class MergeForm(forms.Form):
    """Another harness's version, as `autumn` (its newest) or `autumn@5`; and the newest version that was looked at."""

    source = forms.CharField(label="Merge from", max_length=120)
    newest = forms.IntegerField(min_value=0, max_value=MAX_NUMBER, required=False)

    def __init__(self, *args: Any, offered: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if offered:
            self.fields["source"].widget = forms.Select(choices=offered)
        else:
            self.fields["source"].help_text = "The short name of the harness; add @5 for its version 5."
