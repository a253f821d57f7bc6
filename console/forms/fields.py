"""Fields that the forms share."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class LongTextField(forms.CharField):
    """A text of several lines with a limit. The browser is not told the limit: it would cut pasted text without a word."""

    def __init__(self, *, limit: int, rows: int = 2, attrs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.limit = limit
        super().__init__(widget=forms.Textarea(attrs={"rows": rows, **(attrs or {})}), **kwargs)

    def validate(self, value: Any) -> None:
        super().validate(value)
        # A browser sends line ends as two characters; what is stored and counted is one.
        length = len(str(value).replace("\r\n", "\n"))
        if length > self.limit:
            raise ValidationError(f"The text has {length:,} characters; the limit is {self.limit:,}. Shorten it.")
