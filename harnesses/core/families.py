"""The families of harness changes: those of HSA (ours, after arXiv:2608.15763), and three for what is no HSA family."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Preserving = Literal["preserving", "not_preserving", "unknown"]

FAMILY_TITLES: Final[dict[str, str]] = {
    "S1": "skill renamed",
    "S2": "skill described differently",
    "S3": "skill text rewritten",
    "S4": "skills reordered",
    "S5": "skill added or removed",
    "T1": "tool renamed",
    "T2": "tool or parameter described differently",
    "T3": "parameter renamed",
    "T4": "tools or parameters reordered",
    "T5": "values recoded",
    "T6": "optional parameter added or dropped",
    "T7": "tool without effect of its own added or dropped",
    "T8": "description stripped",
    "T9": "result key renamed",
    "P1": "prompt sections reordered",
    "P2": "heading style",
    "P3": "prompt section reworded",
    "P4": "persona and tone",
    "P5": "more or fewer words in the prompt",
    "H1": "hook renamed",
    "H2": "hook text reworded",
    "H3": "hook text put elsewhere",
    "H4": "hook text wrapped differently",
    "H5": "hooks reordered, or a hook without effect",
    "X1": "call format",
    "X2": "tool-document format",
    "X3": "arguments nested or flattened",
    "X4": "one tool split in several",
    "X5": "several tools merged in one",
    "X6": "units and types",
    "X7": "result format",
    "X9": "parameter with a dictated value",
    "X14": "skills inline or on demand",
    "X15": "hook at another event",
    "policy": "rules the host must keep",
    "capability": "what the model can do",
    "runtime": "runtime setting",
}


class Judgement(NamedTuple):
    """What a change is: its family (a key of FAMILY_TITLES, or None), whether it preserves the task, and why in plain words."""

    family: str | None
    preserving: Preserving
    reason: str


def has_same_words(before: object, after: object) -> bool:
    """Whether two texts differ in white space and case at most."""
    return isinstance(before, str) and isinstance(after, str) and before.casefold().split() == after.casefold().split()
