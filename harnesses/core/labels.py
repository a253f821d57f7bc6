"""How a label may be called. Pure: who may move it, and when, is told by `harnesses.core.release`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_LABEL_CHARS: Final = 40
PRODUCTION: Final = "production"
USUAL_LABELS: Final = (PRODUCTION, "staging")
"""Labels that every harness is expected to have; each is made by its first move."""
ALWAYS_PROTECTED: Final = frozenset({PRODUCTION})
"""Labels that are protected from their first move on, and for good."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_LIKE_A_VERSION = re.compile(r"(?:v|ver|version|r|rev|revision)?-?[0-9][0-9.-]*", re.IGNORECASE)
_MEANS_NEWEST = frozenset({"latest", "newest", "head"})


@dataclass(frozen=True)
class NameProblem:
    """Why a text cannot be a label, and what to do."""

    message: str
    mend: str


def label_name_problem(name: str) -> NameProblem | None:
    """What is wrong with a label's name; None where nothing is.

    A name that reads like a version number is refused, because `v3` would one day point to version 5; so is one that promises to
    follow the newest version by itself.
    """
    if not name:
        return NameProblem("The name is empty.", "Write one, such as staging.")
    if _LIKE_A_VERSION.fullmatch(name):
        return NameProblem(
            f"{name[:MAX_LABEL_CHARS]!a} reads like a version number, which a label is not.",
            "Say what it is for, such as staging or autumn-sale.",
        )
    if len(name) > MAX_LABEL_CHARS:
        return NameProblem(f"The name has {len(name)} characters; the limit is {MAX_LABEL_CHARS}.", "Shorten it.")
    if not _NAME.fullmatch(name):
        return NameProblem(
            f"{name!a} cannot be a label.",
            "Use lower-case letters a to z, digits and hyphens, and begin with a letter, such as autumn-sale.",
        )
    if name in _MEANS_NEWEST:
        return NameProblem(
            f'"{name}" sounds as if it followed the newest version by itself; a label moves only when somebody moves it.',
            "Say what it is for, such as staging.",
        )
    return None
