"""Checks of hooks: what may happen at which event, what a condition can see, and which fields of which operations are meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harnesses.core.checks_values import check_value
from harnesses.core.findings import Finding, Place, listed
from harnesses.core.operations import OperationCatalogue, OperationSpec
from harnesses.core.schemas import dotted, resolved, schema_at, shown
from harnesses.core.spec import AddContext, CheckReply, Condition, HarnessSpec, Hook, ReplaceOutput, RewriteInput
from harnesses.core.templates import CONTEXT_SCHEMA

ACTIONS_BY_EVENT: Mapping[str, tuple[str, ...]] = {
    "SessionStart": ("add_context",),
    "UserPromptSubmit": ("add_context", "deny"),
    "PreToolUse": ("add_context", "deny", "rewrite_input"),
    "PostToolUse": ("add_context", "replace_output"),
    "Stop": ("add_context", "check_reply"),
}
_ALL_SLOTS = ("system_tail", "user_prefix", "user_suffix", "tool_result_suffix")
SLOTS_BY_EVENT: Mapping[str, tuple[str, ...]] = {
    "SessionStart": _ALL_SLOTS,
    "UserPromptSubmit": _ALL_SLOTS,
    "PreToolUse": _ALL_SLOTS,
    "PostToolUse": _ALL_SLOTS,
    "Stop": ("system_tail", "user_prefix", "user_suffix"),
}
FIELDS_BY_EVENT: Mapping[str, tuple[str, ...]] = {
    "SessionStart": ("context",),
    "UserPromptSubmit": ("comment", "context"),
    "PreToolUse": ("comment", "argument", "context"),
    "PostToolUse": ("comment", "argument", "result", "context"),
    "Stop": ("comment", "reply", "context"),
}
TOOL_EVENTS = ("PreToolUse", "PostToolUse")


def check_hooks(spec: HarnessSpec, catalogue: OperationCatalogue) -> Iterator[Finding]:
    """Every hook by itself; how hooks get in one another's way is `check_loops`."""
    tool_ids = {tool.id for tool in spec.tools}
    for hook in spec.hooks:
        place = Place("hook", hook.id)
        yield from _matcher(place, hook, tool_ids)
        yield from _action(place, hook, spec.runtime.max_revisions)
        operations = matched_operations(hook, spec, catalogue)
        for index, condition in enumerate(hook.when):
            yield from _condition(place, f"when[{index}]", hook, condition, operations)
        if isinstance(hook.action, RewriteInput):
            yield from _rewrite(place, hook.action, operations)
        elif isinstance(hook.action, ReplaceOutput):
            yield from _replace(place, hook.action, operations)


def matched_operations(hook: Hook, spec: HarnessSpec, catalogue: OperationCatalogue) -> tuple[OperationSpec, ...]:
    """The operations behind the tools that a hook matches (all tools without a matcher), by name."""
    names = {
        case.operation
        for tool in spec.tools
        if tool.binding is not None and (not hook.matcher or tool.id in hook.matcher)
        for case in tool.binding.cases
    }
    return tuple(catalogue[name] for name in sorted(names) if name in catalogue)


def _matcher(place: Place, hook: Hook, tool_ids: set[str]) -> Iterator[Finding]:
    for index, tool_id in enumerate(hook.matcher):
        if tool_id not in tool_ids:
            yield place.error(
                "unknown_tool_id",
                f"matcher[{index}]",
                f'There is no tool with the id "{tool_id}".',
                f"Use tool ids (not names): {listed(tool_ids)}.",
            )
    if hook.matcher and hook.event not in TOOL_EVENTS:
        yield place.warning(
            "matcher_unused",
            "matcher",
            f"At {hook.event} there is no tool call: the matcher does nothing.",
            f"Remove it, or use one of the events {', '.join(TOOL_EVENTS)}.",
        )


def _action(place: Place, hook: Hook, max_revisions: int) -> Iterator[Finding]:
    action = hook.action
    allowed = ACTIONS_BY_EVENT[hook.event]
    if action.type not in allowed:
        events = [event for event, actions in ACTIONS_BY_EVENT.items() if action.type in actions]
        yield place.error(
            "action_not_allowed",
            "action.type",
            f"{action.type} cannot be done at {hook.event}.",
            f"Use one of {', '.join(allowed)} there, or another event: {', '.join(events)}.",
        )
    elif isinstance(action, AddContext) and action.slot not in SLOTS_BY_EVENT[hook.event]:
        yield place.error(
            "slot_not_allowed",
            "action.slot",
            f"At {hook.event} no text can be put into the slot {action.slot}.",
            f"Use one of: {', '.join(SLOTS_BY_EVENT[hook.event])}.",
        )
    if isinstance(action, CheckReply):
        yield from _check_reply(place, action, max_revisions)


