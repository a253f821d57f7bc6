"""How risky a change of harness is: each change named by its family, and whether the right answers stay the same.

`preserving`: for every task the same operations can be called with the same arguments and give the same results, and no rule
changed. `not_preserving`: the right answer can change. `unknown`: words changed, and only a person or an evaluation can tell.
A preserving change may still trip the model in service; that is what the evals are for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from harnesses.core.changes import Change
from harnesses.core.diff import diff_specs
from harnesses.core.families import FAMILY_TITLES, Judgement, Preserving
from harnesses.core.headlines import headline
from harnesses.core.operations import OperationCatalogue
from harnesses.core.risk_texts import judge_example, judge_hook, judge_prompt, judge_runtime, judge_skill
from harnesses.core.risk_tools import ToolJudge
from harnesses.core.spec import HarnessSpec

RequiredReview = Literal["none", "one_reviewer", "two_reviewers"]

IMPACT, POLICY, CAPABILITY, LATENCY = "impact", "policy", "capability", "latency"
EVAL_TITLES: Final[dict[str, str]] = {
    IMPACT: "the model in service on paired tasks, old harness against new",
    POLICY: "cases that test the host's rules",
    CAPABILITY: "tasks that need what was gained or lost",
    LATENCY: "answer times and fallback replies",
}


@dataclass(frozen=True)
class Classified:
    """One change with its family (None where it belongs to none), verdict, reason in plain words, and the evals it requires.

    `headline` says it in one line: "Tool renamed: get_price → fetch_price (T1, preserving)".
    """

    change: Change
    family: str | None
    family_title: str
    preserving: Preserving
    reason: str
    requires: tuple[str, ...]
    headline: str


@dataclass(frozen=True)
class RiskReport:
    """All changes between two harnesses, and what follows from them together. Evals are keys of EVAL_TITLES."""

    changes: tuple[Classified, ...]
    verdict: Preserving
    required_review: RequiredReview
    required_evals: tuple[str, ...]


def assess(old: HarnessSpec, new: HarnessSpec, catalogue: OperationCatalogue) -> RiskReport:
    """Judge every change from `old` to `new` over the operations of `catalogue`."""
    tools = ToolJudge(old, new, catalogue)
    classified = tuple(_classify(change, _judge(change, old, new, tools)) for change in diff_specs(old, new).changes)
    verdict = _worst(item.preserving for item in classified)
    needs_two = verdict == "not_preserving" or any(_takes_rule_away(item.change) for item in classified)
    review: RequiredReview = "two_reviewers" if needs_two else "one_reviewer" if classified else "none"
    evals = tuple(name for name in EVAL_TITLES if any(name in item.requires for item in classified))
    return RiskReport(classified, verdict, review, evals)


def _takes_rule_away(change: Change) -> bool:
    """Whether a section is a rule no longer. No answer changes with that, but what the next change of it takes does."""
    return (change.kind, change.field, change.after) == ("prompt", "is_policy", False)


def _judge(change: Change, old: HarnessSpec, new: HarnessSpec, tools: ToolJudge) -> Judgement:
    if change.kind == "tool":
        return tools.judge(change)
    if change.kind == "prompt":
        return judge_prompt(change, old, new)
    if change.kind == "hook":
        return judge_hook(change, old, new)
    if change.kind == "example":
        return judge_example(change)
    return judge_skill(change) if change.kind == "skill" else judge_runtime(change)


def _worst(verdicts: Iterable[Preserving]) -> Preserving:
    found = set(verdicts)
    if "not_preserving" in found:
        return "not_preserving"
    return "unknown" if "unknown" in found else "preserving"


def _classify(change: Change, judgement: Judgement) -> Classified:
    family = judgement.family
    return Classified(
        change=change,
        family=family,
        family_title=FAMILY_TITLES[family] if family else "",
        preserving=judgement.preserving,
        reason=judgement.reason,
        requires=_requires(judgement),
        headline=headline(change, judgement),
    )


def _requires(judgement: Judgement) -> tuple[str, ...]:
    if judgement.family is None or (judgement.family == "policy" and judgement.preserving == "preserving"):
        return ()
    further = {"policy": POLICY, "capability": CAPABILITY, "runtime": LATENCY}.get(judgement.family)
    return (IMPACT, further) if further else (IMPACT,)
