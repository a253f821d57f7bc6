"""What a change of prompt, skill, hook, example or runtime setting is: its family, and whether the right answers stay the same."""

from __future__ import annotations

from harnesses.core.changes import Change
from harnesses.core.families import Judgement, has_same_words
from harnesses.core.spec import HarnessSpec, Hook

_PARAPHRASE = "The words changed. Whether the meaning stayed is for a person or an evaluation to tell."
_SAME_WORDS = "Only white space or capital letters changed; the words are the same."
_MARKED = "The model reads the same text. Later changes of this section will need two reviewers."
_UNMARKED = (
    "The model reads the same text, but later changes of this section will not count as changes of a rule: taking the mark away "
    "needs as many reviewers as changing the rule."
)
_RULES = "This text sets rules. When it changes, the right answer to a viewer can change."
_READ_BY_VIEWERS = "Viewers read this text as the reply; the answer itself changed."
_ENFORCED = "This hook enforces a rule. What it lets through, blocks or rewrites changes with it."


def judge_prompt(change: Change, old: HarnessSpec, new: HarnessSpec) -> Judgement:
    """A section added, removed, retitled, moved, reworded, or marked as policy."""
    sections = [spec.section(change.component_id) for spec in (old, new)]
    is_policy = any(section is not None and section.is_policy for section in sections)
    if change.action == "reordered":
        return Judgement("P1", "preserving", "The model reads the same sections in another order.")
    if change.field == "is_policy":
        return Judgement("policy", "preserving", _MARKED if change.after else _UNMARKED)
    if has_same_words(change.before, change.after):
        return Judgement("P3", "preserving", _SAME_WORDS)
    if is_policy and change.action != "renamed":
        return Judgement("policy", "not_preserving", _RULES)
    if change.action in ("added", "removed"):
        return Judgement("P5", "unknown", f"A prompt section was {change.action}. It may tell the model what to do.")
    return Judgement("P3", "unknown", _PARAPHRASE)


def judge_skill(change: Change) -> Judgement:
    """A skill added, removed, renamed, moved, described or written differently."""
    if change.action in ("added", "removed") and change.field == "":
        reason = f"A skill was {change.action}. Its instructions may decide how questions of its kind are answered."
        return Judgement("S5", "unknown", reason)
    if change.action == "renamed":
        return Judgement("S1", "preserving", "Only the name changed; texts that mention the skill by its id follow.")
    if change.action == "reordered":
        return Judgement("S4", "preserving", "The model reads the same skills in another order.")
    family = {"description": "S2", "body": "S3"}.get(change.field)
    if family is not None:
        return _reworded(family, change)
    if change.field == "allowed_tools":
        return Judgement(
            "capability", "unknown", "The tools this skill is meant to use changed; check that they fit its text."
        )
    return Judgement(None, "preserving", "The model never sees this field.")


def _reworded(family: str, change: Change) -> Judgement:
    if has_same_words(change.before, change.after):
        return Judgement(family, "preserving", _SAME_WORDS)
    return Judgement(family, "unknown", _PARAPHRASE)


def judge_example(change: Change) -> Judgement:
    """A worked example added, removed, moved or rewritten."""
    if change.action == "reordered":
        return Judgement("P1", "preserving", "The model reads the same examples in another order.")
    if change.field == "":
        return Judgement(
            "P5", "unknown", f"A worked example was {change.action}. Small models lean on examples: test it."
        )
    if change.field.split(".")[0].split("[")[0] == "calls":
        return Judgement(
            "P3",
            "unknown",
            "The example makes other calls, or reads other results. Small models lean on examples: test it.",
        )
    return _reworded("P3", change)


# --- hooks ---------------------------------------------------------------------------------------------------------------