def _check_reply(place: Place, action: CheckReply, max_revisions: int) -> Iterator[Finding]:
    if action.on_violation == "revise" and not action.message.strip():
        yield place.error(
            "revise_without_message",
            "action.message",
            "The model is asked to revise its reply, but not told how.",
            "Say in a message what has to change.",
        )
    if action.on_violation == "revise" and max_revisions == 0:
        yield place.warning(
            "revise_never",
            "action.on_violation",
            "max_revisions is 0: instead of a revision the fallback reply is sent.",
            "Raise max_revisions in the runtime settings, or use block.",
        )
    if action.on_violation == "replace" and not action.replacement.strip():
        yield place.error(
            "replace_without_replacement",
            "action.replacement",
            "The reply is to be replaced, but by nothing.",
            "Write the text that is sent instead.",
        )


def _condition(
    place: Place, where: str, hook: Hook, condition: Condition, operations: tuple[OperationSpec, ...]
) -> Iterator[Finding]:
    if condition.field not in FIELDS_BY_EVENT[hook.event]:
        yield place.error(
            "condition_field_unavailable",
            f"{where}.field",
            f"At {hook.event} there is no {condition.field} to look at.",
            f"Use one of: {', '.join(FIELDS_BY_EVENT[hook.event])}.",
        )
        return
    yield from _condition_values(place, where, condition)
    needs_path = condition.field in ("argument", "result", "context")
    if needs_path and condition.path is None:
        yield place.error(
            "condition_path_missing",
            f"{where}.path",
            f"The condition does not say which {condition.field} it means.",
            "Give the path to it, in the operation's own names.",
        )
    elif not needs_path and condition.path is not None:
        yield place.error(
            "condition_path_unused",
            f"{where}.path",
            f"A {condition.field} is a text: it has no path.",
            "Remove the path.",
        )
    elif condition.path is not None and not _is_declared(condition, operations):
        yield place.error(
            "condition_unknown_field",
            f"{where}.path",
            f'There is no {condition.field} "{dotted(condition.path)}" here, so the condition never sees a value.',
            f"Use one of: {listed(_choices(condition, operations))}.",
        )


def _condition_values(place: Place, where: str, condition: Condition) -> Iterator[Finding]:
    op, values = condition.op, condition.values
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if op in ("exists", "missing"):
        found, wanted = bool(values), "no values"
    elif op in ("above", "below"):
        found, wanted = len(values) != 1 or len(numbers) != 1, "exactly one number"
    elif op in ("contains_any", "contains_none"):
        is_text = all(isinstance(value, str) and value for value in values)
        found, wanted = not values or not is_text, "one or more texts that are not empty"
    else:
        found, wanted = not values, "one or more values"
    if found:
        yield place.error(
            "condition_values",
            f"{where}.values",
            f"{op} takes {wanted}, not {shown(list(values))}.",
            "Correct the values.",
        )


def _is_declared(condition: Condition, operations: tuple[OperationSpec, ...]) -> bool:
    assert condition.path is not None
    if condition.field == "context":
        return schema_at(CONTEXT_SCHEMA, condition.path, through_lists=True) is not None
    for operation in operations:
        schema = operation.input_schema if condition.field == "argument" else operation.output_schema
        known = resolved(schema, schema) or {}
        if condition.path[0] in known.get("properties", {}):
            return True
    return False


def _choices(condition: Condition, operations: tuple[OperationSpec, ...]) -> set[str]:
    if condition.field == "context":
        return set(CONTEXT_SCHEMA["properties"])
    schemas = [item.input_schema if condition.field == "argument" else item.output_schema for item in operations]
    return {key for schema in schemas for key in schema.get("properties", {})}


def _rewrite(place: Place, action: RewriteInput, operations: tuple[OperationSpec, ...]) -> Iterator[Finding]:
    if not action.set:
        yield place.error("empty_action", "action.set", "The action sets nothing.", "Say which arguments to set.")
    for name, value in sorted(action.set.items()):
        field = f"action.set.{name}"
        strangers = [operation.name for operation in operations if name not in operation.argument_names]
        if strangers or not operations:
            yield place.error(
                "rewrite_unknown_argument",
                field,
                f'"{name}" is no argument of {listed(strangers) if strangers else "any operation behind the tools"}.',
                "Use the operation's own argument names, and a matcher for the tools that have them.",
            )
        for operation in operations:
            schema = operation.input_schema.get("properties", {}).get(name)
            if schema is not None:
                yield from check_value(place, "rewrite_mismatch", field, value, schema, operation.input_schema)


def _replace(place: Place, action: ReplaceOutput, operations: tuple[OperationSpec, ...]) -> Iterator[Finding]:
    if not action.set and not action.drop:
        yield place.error("empty_action", "action.set", "The action changes nothing.", "Say what to set or drop.")
    known = {key for operation in operations for key in operation.output_schema.get("properties", {})}
    named = [(f"action.set.{name}", name) for name in sorted(action.set)]
    named += [(f"action.drop[{index}]", name) for index, name in enumerate(action.drop)]
    for field, name in named:
        if name not in known:
            yield place.error(
                "replace_unknown_field",
                field,
                f'No result of the operations behind the tools has a field "{name}".',
                f"Use the operation's own names: {listed(known)}.",
            )
