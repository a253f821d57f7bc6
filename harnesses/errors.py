"""Errors about harnesses that services raise on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harnesses.core.validation import Finding
from ledger.errors import FieldError, Invalid


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
