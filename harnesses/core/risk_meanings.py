"""Traps in changes after which the same calls can be made: words that mean something else now, and guards that were left behind.

What the platform can be asked for stays the same after these changes, but the model, or a text that nobody edited, may go by what
a name, a label or a number meant before. Whether it does, only a person or an evaluation can tell.
"""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.changes import Change
from harnesses.core.jsonvalues import JsonValue, canonical_json
from harnesses.core.operations import OperationCatalogue
from harnesses.core.reach import tool_doors
from harnesses.core.schemas import same_json, schema_at, shown
from harnesses.core.spec import BindingCase, HarnessSpec, Hook, ResultField, Tool

_PARAMETER = "input_schema.properties."
_RESULT = ".result.fields."
_UNTOLD = (
    "The number means another unit than before, and neither its name nor a description says so. The model goes on as if nothing "
    "had changed: name the unit."
)


def tool_name_taken(change: Change, old: HarnessSpec) -> str:
    """Why a renamed tool may be taken for another one, whose name it took over; empty where it took over none."""
    if not any(tool.name == change.after and tool.id != change.component_id for tool in old.tools):
        return ""
    return (
        f"{shown(change.after)} was the name of another tool before: texts and habits that mean that one now lead here."
    )


def meaning_changed(change: Change, old: Tool, new: Tool) -> str:
    """Why a name, label or number in a tool means something else than before; empty where none does."""
    last = change.field.rsplit(".", 1)[-1]
    if change.action == "renamed":
        return _key_taken(change, old)
    if last == "recode":
        return _label_taken(change)
    if last == "when":
        return _switch_value_taken(change, old)
    if last == "conversion":
        return _unit_untold(change, old, new)
    return ""


def guard_left_behind(old: HarnessSpec, new: HarnessSpec, tool_id: str, catalogue: OperationCatalogue) -> str:
    """Why a tool can now do what a hook that enforces a rule watches in other tools only; empty where there is no such hook."""
    came = _operations(new.tool(tool_id), catalogue) - _operations(old.tool(tool_id), catalogue)
    kept = {hook.id: hook for hook in new.hooks}
    for hook in old.hooks:
        now = kept.get(hook.id)
        if now is None or not _watches_some(hook) or not _watches_some(now) or tool_id in now.matcher:
            continue
        watched = {name for item in now.matcher for name in _operations(old.tool(item), catalogue)}
        for operation in sorted(came & watched):
            return (
                f'The hook "{hook.name}" enforces a rule on "{catalogue[operation].title or operation}" in other tools, and '
                "does not watch this one: let it watch this tool too."
            )
    return ""


def _watches_some(hook: Hook) -> bool:
    return bool(hook.matcher) and hook.action.type != "add_context"


def _operations(tool: Tool | None, catalogue: OperationCatalogue) -> set[str]:
    return {door.operation for door in tool_doors(tool, catalogue)}


def _key_taken(change: Change, old: Tool) -> str:
    name = str(change.after)
    if change.field.startswith(_PARAMETER):
        path = tuple(change.field.removeprefix(_PARAMETER).split(".properties."))
        is_taken = schema_at(old.input_schema, path) is not None
    else:
        prefix = change.field.partition(_RESULT)[0]
        case = next((item for item in _cases(old) if f"binding.cases.{item.operation}" == prefix), None)
        own = change.field.partition(_RESULT)[2]
        is_taken = case is not None and any(
            _shown_key(field) == name and ".".join(field.path) != own and not field.is_hidden
            for field in case.result.fields
        )
    return (
        f"{shown(name)} was the name of another value before: what is read or given under it now is not what it was."
        if is_taken
        else ""
    )


def _shown_key(field: ResultField) -> str:
    return ".".join((*field.path[:-1], field.name or field.path[-1]))


def _label_taken(change: Change) -> str:
    before, after = _meanings(change.before, change.after), _meanings(change.after, change.before)
    for label, (shown_as, operation) in after.items():
        meant = before.get(label)
        if meant is not None and not same_json(meant[1], operation):
            return f"The label {shown(shown_as)} meant {shown(meant[1])} before, and means {shown(operation)} now."
    return ""


def _meanings(recode: JsonValue, other: JsonValue) -> dict[str, tuple[JsonValue, JsonValue]]:
    """Label and value of the operation, by canonical label. Without a recoding the values are their own labels."""
    pairs = list(_pairs(recode)) or [(operation, operation) for _, operation in _pairs(other)]
    return {canonical_json(surface): (surface, operation) for surface, operation in pairs}


def _pairs(recode: JsonValue) -> Iterator[tuple[JsonValue, JsonValue]]:
    for pair in recode if isinstance(recode, list) else ():
        if isinstance(pair, dict):
            yield pair["surface"], pair["operation"]


def _switch_value_taken(change: Change, old: Tool) -> str:
    operation = change.field.removeprefix("binding.cases.").rsplit(".", 1)[0]
    value = canonical_json(change.after)
    if any(canonical_json(case.when) == value and case.operation != operation for case in _cases(old)):
        return f"The value {shown(change.after)} chose another operation before."
    return ""


def _unit_untold(change: Change, old: Tool, new: Tool) -> str:
    if _factor(change.before) == _factor(change.after) or old.description != new.description:
        return ""
    words = [_words_about(change.field, tool) for tool in (old, new)]
    return "" if words[0] != words[1] else _UNTOLD


def _factor(conversion: JsonValue) -> JsonValue:
    return conversion.get("factor") if isinstance(conversion, dict) else None


def _words_about(field: str, tool: Tool) -> tuple[JsonValue, ...]:
    """The key and the description by which the model knows a bound value."""
    for case in _cases(tool):
        prefix = f"binding.cases.{case.operation}."
        if not field.startswith(prefix):
            continue
        for item in case.result.fields:
            if field == f"{prefix}result.fields.{'.'.join(item.path)}.conversion":
                return (_shown_key(item),)
        for argument in case.arguments:
            if field == f"{prefix}arguments.{argument.argument}.conversion":
                schema = schema_at(tool.input_schema, argument.path) or {}
                return (".".join(argument.path), schema.get("description"), schema.get("title"))
    return ()


def _cases(tool: Tool) -> tuple[BindingCase, ...]:
    return tool.binding.cases if tool.binding else ()
