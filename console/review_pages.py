"""What the pages of reviews show: states in words, what is required and why, threads, history."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from console import harness_pages
from console.presenters import Badge
from console.review_diffs import Line, Place, component_diffs, unified
from console.text_diff import text_diff
from harnesses import selectors
from harnesses.core.approvals import RISK_APPROVALS
from harnesses.core.component_texts import component_texts
from harnesses.core.risk import RiskReport
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import TemplateError
from ledger import selectors as ledger_selectors

HISTORY_SHOWN = 200
_STATES = {
    "idle": Badge("Not in review", "mute", "Nobody asked for a review."),
    "in_review": Badge("In review", "info", "It waits for people to approve or reject it."),
    "approved": Badge("Approved", "ok", "As many people as are needed approve it."),
    "rejected": Badge("Rejected", "bad", "Somebody said no, and why."),
    "withdrawn": Badge("Withdrawn", "mute", "It was taken back."),
}
_VERDICTS = {"approve": Badge("Approves", "ok"), "reject": Badge("Rejects", "bad")}
_COMPONENT_STATES = {
    "added": Badge("New", "ok"),
    "removed": Badge("Removed", "bad"),
    "changed": Badge("Changed", "leather"),
    "unchanged": Badge("Not changed", "mute", "Shown because it is spoken about."),
    "gone": Badge("No longer there", "mute", "An earlier version had it."),
}
_DID = {
    "review.requested": "asked for a review of version {number}",
    "review.approved": "approved version {number}",
    "review.rejected": "rejected version {number}",
    "review.withdrawn": "withdrew the review",
    "review.renewed": "moved the review on to version {number}; earlier decisions no longer count",
    "review.commented": "wrote",
    "review.thread_resolved": "resolved a thread",
    "review.thread_reopened": "reopened a thread",
}
_COUNTS = ("One", "Two", "Three", "Four", "Five")
_VERSION_MENTION = re.compile(r"\b(?:v|version )([1-9]\d{0,6})\b", re.IGNORECASE)


def state_badge(state: str) -> Badge:
    """Where the review of a version stands; "idle" where there is none."""
    return _STATES.get(state) or Badge(state.capitalize())


def verdict_badge(verdict: str) -> Badge:
    return _VERDICTS[verdict]


def component_badge(state: str) -> Badge:
    """What became of a component as a whole."""
    return _COMPONENT_STATES[state]


# --- what is required ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requirement:
    """How many people must approve, and why."""

    count: int
    because: str

    @property
    def words(self) -> str:
        return "One person must approve" if self.count == 1 else f"{_COUNTS[self.count - 1]} people must approve"


def requirement(report: RiskReport, min_approvals: int) -> Requirement:
    """What a change asks for: by its risk, and by what the harness asks for at the least."""
    by_risk = RISK_APPROVALS[report.required_review]
    if min_approvals > by_risk:
        people = "one person" if min_approvals == 1 else f"{min_approvals} people"
        return Requirement(min_approvals, f"this harness asks for {people} at the least.")
    if report.required_review == "two_reviewers":
        count = sum(item.preserving == "not_preserving" for item in report.changes)
        which = "one change alters" if count == 1 else f"{count} changes alter"
        return Requirement(by_risk, f"{which} what the right answer is, or what the model can do.")
    if report.verdict == "unknown":
        return Requirement(by_risk, "words changed, and only people can tell whether the meaning stays.")
    return Requirement(by_risk, "the change keeps the meaning, and may still trip the model.")


# --- one review ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PromptDiff:
    """What changes in the rendered prompt; `problem` says why it cannot be told."""

    lines: tuple[Line, ...]
    is_cut: bool
    problem: str


@dataclass(frozen=True)
class ThreadRow:
    """A thread in a list: where, how it begins, and whether it began on an earlier version than the one under review."""

    thread: Any
    place: Place
    excerpt: str
    is_outdated: bool


@dataclass(frozen=True)
class Event:
    """One entry of the history: who did what, when, and what they said."""

    who: str
    did: str
    text: str
    at: Any
    thread_id: int | None


def changes(version: Any, base_version: Any, threads: Iterable[Any] = ()) -> dict[str, Any]:
    """What a version changes against its base: by meaning, in the rendered prompt, and component by component."""
    report = selectors.review_risk(version, base_version)
    old = selectors.version_spec(base_version) if base_version else HarnessSpec()
    return {
        "report": harness_pages.risk_view(report),
        "requirement": requirement(report, version.harness.min_approvals),
        "prompt": _prompt_diff(version, base_version),
        "components": component_diffs(old, selectors.version_spec(version), report, list(threads)),
    }


def _prompt_diff(version: Any, base_version: Any) -> PromptDiff:
    texts = []
    for item in (base_version, version):
        try:
            texts.append(selectors.version_rendered(item).text if item else "")
        except TemplateError as error:
            return PromptDiff((), False, f"Version {item.number} cannot be rendered: {error.message}")
    diff = text_diff(*texts, old_label="old", new_label="new")
    return PromptDiff(tuple(unified(diff)), diff.is_cut if diff else False, "")


def thread_rows(review: Any, threads: Iterable[Any]) -> list[ThreadRow]:
    """Threads for the list beside the changes, open ones first."""
    rows = []
    for thread in threads:
        first = next(iter(thread.comments.all()), None)
        title = component_title(review, thread.component_kind, thread.component_id)
        place = Place(thread.component_kind, thread.component_id, thread.field, thread.line, title)
        rows.append(ThreadRow(thread, place, first.body if first else "", thread.version_id != review.version_id))
    return sorted(rows, key=lambda row: (row.thread.resolved_at is not None, row.thread.pk))


def component_title(review: Any, kind: str, component_id: str) -> str:
    """What people call a component of the version under review, or of its base where the version leaves it out."""
    for version in (review.version, review.base_version):
        texts = component_texts(selectors.version_spec(version), kind, component_id) if version else None
        if texts is not None:
            return texts.get("name") or texts.get("title") or component_id
    return component_id


def history(review: Any) -> list[Event]:
    """What happened to a review, in the order in which it did; of a very long one the last HISTORY_SHOWN entries."""
    entries = ledger_selectors.audit_list(object_type="review", object_id=review.pk)[:HISTORY_SHOWN]
    events = []
    for entry in reversed(entries):
        after = entry.after or {}
        did = _DID.get(entry.action, entry.action).format(number=after.get("number", "?"))
        text = entry.reason or str(after.get("excerpt", ""))
        events.append(Event(entry.actor_name, did, text, entry.created_at, after.get("thread")))
    return events


def linked_pieces(text: str, newest: int) -> list[tuple[str, int | None]]:
    """A text cut at the versions it mentions ("v7", "version 7"): piece and, for a version that is there, its number."""
    pieces: list[tuple[str, int | None]] = []
    end = 0
    for match in _VERSION_MENTION.finditer(text):
        number = int(match[1])
        if number > newest:
            continue
        pieces += [(text[end : match.start()], None), (match[0], number)]
        end = match.end()
    pieces.append((text[end:], None))
    return [(piece, number) for piece, number in pieces if piece]


def people_choices(suggested: Iterable[selectors.SuggestedReviewer]) -> list[tuple[str, str]]:
    """People who may be asked, as user name and label: "Rui Reviewer (rui): reviewed version 7"."""
    choices = []
    for item in suggested:
        name = item.user.get_full_name()
        label = f"{name} ({item.user.username})" if name else item.user.username
        choices.append((item.user.username, f"{label}: {item.reason}" if item.reason else label))
    return choices
