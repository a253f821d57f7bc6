"""Hooks at work: which fire, and what they do.

A hook is data: an event, conditions and one action. Arguments and results are seen in the operation's own names, so a hook keeps
its meaning through every rename. An action that does not belong to its event is reported and does nothing. The built-in skill
loader is no platform call: no hook fires for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from harnesses.core.checks_hooks import ACTIONS_BY_EVENT
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.spec import AddContext, CheckReply, Condition, Deny, HarnessSpec, Hook, ReplaceOutput, RewriteInput
from harnesses.runtime.render import render_body
from harnesses.runtime.trace import HookFiring, TraceError

_MISSING: Final = object()


@dataclass(frozen=True)
class HookView:
    """What the hooks of one event can see. `arguments` and `result` are the operation's; None where there is none yet."""

    context: Mapping[str, Any]
    comment: str | None = None
    reply: str | None = None
    tool_id: str | None = None
    arguments: JsonObject | None = None
    result: JsonObject | None = None
    round: int | None = None


@dataclass
class Additions:
    """Texts that hooks put before the model, by slot, wrapped and in order."""

    system_tail: list[str] = field(default_factory=list)
    user_prefix: list[str] = field(default_factory=list)
    user_suffix: list[str] = field(default_factory=list)
    tool_result_suffix: list[str] = field(default_factory=list)

    def take_from(self, other: Additions) -> None:
        self.system_tail += other.system_tail
        self.user_prefix += other.user_prefix
        self.user_suffix += other.user_suffix
        self.tool_result_suffix += other.tool_result_suffix


@dataclass(frozen=True)
class Verdict:
    """A reply that broke a rule: what is to happen, and the text for it (`message` to the model, `replacement` to the viewer)."""

    kind: Literal["block", "replace", "revise"]
    text: str


@dataclass
class Outcome:
    """What the hooks of one event did, together."""

    additions: Additions = field(default_factory=Additions)
    denial: str | None = None
    arguments: JsonObject | None = None
    result: JsonObject | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class HookRunner:
    """Runs the hooks of a harness within one turn; firings and problems are handed to the two callbacks."""

    spec: HarnessSpec
    on_firing: Callable[[HookFiring], None]
    on_error: Callable[[TraceError], None]

    def run(self, event: str, view: HookView) -> Outcome:
        """All hooks of an event, in order; a denial or a verdict ends it. Raises TemplateError for a text that cannot be filled."""
        outcome = Outcome(arguments=view.arguments, result=view.result)
        for hook in self.spec.hooks:
            if hook.event != event or not fires(hook, view):
                continue
            if hook.action.type not in ACTIONS_BY_EVENT[event]:
                message = f'Hook "{hook.id}": {hook.action.type} does nothing at {event}. Use another event or action.'
                error = TraceError(boundary="harness", code="hook_misplaced", message=message, round=view.round)
                self.on_error(error)
                continue
            detail = self._act(hook, view, outcome)
            if detail is None:
                continue
            self.on_firing(
                HookFiring(
                    hook_id=hook.id,
                    hook_name=hook.name,
                    event=event,
                    action=hook.action.type,
                    detail=detail,
                    round=view.round,
                )
            )
            if outcome.denial is not None or outcome.verdict is not None:
                break
            view = replace(view, arguments=outcome.arguments, result=outcome.result)
        return outcome

    def could_change_reply(self, view: HookView) -> bool:
        """Whether some Stop hook may still stop or change the reply, whatever it will be."""
        return any(
            hook.event == "Stop"
            and isinstance(hook.action, CheckReply)
            and all(condition.field == "reply" or holds(condition, view) for condition in hook.when)
            for hook in self.spec.hooks
        )

    def _act(self, hook: Hook, view: HookView, outcome: Outcome) -> str | None:
        """Do the action; what was done in plain words, None if there was nothing to do."""
        action = hook.action
        if isinstance(action, AddContext):
            text = wrapped(self._fill(hook, action.text, view), action.wrapper, hook.name)
            getattr(outcome.additions, action.slot).append(text)
            return f"added {len(text)} characters at {action.slot}"
        if isinstance(action, Deny):
            outcome.denial = self._fill(hook, action.reason, view)
            return f"denied: {outcome.denial}"
        if isinstance(action, RewriteInput):
            outcome.arguments = {**(outcome.arguments or {}), **action.set}
            return f"set {', '.join(action.set) or 'nothing'}"
        if isinstance(action, ReplaceOutput):
            kept = {key: value for key, value in (outcome.result or {}).items() if key not in action.drop}
            outcome.result = {**kept, **action.set}
            return f"set {', '.join(action.set) or 'nothing'}; dropped {', '.join(action.drop) or 'nothing'}"
        return self._check(hook, action, view, outcome)

    def _check(self, hook: Hook, action: CheckReply, view: HookView, outcome: Outcome) -> str | None:
        reply = (view.reply or "").casefold()
        found = next((phrase for phrase in action.phrases if phrase.casefold() in reply), None)
        if (found is None) == (action.mode == "forbid"):
            return None
        text = action.message if action.on_violation == "revise" else action.replacement
        outcome.verdict = Verdict(action.on_violation, self._fill(hook, text, view))
        why = (
            f'the reply holds "{found}"'
            if found is not None
            else f"the reply holds none of {len(action.phrases)} phrases"
        )
        return f"{action.on_violation}: {why}"

    def _fill(self, hook: Hook, text: str, view: HookView) -> str:
        return render_body(self.spec, f'Hook "{hook.id}"', text, view.context)


