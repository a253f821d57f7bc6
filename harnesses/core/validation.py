"""Is this harness any good? Findings about a well-shaped specification; nothing here raises or changes anything.

The checks lie in `checks_*.py`, by component. Their order, and so the order of the findings, is fixed.
"""

from __future__ import annotations

from harnesses.core.checks_examples import check_examples
from harnesses.core.checks_hooks import check_hooks
from harnesses.core.checks_loops import check_loops
from harnesses.core.checks_names import check_names
from harnesses.core.checks_texts import check_texts
from harnesses.core.checks_tools import check_runtime, check_skills, check_tools
from harnesses.core.findings import ComponentKind, Finding, Severity
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec

__all__ = ["ComponentKind", "Finding", "Severity", "has_errors", "validate"]


def validate(spec: HarnessSpec, catalogue: OperationCatalogue, prompt_tokens: int | None = None) -> tuple[Finding, ...]:
    """Everything to be said about a harness against the operations of its platform; equal harnesses, equal findings.

    `prompt_tokens` is the length of the rendered prompt by the tokenizer of the deployed model; None: not counted, not judged.
    """
    findings = (
        *check_names(spec),
        *check_tools(spec, catalogue),
        *check_skills(spec),
        *check_hooks(spec, catalogue),
        *check_loops(spec),
        *check_examples(spec, catalogue),
        *check_texts(spec, catalogue),
        *check_runtime(spec, prompt_tokens),
    )
    return tuple(dict.fromkeys(findings))


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Whether a harness with these findings must not be committed."""
    return any(finding.severity is Severity.ERROR for finding in findings)
