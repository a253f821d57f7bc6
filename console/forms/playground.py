"""Starting a session in the playground, and saying something in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from console.forms.fields import LongTextField

MAX_COMMENT_CHARS = 2_000
MAX_SEED = 2**31 - 1

Choices = Sequence[tuple[str, Any]]


class StartForm(forms.Form):
    """Which version, on which checkpoint, as whom, in which room. `other` makes it two versions side by side."""

    version = forms.ChoiceField(label="Harness version")
    other = forms.ChoiceField(
        required=False, label="Beside it", help_text="A second version answers the same comments."
    )
    checkpoint = forms.ChoiceField(label="Checkpoint")
    viewer = forms.CharField(
        max_length=80, initial="viewer", label="You are", help_text="The viewer's name in the room."
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        label="Room number",
        help_text="The same number opens the same room.",
    )

    def __init__(self, *args: Any, versions: Choices, checkpoints: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("version", versions)
        self._offer("other", [("", "Nothing: one version alone"), *versions])
        self._offer("checkpoint", checkpoints)

    def _offer(self, name: str, choices: Choices) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)
        field.error_messages["invalid_choice"] = "There is no %(value)s. Choose one from the list."

    def clean_other(self) -> str:
        other: str = self.cleaned_data["other"]
        if other and other == self.cleaned_data.get("version"):
            raise forms.ValidationError("This is the same version. Choose another one, or none.")
        return other


class CommentForm(forms.Form):
    """One viewer comment."""

    comment = LongTextField(
        limit=MAX_COMMENT_CHARS,
        rows=1,
        label="Say something as a viewer",
        attrs={"autocomplete": "off", "placeholder": "Ask about an item, a price, a size …"},
        error_messages={"required": "Write a comment first."},
    )
