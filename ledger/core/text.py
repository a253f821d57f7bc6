"""The one form in which a text is stored, for every text a person or a program sends in."""

from __future__ import annotations

import re
import unicodedata

_REFUSED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Unicode categories Cc, but for tab and line feed, and Cs. One search instead of a look at every character: texts are long."""

SLUG_PATTERN = re.compile(r"(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*")
"""What a short name in an address looks like: lower-case letters, digits, single hyphens; match it whole."""


def clean_text(text: str) -> str:
    """Bring a text to the one form that is stored: Unicode NFC, line ends as LF.

    Raises ValueError for characters that no text should hold and PostgreSQL or UTF-8 cannot store: NUL and other control
    characters, lone surrogates.
    """
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    if found := _REFUSED.search(cleaned):
        raise ValueError(f"holds the control character U+{ord(found[0]):04X} at position {found.start()}; remove it")
    return cleaned