def fires(hook: Hook, view: HookView) -> bool:
    """Whether a hook's matcher and all its conditions hold."""
    if hook.matcher and view.tool_id is not None and view.tool_id not in hook.matcher:
        return False
    return all(holds(condition, view) for condition in hook.when)


def holds(condition: Condition, view: HookView) -> bool:
    """One condition. A value that is not there meets only `missing`, `contains_none` and `equals_none`."""
    value = _seen(condition, view)
    is_missing = value is _MISSING or value is None
    if condition.op in ("exists", "missing"):
        return is_missing == (condition.op == "missing")
    if condition.op in ("contains_none", "equals_none"):
        test = _contains if condition.op == "contains_none" else _equals
        return is_missing or not any(test(value, wanted) for wanted in condition.values)
    if is_missing:
        return False
    if condition.op in ("contains_any", "equals_any"):
        test = _contains if condition.op == "contains_any" else _equals
        return any(test(value, wanted) for wanted in condition.values)
    return _is_number(value) and any(
        _is_number(bound) and (value > bound if condition.op == "above" else value < bound)
        for bound in condition.values
    )


def _seen(condition: Condition, view: HookView) -> Any:
    root: Any = {
        "comment": view.comment,
        "reply": view.reply,
        "argument": view.arguments,
        "result": view.result,
        "context": view.context,
    }[condition.field]
    for key in condition.path or ():
        if isinstance(root, list):
            root = [item[key] for item in root if isinstance(item, Mapping) and key in item] or _MISSING
        else:
            root = root.get(key, _MISSING) if isinstance(root, Mapping) else _MISSING
    return root


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equals(value: JsonValue, wanted: JsonValue) -> bool:
    if isinstance(value, list) and not isinstance(wanted, list):
        return any(_equals(item, wanted) for item in value)
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _contains(value: JsonValue, wanted: JsonValue) -> bool:
    if isinstance(value, list):
        return any(_contains(item, wanted) for item in value)
    return str(wanted).casefold() in str(value).casefold()


def wrapped(text: str, wrapper: str, name: str) -> str:
    """A hook's text in its wrapper, under the hook's name."""
    if wrapper == "tag":
        tag = re.sub(r"[^\w.-]+", "_", name) or "note"
        return f"<{tag}>\n{text}\n</{tag}>"
    if wrapper == "bracket":
        return f"[{name}] {text}"
    if wrapper == "quote":
        return "\n".join(f"> {line}" for line in f"{name}: {text}".split("\n"))
    return text
