"""What stands in the way of moving a label: one list of reasons, for the service that refuses and the page that explains."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Blocker:
    """One reason why a label does not move: a stable `code`, the reason, and what to do about it."""

    code: str
    message: str
    mend: str


@dataclass(frozen=True)
class MoveFacts:
    """All that decides whether a label may move to a version.

    `may_move` is the right of whoever asks: to release where the label is protected, else to edit. `was_held_before` tells that
    the label held the version under protection once: then going back needs no further approval, even in a freeze.
    `frozen_until` is when the freeze window that is on now ends (None: there is none). Approvals count those that hold now, by
    people who wrote none of it.
    """

    label_name: str
    number: int
    is_protected: bool
    is_archived: bool
    may_move: bool
    was_held_before: bool
    approvals: int
    required_approvals: int
    frozen_until: datetime | None = None
    freeze_reason: str = ""


def release_blockers(facts: MoveFacts) -> tuple[Blocker, ...]:
    """Everything that forbids the move, weightiest first; empty where it may go ahead."""
    blockers = []
    if facts.is_archived:
        blockers.append(
            Blocker("archived", "The harness is archived.", "Take it back into use before you move a label.")
        )
    if not facts.may_move:
        blockers.append(_no_right(facts))
    if facts.is_protected and not facts.was_held_before:
        if facts.approvals < facts.required_approvals:
            blockers.append(_not_approved(facts))
        if facts.frozen_until is not None:
            blockers.append(_frozen(facts, facts.frozen_until))
    return tuple(blockers)


def _no_right(facts: MoveFacts) -> Blocker:
    if facts.is_protected:
        return Blocker(
            "denied",
            f'"{facts.label_name}" is protected: it takes the right to release, which you do not have here.',
            "Ask a reviewer or an admin of this harness.",
        )
    return Blocker(
        "denied",
        "Moving a label takes the right to edit the harness, which you do not have here.",
        "Ask an operator or an admin of this harness.",
    )


def _not_approved(facts: MoveFacts) -> Blocker:
    missing = facts.required_approvals - facts.approvals
    have = f"it has {facts.approvals}" if facts.approvals else "it has none"
    people = "one person" if facts.required_approvals == 1 else f"{facts.required_approvals} people"
    others = "somebody who" if missing == 1 else f"{missing} people who each"
    return Blocker(
        "not_approved",
        f"Version {facts.number} needs the approval of {people} for this change; {have}.",
        f"Request a review of version {facts.number}, and let {others} did not write it approve it.",
    )


def _frozen(facts: MoveFacts, until: datetime) -> Blocker:
    why = f" ({facts.freeze_reason})" if facts.freeze_reason else ""
    return Blocker(
        "frozen",
        f"Releases are frozen until {until:%Y-%m-%d %H:%M} UTC{why}.",
        "Wait, plan the release for after that, or have an admin end the freeze. Rolling back is possible all the time.",
    )
