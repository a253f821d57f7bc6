"""Mends of hooks, of the tools that skills and hooks name, and of the runtime settings that shut something out."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.checks_hooks import ACTIONS_BY_EVENT, SLOTS_BY_EVENT, matched_operations
from harnesses.core.fieldpaths import format_path
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.mends.basis import Case, Mend, close, short
from harnesses.core.mends.names import loader_name
from harnesses.core.mends.values import fitting
from harnesses.core.schemas import resolved, shown
from harnesses.core.spec import CheckReply, ReplaceOutput, RewriteInput, RuntimeSettings
from harnesses.core.templates import CONTEXT_SCHEMA


def unknown_tool(case: Case) -> Iterator[Mend]:
    """The tool that was meant (by name or nearly by id); else the entry goes, unless a hook would then watch every tool."""
    component, wanted = case.component(), str(case.value())
    if component is None:
        return
    field = "matcher" if case.finding.component_kind == "hook" else "allowed_tools"
    listed = getattr(component, field)
    named = case.spec.tool_named(wanted)
    ids = [tool.id for tool in case.spec.tools if tool.id not in listed]
    match = named.id if named is not None and named.id in ids else close(wanted, ids)
    if match:
        yield Mend(f"Use {short(match)}", (case.put({case.finding.field: match}),))
    if field == "allowed_tools" or len(listed) > 1:
        yield Mend(f"Take {short(wanted)} out", (case.drop(case.finding.field),))


def matcher_unused(case: Case) -> Iterator[Mend]:
    if case.hook() is not None:
        yield Mend("Remove the tools watched", (case.set(matcher=[]),))


def other_event(case: Case) -> Iterator[Mend]:
    """The only event at which the action can be done."""
    hook = case.hook()
    if hook is not None:
        events = [event for event, actions in ACTIONS_BY_EVENT.items() if hook.action.type in actions]
        for event in events:
            yield Mend(f"Do it at {event}", (case.set(event=event),))


def other_slot(case: Case) -> Iterator[Mend]:
    hook = case.hook()
    if hook is not None:
        for slot in ("user_suffix", *SLOTS_BY_EVENT[hook.event]):
            if slot in SLOTS_BY_EVENT[hook.event]:
                words = {"user_suffix": "after the comment", "user_prefix": "before the comment"}
                yield Mend(f"Put it {words.get(slot, slot)}", (case.put({"action.slot": slot}),))


def revision_message(case: Case) -> Iterator[Mend]:
    """What the model is told follows from the rule itself."""
    hook = case.hook()
    if hook is not None and isinstance(hook.action, CheckReply):
        phrases = " or ".join(f'"{phrase}"' for phrase in hook.action.phrases)
        rule = "It must not say" if hook.action.mode == "forbid" else "It must say"
        yield Mend("Tell it the rule", (case.put({"action.message": f"Write the reply again. {rule} {phrases}."}),))


def allow_revision(case: Case) -> Iterator[Mend]:
    fields = {"max_revisions": RuntimeSettings().max_revisions}
    yield Mend("Allow one revision", ({"op": "set", "kind": "runtime", "id": "runtime", "fields": fields},))


def block_instead(case: Case) -> Iterator[Mend]:
    if case.hook() is not None:
        yield Mend("Send the fallback reply", (case.put({"action.on_violation": "block"}),))


def path_unused(case: Case) -> Iterator[Mend]:
    if case.hook() is not None:
        yield Mend("Remove the path", (case.drop(case.finding.field),))


def condition_field(case: Case) -> Iterator[Mend]:
    """The declared field that was meant."""
    hook = case.hook()
    value = case.value()
    if hook is None or not isinstance(value, list) or not value:
        return
    source = case.value((*case.path[:-1], "field"))
    if source == "context":
        known = set(CONTEXT_SCHEMA["properties"])
    else:
        operations = matched_operations(hook, case.spec, case.catalogue)
        schemas = [item.input_schema if source == "argument" else item.output_schema for item in operations]
        known = {key for schema in schemas for key in schema.get("properties", {})}
    if match := close(str(value[0]), sorted(known)):
        yield Mend(f"Use {short(match)}", (case.put({case.finding.field: [match, *value[1:]]}),))


def condition_values(case: Case) -> Iterator[Mend]:
    """Values of a form that the comparison takes, made of those that are there."""
    op, values = case.value((*case.path[:-1], "op")), case.value()
    if case.hook() is None or not isinstance(values, list):
        return
    if op in ("exists", "missing"):
        yield Mend("Remove the values", (case.put({case.finding.field: []}),))
    elif op in ("contains_any", "contains_none"):
        texts = [value if isinstance(value, str) else shown(value) for value in values]
        kept = [text for text in texts if text.strip()]
        if kept:
            yield Mend("Keep what is text", (case.put({case.finding.field: kept}),))
    elif op in ("above", "below"):
        numbers = [number for value in values for number in _numbers(value)]
        if len(set(numbers)) == 1:
            yield Mend(f"Use {short(shown(numbers[0]))}", (case.put({case.finding.field: numbers[:1]}),))


def _numbers(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, str):
        return fitting(value, {"type": "number"}, {})
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def without_effect(case: Case) -> Iterator[Mend]:
    if case.hook() is not None:
        yield Mend("Remove the hook", (case.remove(),))


def rewritten_argument(case: Case) -> Iterator[Mend]:
    """The operation argument that was meant, or the hook watches only the tools that have it, or it is not set."""
    hook = case.hook()
    if hook is None or not isinstance(hook.action, RewriteInput):
        return
    name = str(case.path[2])
    operations = matched_operations(hook, case.spec, case.catalogue)
    common = set.intersection(*(set(item.argument_names) for item in operations)) if operations else set()
    if match := close(name, sorted(common - set(hook.action.set))):
        changed = {match if key == name else key: value for key, value in hook.action.set.items()}
        yield Mend(f"Set {short(match)}", (case.put({"action.set": changed}),))
    having = [
        tool.id
        for tool in case.spec.tools
        if (not hook.matcher or tool.id in hook.matcher) and tool.binding is not None
        and all(
            item.operation in case.catalogue and name in case.catalogue[item.operation].argument_names
            for item in tool.binding.cases
        )
    ]  # fmt: skip
    if having:
        yield Mend(f"Watch only {short(', '.join(having))}", (case.set(matcher=having),))
    if len(hook.action.set) > 1:
        yield Mend(f"Do not set {short(name)}", (case.drop(case.finding.field),))


def rewritten_value(case: Case) -> Iterator[Mend]:
    hook = case.hook()
    if hook is None:
        return
    name = case.path[2]
    for operation in matched_operations(hook, case.spec, case.catalogue):
        root: JsonObject = operation.input_schema
        schema = resolved(root.get("properties", {}).get(name), root)
        for option in fitting(case.value(), schema, root) if schema else ():
            yield Mend(f"Use {short(shown(option))}", (case.put({case.finding.field: option}),))


def replaced_field(case: Case) -> Iterator[Mend]:
    """The result field that was meant, or it is left alone."""
    hook = case.hook()
    if hook is None or not isinstance(hook.action, ReplaceOutput):
        return
    operations = matched_operations(hook, case.spec, case.catalogue)
    known = {key for operation in operations for key in operation.output_schema.get("properties", {})}
    taken = {*hook.action.set, *hook.action.drop}
    is_set = case.path[1] == "set"
    name = str(case.path[2]) if is_set else str(case.value())
    if match := close(name, sorted(known - taken)):
        if is_set:
            changed = {match if key == name else key: value for key, value in hook.action.set.items()}
            yield Mend(f"Use {short(match)}", (case.put({"action.set": changed}),))
        else:
            yield Mend(f"Use {short(match)}", (case.put({case.finding.field: match}),))
    if len(taken) > 1:
        yield Mend(f"Leave {short(name)} out", (case.drop(format_path(case.path)),))


# --- skills and runtime ------------------------------------------------------------------------------------------------


def allow_rounds(case: Case) -> Iterator[Mend]:
    rounds = RuntimeSettings().max_tool_rounds
    edit = {"op": "set", "kind": "runtime", "id": "runtime", "fields": {"max_tool_rounds": rounds}}
    yield Mend(f"Allow {rounds} rounds", (edit,))


def unreachable(case: Case) -> Iterator[Mend]:
    """The runtime setting that keeps the skill from being loaded."""
    if case.spec.runtime.max_tool_rounds == 0:
        yield from allow_rounds(case)
    elif "a tool has the name" in case.finding.message:
        yield from loader_name(case)
