"""What can be put side by side: a version of any harness that the person may see, a label, or a draft as it is saved.

In addresses: `3`, `production`, `draft:12`, or of another harness `autumn@5`, `autumn@staging`, `autumn@newest`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import Q
from django.urls import reverse

from harnesses import policy, selectors
from harnesses.core.spec import HarnessSpec
from ledger.errors import NotFound

NOTHING = "empty"
NEWEST = "newest"
MAX_VERSIONS_OFFERED = 200
_NUMBER = re.compile(r"v?([0-9]{1,10})", re.ASCII | re.IGNORECASE)
_DRAFT = re.compile(r"draft:([0-9]{1,19})", re.ASCII)

Choices = list[tuple[str, list[tuple[str, str]]]]
"""Groups of (reference, words), as a select shows them."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a version, or the saved state of a draft; with neither, an empty harness."""

    ref: str
    label: str
    spec: HarnessSpec
    harness: Any
    version: Any = None
    draft: Any = None

    @property
    def url(self) -> str:
        """Where the side can be looked at; empty for an empty harness."""
        if self.draft is not None:
            return reverse("console:draft_edit", args=[self.harness.slug, self.draft.pk])
        if self.version is not None:
            return reverse("console:version_components", args=[self.harness.slug, self.version.number])
        return ""


def read_side(user: AbstractUser, harness: Any, ref: str) -> Side:
    """The side that a reference names, seen from `harness`. Raises NotFound where there is none that the person may see."""
    text = ref.strip()
    slug, _, rest = text.rpartition("@")
    if slug:
        return _version_side(policy.harness_for(user, slug), rest, of=harness)
    if text == NOTHING:
        return Side(NOTHING, "an empty harness", HarnessSpec(), harness)
    if match := _DRAFT.fullmatch(text):
        draft = selectors.draft_get(harness, match[1])
        label = f"draft “{draft.name}”"
        return Side(f"draft:{draft.pk}", label, selectors.draft_spec(draft), harness, draft=draft)
    return _version_side(harness, text, of=harness)


def _version_side(harness: Any, text: str, *, of: Any) -> Side:
    version, label = _named_version(harness, text)
    words = f"v{version.number}{label}"
    if harness.pk != of.pk:
        return Side(
            f"{harness.slug}@{text}", f"{harness.slug} {words}", selectors.version_spec(version), harness, version
        )
    return Side(text, words, selectors.version_spec(version), harness, version)


def _named_version(harness: Any, text: str) -> tuple[Any, str]:
    """The version that a number, a label or `newest` names, and what to add to its number."""
    if match := _NUMBER.fullmatch(text):
        return selectors.version_get(harness, match[1]), ""
    if text == NEWEST:
        return selectors.version_get(harness), ""
    label = selectors.label_find(harness, text)
    if label is None:
        raise NotFound(f'The harness "{harness.slug}" has no version and no label {text[:40]!a}.')
    return selectors.version_get(harness, label.version.number), f" ({label.name})"


def relatives(user: AbstractUser, harness: Any) -> list[Any]:
    """The harness it was forked from, and its own forks, as far as the person may see them and they hold a version."""
    is_related = Q(forked_from__harness=harness)
    if harness.forked_from_id is not None:
        is_related |= Q(versions=harness.forked_from_id)
    related = selectors.harness_list().filter(is_related).distinct()
    visible = policy.visible_harnesses(user, related).select_related("forked_from").defer("forked_from__document")
    return [item for item in visible if item.version_count]


def offered(user: AbstractUser, harness: Any, chosen: list[Side]) -> Choices:
    """What the page offers to choose from; what is chosen is always among it."""
    rows = selectors.version_list(harness).values_list("number", "message")[:MAX_VERSIONS_OFFERED]
    versions = [(str(number), f"v{number}: {message[:60]}" if message else f"v{number}") for number, message in rows]
    drafts = selectors.draft_list(harness, state="open")[:50]
    groups: Choices = [
        ("Labels", [(item.name, f"{item.name} (v{item.version.number})") for item in selectors.label_list(harness)]),
        ("Drafts", [(f"draft:{item.pk}", f"Draft: {item.name[:60]}") for item in drafts]),
        ("Versions", versions),
        ("Forks", [(f"{item.slug}@newest", f"{item.slug}, newest version") for item in relatives(user, harness)]),
    ]
    known = {ref for _, choices in groups for ref, _ in choices}
    others = [(side.ref, side.label) for side in chosen if side.ref not in known]
    return [("Chosen", list(dict.fromkeys(others))), *groups] if others else groups
