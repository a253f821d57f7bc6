"""What the harness pages show: components, rendered prompt with its budget, findings, changes, what a change means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from console import presenters
from console.component_words import KIND_TITLES
from console.presenters import Badge
from harnesses import ports, selectors
from harnesses.core.risk import EVAL_TITLES, RiskReport
from harnesses.core.spec import HarnessSpec, Skill
from harnesses.core.templates import TemplateError
from harnesses.core.validation import Finding

_PART_TONES = {"section": 0, "skills": 1, "skill": 1, "tools": 2, "calls": 3, "examples": 4}
_PART_KINDS = {
    "section": "prompt section",
    "skills": "skill list",
    "skill": "skill",
    "tools": "tools",
    "calls": "call format",
    "examples": "chat turns",
}


@dataclass(frozen=True)
class SkillRow:
    skill: Skill
    risk: Badge
    tools: tuple[str, ...]


@dataclass(frozen=True)
class PartRow:
    """One part of the prompt; `start` and `width` are per cent of the bar."""

    title: str
    kind: str
    text: str
    tokens: int
    tone: int
    start: str
    width: str


@dataclass(frozen=True)
class PromptPage:
    """The rendered prompt against the context budget, in tokens. `basis` says how they were counted."""

    parts: tuple[PartRow, ...]
    total_tokens: int
    budget_tokens: int
    basis: str

    @property
    def is_over(self) -> bool:
        return self.total_tokens > self.budget_tokens

    @property
    def over_tokens(self) -> int:
        return self.total_tokens - self.budget_tokens

    @property
    def left_tokens(self) -> int:
        return self.budget_tokens - self.total_tokens

    @property
    def percent(self) -> str:
        return f"{100 * self.total_tokens / self.budget_tokens:.0f}"


def components(spec: HarnessSpec) -> dict[str, Any]:
    """The components of a harness, each in words."""
    return {
        "spec": spec,
        "skills": [
            SkillRow(skill, presenters.skill_risk_badge(skill.risk), _tool_names(spec, skill.allowed_tools))
            for skill in spec.skills
        ],
        "tools": [presenters.tool_view(tool) for tool in spec.tools],
        "hooks": [presenters.hook_view(hook, spec) for hook in spec.hooks],
        "runtime": presenters.runtime_rows(spec.runtime),
    }


def _tool_names(spec: HarnessSpec, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(tool.name if (tool := spec.tool(tool_id)) else tool_id for tool_id in ids)


def rendered(version: Any) -> tuple[PromptPage | None, str]:
    """The rendered prompt of a version; where it cannot be rendered, None and the reason."""
    try:
        prompt = selectors.version_rendered(version)
    except TemplateError as error:
        return None, f"{error.message} {error.mend}".strip()
    scale = max(prompt.budget_tokens, prompt.total_tokens, 1)
    rows: list[PartRow] = []
    used = 0
    for item in prompt.parts:
        part, tokens = item.part, item.token_count
        start, width = f"{100 * used / scale:.2f}", f"{100 * tokens / scale:.2f}"
        kind, tone = _PART_KINDS.get(part.kind, part.kind), _PART_TONES.get(part.kind, 4)
        rows.append(PartRow(part.title or part.id, kind, part.text, tokens, tone, start, width))
        used += tokens
    return PromptPage(tuple(rows), prompt.total_tokens, prompt.budget_tokens, counting_basis()), ""


def counting_basis() -> str:
    """How tokens are counted now."""
    if ports.token_counter() is ports.estimate_tokens:
        return "Estimated at 3.5 characters a token: the tokenizer of the model in service is not on this machine."
    return "Counted by the tokenizer of the model in service. The total includes the joints between the parts."


# --- findings and changes --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FindingRow:
    badge: Badge
    code: str
    component: str
    field: str
    message: str
    mend: str


def finding_rows(findings: Iterable[Finding]) -> list[FindingRow]:
    """Findings, errors first."""
    order = {"error": 0, "warning": 1}
    rows = []
    for item in sorted(findings, key=lambda finding: order.get(finding.severity, 2)):
        kind = KIND_TITLES.get(item.component_kind, item.component_kind.capitalize())
        component = f"{kind} {item.component_id}".strip() if item.component_id else kind
        badge = presenters.severity_badge(item.severity)
        rows.append(FindingRow(badge, item.code, component, item.field or "", item.message, item.mend))
    return rows


@dataclass(frozen=True)
class ChangeRow:
    title: str
    family: Badge
    family_title: str
    preservation: Badge
    reason: str
    requires: tuple[str, ...]


@dataclass(frozen=True)
class RiskView:
    """All changes between two versions, one badge for the whole, and what a release of them needs."""

    changes: tuple[ChangeRow, ...]
    summary: Badge | None
    review: str
    evals: tuple[str, ...]


_REVIEWS = {"none": "No review needed", "one_reviewer": "One reviewer", "two_reviewers": "Two reviewers"}


def risk_view(report: RiskReport) -> RiskView:
    """The risk report in words and badges."""
    rows = tuple(
        ChangeRow(
            title=item.headline,
            family=Badge(item.family or "no family", "leather" if item.family else "mute", item.family_title),
            family_title=item.family_title,
            preservation=presenters.preservation_badge(item.preserving),
            reason=item.reason,
            requires=tuple(EVAL_TITLES.get(name, name) for name in item.requires),
        )
        for item in report.changes
    )
    evals = tuple(EVAL_TITLES.get(name, name) for name in report.required_evals)
    summary = presenters.preservation_badge(report.verdict) if rows else None
    return RiskView(rows, summary, _REVIEWS[report.required_review], evals)
