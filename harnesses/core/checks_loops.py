"""Checks of hooks against one another: rules that no reply can satisfy, so that the model would be sent round in circles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from harnesses.core.checks_texts import without_placeholders
from harnesses.core.findings import Finding, Place
from harnesses.core.schemas import same_json, shown
from harnesses.core.spec import CheckReply, Condition, HarnessSpec, Hook, RewriteInput


def check_loops(spec: HarnessSpec) -> Iterator[Finding]:
    """Contradicting reply rules, texts that break a rule themselves, and rewrites that undo one another."""
    rules = [(hook, hook.action) for hook in spec.hooks if hook.event == "Stop" and isinstance(hook.action, CheckReply)]
    for (one, first), (other, second) in combinations(rules, 2):
        yield from _contradiction(one, first, other, second)
    for hook, action in rules:
        if action.on_violation == "replace" and action.replacement.strip():
            yield from _broken_replacement(hook, action, rules)
    for hook, action in rules:
        if action.on_violation != "replace" and breaks(spec.runtime.fallback_reply, action):
            yield Place("hook", hook.id).error(
                "fallback_violates_rule",
                "action.phrases",
                "The fallback reply, which is sent when this rule is broken, breaks the rule itself.",
                "Change the fallback reply in the runtime settings, or the phrases.",
            )
    yield from _undone_rewrites(spec)


def breaks(text: str, rule: CheckReply) -> bool:
    """Whether a text violates a rule. Phrases are looked for without regard to case, outside template placeholders."""
    plain = without_placeholders(text).casefold()
    holds = any(phrase.casefold() in plain for phrase in rule.phrases if phrase.strip())
    return holds == (rule.mode == "forbid")


def _contradiction(one: Hook, first: CheckReply, other: Hook, second: CheckReply) -> Iterator[Finding]:
    if {first.mode, second.mode} != {"require", "forbid"}:
        return
    required, forbidden = (first, second) if first.mode == "require" else (second, first)
    if not all(breaks(phrase, forbidden) for phrase in required.phrases):
        return
    place = Place("hook", other.id)
    is_always = not one.when and not other.when
    report = place.error if is_always else place.warning
    when = "No reply" if is_always else "Where the conditions of both hold, no reply"
    yield report(
        "hooks_contradict",
        "action.phrases",
        f'{when} can satisfy both this hook and the hook "{one.id}": what one requires, the other forbids.',
        "Change the phrases or the conditions of one of the two.",
    )


def _broken_replacement(hook: Hook, action: CheckReply, rules: list[tuple[Hook, CheckReply]]) -> Iterator[Finding]:
    for other, rule in rules:
        if not breaks(action.replacement, rule):
            continue
        place = Place("hook", hook.id)
        report = place.error if other is hook or not other.when else place.warning
        whose = "its own rule" if other is hook else f'the rule of the hook "{other.id}"'
        yield report(
            "replacement_violates_rule",
            "action.replacement",
            f"The replacement breaks {whose}.",
            "Reword the replacement so that it passes every Stop hook.",
        )


def _undone_rewrites(spec: HarnessSpec) -> Iterator[Finding]:
    rewrites = [
        (hook, hook.action)
        for hook in spec.hooks
        if hook.event == "PreToolUse" and isinstance(hook.action, RewriteInput)
    ]
    for (one, first), (other, second) in combinations(rewrites, 2):
        if one.matcher and other.matcher and not set(one.matcher) & set(other.matcher):
            continue
        for name in sorted(set(first.set) & set(second.set)):
            if same_json(first.set[name], second.set[name]):
                continue
            place = Place("hook", other.id)
            is_sure = not other.when or _looks_for(other.when, name, first)
            report = place.error if is_sure else place.warning
            yield report(
                "rewrites_undo",
                f"action.set.{name}",
                f'This hook sets "{name}" to {shown(second.set[name])} after the hook "{one.id}" set it to '
                f"{shown(first.set[name])}.",
                "Keep one of the two, or give them conditions or matchers that exclude each other.",
            )


def _looks_for(conditions: tuple[Condition, ...], name: str, earlier: RewriteInput) -> bool:
    """Whether a condition waits for the very value that an earlier rewrite sets."""
    return any(
        condition.field == "argument"
        and condition.path == (name,)
        and condition.op == "equals_any"
        and any(same_json(value, earlier.set[name]) for value in condition.values)
        for condition in conditions
    )
