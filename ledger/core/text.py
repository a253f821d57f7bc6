"""The one form in which a text is stored, for every text a person or a program sends in."""

from __future__ import annotations

import unicodedata

_ALLOWED_CONTROL = {"\n", "\t"}


def clean_text(text: str) -> str:
    """Bring a text to the one form that is stored: Unicode NFC, line ends as LF.

    Raises ValueError for characters that no text should hold and PostgreSQL or UTF-8 cannot store: NUL and other control
    characters, lone surrogates.
    """
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    for position, char in enumerate(cleaned):
        if unicodedata.category(char) in ("Cc", "Cs") and char not in _ALLOWED_CONTROL:
            raise ValueError(f"holds the control character U+{ord(char):04X} at position {position}; remove it")
    return cleaned
