"""Who works on a harness and who is in a team; what is said of a harness."""

from __future__ import annotations

from typing import Any

from django import forms

from console.forms.fields import LongTextField
from harnesses.core.membership import HARNESS_ROLE_TITLES

ROLE_CHOICES = [(role.value, title) for role, title in HARNESS_ROLE_TITLES.items()]
ACCESS_CHOICES = [
    ("open", "Everybody who may see harnesses"),
    ("members", "Members only: to everybody else it does not exist"),
]


class MemberForm(forms.Form):
    """A person or a team, and the role to give."""

    kind = forms.ChoiceField(choices=[("user", "A person"), ("team", "A team")], widget=forms.RadioSelect, label="Who")
    name = forms.CharField(
        max_length=150,
        label="User name or team",
        help_text="The short name, as the list offers it.",
        widget=forms.TextInput(attrs={"list": "candidates", "autocomplete": "off", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(choices=ROLE_CHOICES)


class TeamForm(forms.Form):
    """A new team."""

    name = forms.CharField(max_length=120, help_text="What people call it.")
    slug = forms.CharField(
        label="Short name",
        max_length=64,
        help_text="In lists and API calls: lower-case letters, digits, hyphens. It stays.",
    )


class TeamNameForm(forms.Form):
    """Another name for a team."""

    name = forms.CharField(max_length=120)


class TeamPersonForm(forms.Form):
    """A person to take into a team."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        widget=forms.TextInput(attrs={"list": "candidates", "autocomplete": "off", "spellcheck": "false"}),
    )


class HarnessSettingsForm(forms.Form):
    """What is said of a harness, who may see it, and how many must approve."""

    title = forms.CharField(max_length=120)
    description = LongTextField(required=False, limit=4000, rows=3)
    access = forms.ChoiceField(choices=ACCESS_CHOICES, widget=forms.RadioSelect, label="Who may see it")
    min_approvals = forms.IntegerField(
        min_value=1,
        max_value=5,
        label="Approvals before a release",
        help_text="At the least, 1 to 5. A risky change can ask for more.",
    )

    @classmethod
    def of(cls, harness: Any) -> HarnessSettingsForm:
        """The form with what stands now."""
        return cls(initial={name: getattr(harness, name) for name in cls.base_fields})


class ReasonForm(forms.Form):
    """Why something is done."""

    reason = LongTextField(required=False, limit=2000, label="Why", help_text="Stands in the changelog.")
