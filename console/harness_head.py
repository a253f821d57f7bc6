"""The top of every page about a harness: what may be done with it, its tabs, and where the version of the page stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.urls import reverse

from console import history_pages
from harnesses import policy, selectors
from harnesses.core.membership import HarnessAction

RECENT_VERSIONS = 12
VERSION_TABS = frozenset({"components", "prompt", "findings"})


@dataclass(frozen=True)
class Tab:
    """One tab of a harness. `count` None shows no number."""

    label: str
    url: str
    is_here: bool
    count: int | None = None


@dataclass(frozen=True)
class Standing:
    """Where a version stands and what it came from: a row of the history, and the draft it was committed from, if any.

    `can_ask` says whether its review can be asked for now: nobody did, and it is no released one.
    """

    row: history_pages.VersionRow
    draft: Any
    can_ask: bool


def head(
    user: AbstractUser,
    harness: Any,
    version: Any = None,
    *,
    tab: str = "",
    row: history_pages.VersionRow | None = None,
) -> dict[str, Any]:
    """What the top of every page about a harness shows. `version` is the one the page is about; None where it is about all.

    `row` is that version's row of the history, where the page has read it already.
    """
    allowed = policy.actions(user, harness)
    return {
        "harness": harness,
        "version": version,
        "tab": tab,
        "tabs": list(_tabs(harness, version, tab)),
        "crumb": _crumb(version, tab),
        "area": "harnesses",
        "standing": _standing(harness, version, row, can_edit=HarnessAction.EDIT in allowed) if version else None,
        "recent_versions": selectors.version_list(harness)[:RECENT_VERSIONS] if version else (),
        "can_change": HarnessAction.EDIT in allowed and not harness.is_archived,
        "can_play": HarnessAction.PLAY in allowed,
        "can_review": HarnessAction.REVIEW in allowed,
        "can_release": HarnessAction.RELEASE in allowed,
        "can_manage": HarnessAction.MANAGE in allowed,
        "can_fork": history_pages.can_fork(user),
    }


def _crumb(version: Any, tab: str) -> str:
    """The last step of the path to a page that gives none of its own; empty on the harness's first page."""
    of_version = f"Version {version.number}" if version and tab in VERSION_TABS else ""
    own = tab.capitalize() if tab and tab != "components" else ""
    return ", ".join(part for part in (of_version, own.lower() if of_version else own) if part)


def _standing(harness: Any, version: Any, row: history_pages.VersionRow | None, *, can_edit: bool) -> Standing:
    row = row or history_pages.version_rows(harness, [version])[0]
    can_ask = can_edit and row.review is None and not row.is_released and not harness.is_archived
    return Standing(row, selectors.version_draft(version), can_ask)


def _tabs(harness: Any, version: Any, here: str) -> Iterator[Tab]:
    """Those about one version lead to the version of the page, or else to the newest; without a version they are left out."""
    slug, number = harness.slug, version.number if version else harness.version_count
    if number:
        yield Tab("Components", _url("version_components", slug, number), here == "components")
        yield Tab("Prompt", _url("version_prompt", slug, number), here == "prompt")
        findings = version.warning_count or None if version else None
        yield Tab("Findings", _url("version_findings", slug, number), here == "findings", findings)
    yield Tab("Versions", _url("version_list", slug), here == "versions", harness.version_count)
    yield Tab("Drafts", _url("draft_list", slug), here == "drafts")
    yield Tab("Reviews", _url("harness_reviews", slug), here == "reviews")
    yield Tab("Labels", _url("harness_labels", slug), here == "labels")
    if number:
        yield Tab("Compare", f"{_url('harness_compare', slug)}?new={number}", here == "compare")
    yield Tab("Members", _url("member_list", slug), here == "members")
    yield Tab("Settings", _url("harness_settings", slug), here == "settings")
    yield Tab("Changelog", _url("harness_changelog", slug), here == "changelog")


def _url(name: str, *args: Any) -> str:
    return reverse(f"console:{name}", args=args)
