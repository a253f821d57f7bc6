"""Requesting a review, deciding on it, talking about it, finding reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from console.forms.fields import LongTextField

MAX_MESSAGE_CHARS = 2_000
MAX_COMMENT_CHARS = 10_000
MAX_NUMBER = 2**31 - 1

STATES = [
    ("", "Every state"),
    ("in_review", "In review"),
    ("approved", "Approved"),
    ("rejected", "Rejected"),
    ("withdrawn", "Withdrawn"),
]
NO_VERDICT = "Choose: approve or reject."
NO_PERSON = "%(value)s is nobody who may review this harness. Choose from the list."


def number_field() -> forms.IntegerField:
    """The number of a version, carried along with a form."""
    return forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)


class ReviewFilterForm(forms.Form):
    """Search and state. A value that makes no sense is told, and filters nothing."""

    search = forms.CharField(required=False, max_length=200, label="Harness, person or message")
    state = forms.ChoiceField(required=False, choices=STATES, label="State")


class RequestForm(forms.Form):
    """A review of a version. `people` are (user name, label) of those who may be asked."""

    number = number_field()
    message = LongTextField(
        required=False,
        limit=MAX_MESSAGE_CHARS,
        rows=4,
        label="What to look at",
        help_text="Why this change, and what you are not sure of.",
    )
    reviewers = forms.MultipleChoiceField(
        required=False,
        label="Ask these people",
        help_text="The review waits for them. Ask nobody, and it waits for everybody who may review.",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": NO_PERSON},
    )

    def __init__(self, *args: Any, people: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["reviewers"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = list(people)


class DecisionForm(forms.Form):
    """Approve or reject the version that was looked at. The verdict is the button that was pressed."""

    number = number_field()
    verdict = forms.ChoiceField(
        choices=[("approve", "Approve"), ("reject", "Reject")],
        widget=forms.HiddenInput,
        error_messages={"required": NO_VERDICT, "invalid_choice": NO_VERDICT},
    )
    reason = LongTextField(
        required=False,
        limit=MAX_MESSAGE_CHARS,
        rows=3,
        label="Reason",
        help_text="Needed to reject: what must change.",
    )


class WithdrawForm(forms.Form):
    """Why a review is taken back."""

    withdraw_reason = LongTextField(required=False, limit=MAX_MESSAGE_CHARS, rows=2, label="Why")


class RenewForm(forms.Form):
    """The newer version that a review moves on to."""

    number = number_field()


class CommentForm(forms.Form):
    """What somebody says."""

    body = LongTextField(
        limit=MAX_COMMENT_CHARS,
        rows=3,
        label="Comment",
        error_messages={"required": "Write something first."},
    )


def reply_form(thread_id: int, data: Any = None) -> CommentForm:
    """The form for saying something in a thread; each has ids of its own in the page."""
    return CommentForm(data, auto_id=f"reply-{thread_id}-%s")


class PlacedCommentForm(CommentForm):
    """What somebody says about a place; without a component, about the change as a whole."""

    component_kind = forms.CharField(required=False, max_length=10, widget=forms.HiddenInput)
    component_id = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    field = forms.CharField(required=False, max_length=300, widget=forms.HiddenInput)
    line = forms.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)
