"""Making what a model wrote storable.

A model can write any character; PostgreSQL keeps no NUL, UTF-8 no lone surrogate, JSON no NaN. Nothing is refused here, for the
turn has happened: what cannot be kept becomes U+FFFD, the sign for an unreadable character (a number that is none becomes null).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def storable_text(text: str) -> str:
    """The text as PostgreSQL can keep it."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def speakable_text(text: str) -> str:
    """A reply as a viewer may get it: line ends as LF, no control character but LF and tab."""
    return _UNSPEAKABLE.sub(_REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def storable(value: Any) -> Any:
    """The same JSON value, every text, key and number in it storable."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable_text(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