def judge_hook(change: Change, old: HarnessSpec, new: HarnessSpec) -> Judgement:
    """A hook added, removed, renamed, moved, or changed in when it acts and what it does."""
    if change.action == "reordered":
        return _judge_hook_order(old, new)
    if change.action == "renamed":
        return Judgement("H1", "preserving", "Only the name changed; the hook does what it did.")
    hooks = [hook for spec in (old, new) for hook in spec.hooks if hook.id == change.component_id]
    if change.field == "":
        return _judge_whole_hook(hooks[0], change.action)
    if change.field == "action" or any(hook.action.type != "add_context" for hook in hooks):
        return _judge_enforcing_hook(change, hooks)
    if change.field == "action.slot":
        return Judgement("H3", "preserving", "The same text stands in another place.")
    if change.field == "action.wrapper":
        return Judgement("H4", "preserving", "The same text is wrapped differently.")
    if change.field == "action.text":
        return _reworded("H2", change)
    return Judgement("X15", "unknown", "The hook adds its text on other occasions than before.")


def _judge_whole_hook(hook: Hook, action: str) -> Judgement:
    if hook.action.type != "add_context":
        return Judgement("policy", "not_preserving", f"A hook that enforces a rule was {action}.")
    if not hook.action.text.strip():
        return Judgement("H5", "preserving", "The hook adds no text, so it has no effect.")
    return Judgement("H2", "unknown", f"A hook that tells the model something was {action}.")


def _judge_enforcing_hook(change: Change, hooks: list[Hook]) -> Judgement:
    is_told_to_viewer = any(
        hook.event == "UserPromptSubmit"
        if hook.action.type == "deny"
        else getattr(hook.action, "on_violation", "") == "replace"
        for hook in hooks
    )
    if change.field == "action.message" or (
        change.field in ("action.reason", "action.replacement") and not is_told_to_viewer
    ):
        return _reworded("H2", change)
    if has_same_words(change.before, change.after):
        return Judgement("H2", "preserving", _SAME_WORDS)
    if change.field in ("action.reason", "action.replacement"):
        return Judgement("policy", "not_preserving", _READ_BY_VIEWERS)
    return Judgement("policy", "not_preserving", _ENFORCED)


def _judge_hook_order(old: HarnessSpec, new: HarnessSpec) -> Judgement:
    """Order matters among the enforcing hooks of one event: each sees what the one before it left."""
    orders = []
    for spec, other in ((old, new), (new, old)):
        common = {hook.id for hook in other.hooks}
        enforcing = [hook for hook in spec.hooks if hook.id in common and hook.action.type != "add_context"]
        orders.append(
            {(event, *(h.id for h in enforcing if h.event == event)) for event in {h.event for h in enforcing}}
        )
    if orders[0] == orders[1]:
        return Judgement("H5", "preserving", "The hooks that enforce rules still run in the same order.")
    return Judgement(
        "H5", "unknown", "Hooks that enforce rules run in another order; each sees what the one before it left."
    )


# --- runtime -------------------------------------------------------------------------------------------------------------

_RUNTIME_FAMILIES = {
    "disclosure": ("X14", "The same skills, shown in the prompt or loaded by the model when needed."),
    "skill_tool_name": ("T1", "Only the name of the built-in tool that loads skills changed."),
    "call_format": ("X1", "The same calls, written in another form. Models are used to one form: test before release."),
    "tool_document_format": ("X2", "The same tools, described in another form."),
    "tool_document_order": ("X2", "The same tools, with name and description in another order."),
    "heading_style": ("P2", "The same sections, with their titles written differently."),
}
_RUNTIME_REASONS = {
    "max_tool_rounds": "Answers that need more tool calls than the limit end in the fallback reply.",
    "max_revisions": "Replies that break a rule get more or fewer attempts before the fallback reply.",
    "deadline_ms": "Answers that take longer than the deadline end in the fallback reply.",
    "max_reply_tokens": "Replies that are longer than the limit are cut.",
    "context_budget_tokens": "The budget decides when a prompt counts as too long.",
    "temperature": "The model chooses its words with more or less chance; answers vary more or less.",
}


def judge_runtime(change: Change) -> Judgement:
    """A runtime setting."""
    if change.field in _RUNTIME_FAMILIES:
        family, reason = _RUNTIME_FAMILIES[change.field]
        return Judgement(family, "preserving", reason)
    if change.field == "fallback_reply":
        if has_same_words(change.before, change.after):
            return Judgement("runtime", "preserving", _SAME_WORDS)
        return Judgement("policy", "not_preserving", _READ_BY_VIEWERS)
    return Judgement("runtime", "unknown", _RUNTIME_REASONS.get(change.field, "How the agent loop runs changed."))
