"""Making a harness, importing a version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from console.forms.fields import LongTextField
from console.presenters import size
from harnesses import ports

MAX_UPLOAD_BYTES = 20_000_000
PASTED_NAME = "pasted.json"

NOTHING_CHOSEN = "Choose a file, or paste JSON into the field below."
TWO_CHOSEN = "There is a file and pasted text. Keep one of the two."


class HarnessFilterForm(forms.Form):
    """Which harnesses are listed. A text that makes no sense is told, and filters nothing."""

    search = forms.CharField(required=False, max_length=200, label="Title, short name or description")


class HarnessForm(forms.Form):
    """A new, empty harness."""

    title = forms.CharField(max_length=120, help_text="What people call it.")
    slug = forms.CharField(
        label="Short name",
        max_length=64,
        help_text="In addresses and API calls: lower-case letters, digits, hyphens. It stays.",
    )
    world = forms.ChoiceField(help_text="Which platform's operations its tools stand for. It stays.")
    description = LongTextField(required=False, limit=4000, rows=3)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["world"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, name) for name in ports.world_names()]


class ImportForm(forms.Form):
    """What to import: a file or pasted JSON, and already the commit message."""

    upload = forms.FileField(
        required=False,
        label="File",
        max_length=255,
        help_text=f"A .zip or a .json file, {MAX_UPLOAD_BYTES // 1_000_000} MB at most.",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.json,application/zip,application/json"}),
        error_messages={"empty": "The file is empty. Choose another one."},
    )
    text = forms.CharField(
        required=False,
        strip=False,
        label="Or paste JSON",
        widget=forms.Textarea(attrs={"rows": 7, "class": "mono", "spellcheck": "false", "wrap": "soft"}),
    )
    message = LongTextField(
        required=False,
        limit=2000,
        label="What this version changes",
        help_text="Others read it in the list of versions.",
    )

    def clean_upload(self) -> UploadedFile[Any] | None:
        upload: UploadedFile[Any] | None = self.cleaned_data["upload"]
        if upload is not None and (upload.size or 0) > MAX_UPLOAD_BYTES:
            raise forms.ValidationError(
                f"The file has {size(upload.size)}; the limit is {size(MAX_UPLOAD_BYTES)}. Leave out what is no harness."
            )
        return upload

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if "upload" in cleaned and "text" in cleaned:
            has_text = bool(cleaned["text"].strip())
            if cleaned["upload"] and has_text:
                self.add_error("text", TWO_CHOSEN)
            elif not cleaned["upload"] and not has_text:
                self.add_error("upload", NOTHING_CHOSEN)
        return cleaned

    def content(self) -> tuple[str, bytes]:
        """Name and bytes of what was chosen; call it on a valid form."""
        upload: UploadedFile[Any] | None = self.cleaned_data["upload"]
        if upload is None:
            return PASTED_NAME, self.cleaned_data["text"].encode("utf-8", "surrogatepass")
        return upload.name or "upload", upload.read()


class CommitForm(forms.Form):
    """The message of an import that was looked at."""

    message = LongTextField(
        required=False,
        limit=2000,
        label="What this version changes",
        help_text="Others read it in the list of versions.",
    )
