"""Moving a label now or later, taking a move back, making a label, freezing releases."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django import forms

from console.forms.fields import LongTextField
from console.forms.reviews import number_field
from harnesses.core.labels import MAX_LABEL_CHARS, label_name_problem

MAX_REASON_CHARS = 2_000
MAX_REVISION = 2**31 - 1
MAX_OFFSET_MINUTES = 18 * 60
NOW, LATER = "now", "later"
NO_REASON = "A protected label moves for a reason. Say why, for those who read the history."
NO_TIME = "Choose when."
TIME_FOR_NOW = "You gave a time. Plan the release for it, or clear it to move the label now."


class MomentInput(forms.DateTimeInput):
    """A date and a time of the viewer's own clock. The page's script shows the same moment in UTC."""

    input_type = "datetime-local"

    def __init__(self, **attrs: Any) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M", attrs={"data-moment": "", **attrs})


class ZonedForm(forms.Form):
    """A form with times of the viewer's clock (`moments`): beside each goes its distance from UTC in minutes (`<name>_offset`).

    The page's script fills that in, for the day that was chosen. Without it the time is taken as UTC, and the page says so.
    """

    moments: Sequence[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.moments:
            widget = forms.HiddenInput(attrs={"data-offset-of": name})
            self.fields[f"{name}_offset"] = forms.IntegerField(
                required=False, min_value=-MAX_OFFSET_MINUTES, max_value=MAX_OFFSET_MINUTES, widget=widget
            )

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        for name in self.moments:
            moment = cleaned.get(name)
            if moment is not None:
                offset = dt.timedelta(minutes=cleaned.pop(f"{name}_offset", None) or 0)
                cleaned[name] = moment.replace(tzinfo=dt.timezone(offset))
            cleaned.pop(f"{name}_offset", None)
        return cleaned


def moment_field(**kwargs: Any) -> forms.DateTimeField:
    """A point in time as `<input type="datetime-local">` sends it."""
    formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
    errors = {"invalid": "This is no date with a time. Write it like 2026-12-24T18:00."}
    return NaiveMomentField(widget=MomentInput(), input_formats=formats, error_messages=errors, **kwargs)


class NaiveMomentField(forms.DateTimeField):
    """A date and time as they were written, without a zone: `ZonedForm` adds the viewer's."""

    def to_python(self, value: Any) -> dt.datetime | None:
        moment = super().to_python(value)
        return moment.replace(tzinfo=None) if moment is not None else None


class MoveForm(ZonedForm):
    """Where a label goes, why, and now or later. `revision` is the label's that was on show (0: there was none).

    With `is_blocked` it can only be planned.
    """

    moments = ("due_at",)
    version = number_field()
    revision = forms.IntegerField(min_value=0, max_value=MAX_REVISION, widget=forms.HiddenInput)
    reason = LongTextField(
        required=False, limit=MAX_REASON_CHARS, rows=3, label="Why", help_text="It stays in the history."
    )
    confirm = forms.CharField(
        required=False,
        max_length=60,
        label="Type the label's name",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    due_at = moment_field(required=False, label="Or later, at")
    when = forms.ChoiceField(required=False, choices=[(NOW, NOW), (LATER, LATER)], widget=forms.HiddenInput)

    def __init__(self, *args: Any, is_protected: bool = False, is_blocked: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = is_protected
        self.fields["reason"].error_messages["required"] = NO_REASON
        if is_blocked:
            self.fields["due_at"].label = "When"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        is_later = cleaned.get("when") == LATER
        if is_later and "due_at" in cleaned and cleaned["due_at"] is None:
            self.add_error("due_at", NO_TIME)
        if not is_later and cleaned.get("due_at") is not None:
            self.add_error("due_at", TIME_FOR_NOW)
        return cleaned


class UndoForm(forms.Form):
    """Taking the last move back."""

    revision = forms.IntegerField(min_value=0, max_value=MAX_REVISION, widget=forms.HiddenInput)
    reason = LongTextField(required=False, limit=MAX_REASON_CHARS, label="Why", help_text="It stays in the history.")


class NewLabelForm(forms.Form):
    """The name of a label, and the version it shall point to first."""

    name = forms.CharField(
        max_length=MAX_LABEL_CHARS, help_text="Lower-case letters, digits and hyphens, such as autumn-sale."
    )
    version = forms.TypedChoiceField(coerce=int, label="Points to")

    def __init__(self, *args: Any, versions: Sequence[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["version"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = list(versions)
        field.error_messages["invalid_choice"] = "There is no version %(value)s. Choose one from the list."

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if (problem := label_name_problem(name)) is not None:
            raise forms.ValidationError(f"{problem.message} {problem.mend}")
        return name


class FreezeForm(ZonedForm):
    """A freeze window."""

    moments = ("starts_at", "ends_at")
    starts_at = moment_field(required=False, label="From", help_text="Left empty: from now on.")
    ends_at = moment_field(label="Until")
    reason = LongTextField(limit=MAX_REASON_CHARS, label="Why", help_text="Shown on the pages while it lasts.")
