"""Errors about harnesses that services raise on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from harnesses.core.release import Blocker
from harnesses.core.validation import Finding
from ledger.errors import Conflict, FieldError, Invalid


class InvalidHarness(Invalid):
    """A harness with errors cannot be committed. `findings` holds all findings, warnings included."""

    code = "invalid_harness"
    title = "The harness has errors"

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [finding for finding in findings if finding.severity == "error"]
        first = errors[0]
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(
            f"{finding_place(first)}: {first.message} {first.mend}{more}",
            field_errors=[FieldError(finding_place(item), item.message, item.mend, item.code) for item in errors],
        )

    @property
    def problem_members(self) -> dict[str, Any]:
        """What a problem document says beyond the common members."""
        return {"findings": [asdict(finding) for finding in self.findings]}


def finding_place(finding: Finding) -> str:
    """Where a finding is, as a path: `tool[price].input_schema`, `runtime.context_budget_tokens`."""
    component = f"{finding.component_kind}[{finding.component_id}]" if finding.component_id else finding.component_kind
    return f"{component}.{finding.field}" if finding.field else component


class StaleDraft(Conflict):
    """A draft was saved by somebody else since: what was sent started from an older revision, and nothing was written.

    `revision` is the draft's current one; merge with it, then save again.
    """

    code = "stale_draft"
    title = "The draft was changed meanwhile"

    def __init__(self, *, sent: int, revision: int, by: str, at: datetime) -> None:
        self.revision, self.by, self.at = revision, by, at
        super().__init__(
            f"You started from revision {sent}, but the draft is at revision {revision}, saved by {by}. "
            "Merge your changes with it, then save again."
        )

    @property
    def problem_members(self) -> dict[str, Any]:
        """What a problem document says beyond the common members."""
        return {"revision": self.revision, "updated_by": self.by, "updated_at": self.at}


class ReleaseBlocked(Conflict):
    """A label does not move: `blockers` holds every reason, each with what to do."""

    code = "release_blocked"
    title = "The label cannot be moved"

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        self.blockers = tuple(blockers)
        super().__init__(" ".join(f"{item.message} {item.mend}" for item in blockers), code=blockers[0].code)

    @property
    def problem_members(self) -> dict[str, Any]:
        """What a problem document says beyond the common members."""
        return {"blockers": [asdict(item) for item in self.blockers]}


class StaleLabel(Conflict):
    """A label was moved by somebody else since: what was sent started from an older revision, and nothing was written.

    `revision` is the label's current one (0: there is no such label).
    """

    code = "stale_label"
    title = "The label was moved meanwhile"

    def __init__(self, *, name: str, sent: int, revision: int, holds: str) -> None:
        self.revision = revision
        now = f"now {holds}, at revision {revision}" if revision else "no longer there"
        started = f"revision {sent}" if sent else "there being no such label"
        super().__init__(
            f'You started from {started}, but "{name}" is {now}. Look at what it holds now, then move it if that is still right.'
        )

    @property
    def problem_members(self) -> dict[str, Any]:
        """What a problem document says beyond the common members."""
        return {"revision": self.revision}
