"""How risky a change of harness is: each change named by its family, and whether the right answers stay the same.

`preserving`: for every task the same operations can be called with the same arguments and give the same results, and no rule
changed. `not_preserving`: the right answer can change. `unknown`: words changed, and only a person or an evaluation can tell.
A preserving change may still trip the model in service; that is what the evals are for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from harnesses.core.changes import Change, Kind
from harnesses.core.diff import diff_specs
from harnesses.core.families import FAMILY_TITLES, Judgement, Preserving
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.risk_texts import judge_example, judge_hook, judge_prompt, judge_runtime, judge_skill
from harnesses.core.risk_tools import ToolJudge
from harnesses.core.schemas import shown
from harnesses.core.spec import HarnessSpec

RequiredReview = Literal["none", "one_reviewer", "two_reviewers"]

IMPACT, POLICY, CAPABILITY, LATENCY = "impact", "policy", "capability", "latency"
EVAL_TITLES: Final[dict[str, str]] = {
    IMPACT: "the model in service on paired tasks, old harness against new",
    POLICY: "cases that test the host's rules",
    CAPABILITY: "tasks that need what was gained or lost",
    LATENCY: "answer times and fallback replies",
}
VERDICT_WORDS: Final[dict[str, str]] = {
    "preserving": "preserving",
    "not_preserving": "not preserving",
    "unknown": "unknown",
}
_KIND_WORDS: Final[dict[Kind, str]] = {
    "prompt": "Section",
    "skill": "Skill",
    "tool": "Tool",
    "hook": "Hook",
    "example": "Example",
    "runtime": "Runtime setting",
}
_MAX_INLINE = 40


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
    review: RequiredReview = (
        "two_reviewers" if verdict == "not_preserving" else "one_reviewer" if classified else "none"
    )
    evals = tuple(name for name in EVAL_TITLES if any(name in item.requires for item in classified))
    return RiskReport(classified, verdict, review, evals)


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
        headline=_headline(change, judgement),
    )


def _requires(judgement: Judgement) -> tuple[str, ...]:
    if judgement.family is None or (judgement.family == "policy" and judgement.preserving == "preserving"):
        return ()
    further = {"policy": POLICY, "capability": CAPABILITY, "runtime": LATENCY}.get(judgement.family)
    return (IMPACT, further) if further else (IMPACT,)


# --- headlines -----------------------------------------------------------------------------------------------------------


def _headline(change: Change, judgement: Judgement) -> str:
    verdict = VERDICT_WORDS[judgement.preserving]
    family = f"{judgement.family}, {verdict}" if judgement.family else verdict
    return f"{_what(change)} ({family})"


def _what(change: Change) -> str:
    kind, name = _KIND_WORDS[change.kind], change.component_name
    if change.action == "renamed" and change.field in ("name", "title"):
        return f"{kind} {'retitled' if change.field == 'title' else 'renamed'}: {change.before} → {change.after}"
    if change.action == "renamed":
        part = "Result key" if ".result." in change.field else "Parameter"
        return f"{part} of {name} renamed: {change.before} → {change.after}"
    if change.action == "reordered":
        if change.field == "order":
            return f"{kind}s reordered"
        return f"{_part_words(change)} of {name} reordered"
    if change.field == "":
        return f"{kind} {change.action}: {name}"
    if change.kind == "example" and change.field == "comment":
        return f"Comment of an example changed: {change.old_name} → {change.new_name}"
    if change.kind == "runtime":
        values = _from_to(change)
        return f"{_spaced(change.field).capitalize()} changed" + (f": {values}" if values else "")
    values = _from_to(change)
    return f"{_part_words(change)} of {name} {change.action}" + (f": {values}" if values else "")


def _from_to(change: Change) -> str:
    """Old and new value, where both are short enough for a line."""
    if change.action != "changed":
        return ""
    texts = [_short(change.before), _short(change.after)]
    return "" if "" in texts else " → ".join(texts)


def _short(value: JsonValue) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    text = value if isinstance(value, str) else shown(value)
    return text if len(text) <= _MAX_INLINE and "\n" not in text else ""


_PART_WORDS = {
    "is_policy": "Policy mark",
    "body": "Text",
    "allowed_tools": "Allowed tools",
    "risk": "Risk level",
    "matcher": "Tools watched",
    "when": "Condition",
    "parameter_order": "Parameters",
    "output_schema": "Output schema",
}


def _part_words(change: Change) -> str:
    """The changed part of a component, as people call it: "Description of item", "Parameter note", "Values of currency"."""
    field = change.field
    if field in _PART_WORDS:
        return _PART_WORDS[field]
    if field.startswith("input_schema.properties."):
        path = field.removeprefix("input_schema.properties.").replace(".properties.", ".")
        if change.action in ("added", "removed"):
            return f"Parameter {path}"
        parameter, _, key = path.rpartition(".")
        return f"{'Values' if key == 'enum' else _spaced(key).capitalize()} of {parameter}"
    if field.startswith("action."):
        return _spaced(field.removeprefix("action.")).capitalize()
    head, _, rest = field.partition(".")
    return f"{_spaced(head).capitalize()} {rest.removeprefix('cases.')}".rstrip()


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")
