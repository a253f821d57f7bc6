"""States and specs in words: labels, tones and sentences that templates show. No database, no HTML.

A *tone* is one of ok, warn, bad, info, leather, mute; the style sheet gives each a colour, and the label says the same in text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    Condition,
    Deny,
    EpochConversion,
    HarnessSpec,
    Hook,
    RecodePair,
    ReplaceOutput,
    ResultMap,
    RewriteInput,
    ScaleConversion,
    TextConversion,
    Tool,
)


@dataclass(frozen=True)
class Badge:
    """A short state in text and tone. `hint` is shown on hover."""

    label: str
    tone: str = "mute"
    hint: str = ""


_DEPLOYMENT = {
    "starting": Badge("Starting", "info", "The engine process is up and loads the model."),
    "healthy": Badge("Healthy", "ok", "The last probe got an answer."),
    "degraded": Badge("Degraded", "warn", "The engine answers, but slowly or with errors."),
    "stopped": Badge("Stopped", "mute", "No engine runs."),
    "failed": Badge("Failed", "bad", "The engine could not be started or went away."),
}
_SEVERITY = {
    "error": Badge("Error", "bad", "The harness cannot run until this is mended."),
    "warning": Badge("Warning", "warn", "It runs, but probably not as meant."),
    "info": Badge("Note", "info"),
}
_STOP = {
    "reply": Badge("Replied", "ok", "The model replied and every hook let it pass."),
    "blocked": Badge("Blocked by a hook", "warn", "A hook refused the comment or the reply."),
    "round_limit": Badge("Too many tool rounds", "bad", "The model kept calling tools; the fallback was sent."),
    "revision_limit": Badge(
        "Reply not mended", "bad", "The model did not mend its reply in time; the fallback was sent."
    ),
    "deadline": Badge("Out of time", "bad", "The turn's deadline passed; the fallback was sent."),
    "context_overflow": Badge(
        "Prompt too long", "bad", "The prompt no longer fits the context; the fallback was sent."
    ),
    "empty_reply": Badge("Empty reply", "bad", "The model wrote nothing; the fallback was sent."),
    "engine_error": Badge("Engine error", "bad", "The engine gave no usable answer; the fallback was sent."),
    "harness_error": Badge(
        "Harness error", "bad", "The harness could not be rendered or applied; the fallback was sent."
    ),
}
_CALL = {
    "ok": Badge("OK", "ok"),
    "invalid": Badge("Not understood", "warn", "The model wrote a call that could not be used, and was told so."),
    "denied": Badge("Denied by a hook", "warn"),
    "failed": Badge("Failed", "bad", "The operation refused or broke."),
}
_PRESERVATION = {
    "preserving": Badge("Preserving", "ok", "The same operations stay reachable with the same meaning."),
    "not_preserving": Badge("Not preserving", "bad", "What the harness can do, or must do, changes."),
    "unknown": Badge("Unknown", "warn", "It cannot be told from the structure whether the meaning stays."),
}
_SKILL_RISK = {
    "low": Badge("Low risk", "mute"),
    "medium": Badge("Medium risk", "warn"),
    "high": Badge("High risk", "bad"),
}

BOUNDARIES = {
    "model": "What the model wrote",
    "harness": "The harness itself",
    "operation": "An operation refused",
    "platform": "Engine or tool back end",
}


def _badge(table: dict[str, Badge], value: str) -> Badge:
    return table.get(value) or Badge(value.replace("_", " ").capitalize() or "Unknown")


def deployment_badge(state: str) -> Badge:
    return _badge(_DEPLOYMENT, state)


def severity_badge(severity: str) -> Badge:
    return _badge(_SEVERITY, severity)


def stop_badge(stop_reason: str) -> Badge:
    return _badge(_STOP, stop_reason)


def call_badge(status: str) -> Badge:
    return _badge(_CALL, status)


def preservation_badge(preservation: str) -> Badge:
    return _badge(_PRESERVATION, preservation)


def skill_risk_badge(risk: str) -> Badge:
    return _badge(_SKILL_RISK, risk)


def json_text(value: JsonValue, *, indent: int | None = 2) -> str:
    """A JSON value as people read it; text stays text."""
    return value if isinstance(value, str) else json.dumps(value, indent=indent, ensure_ascii=False, default=str)


def milliseconds(value: float | None) -> str:
    """A duration with its unit: 0.8 ms, 41 ms, 1.52 s."""
    if value is None:
        return "not told"
    if value < 10:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.2f} s"


def size(value: int | None) -> str:
    """Bytes with a unit: 512 B, 1.4 MB."""
    amount = float(value or 0)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


# --- tools: what the model sees, and what it is bound to --------------------------------------------------------------


@dataclass(frozen=True)
class ParameterRow:
    """One parameter of a tool as the model sees it."""

    name: str
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class BindingRow:
    """One operation argument: where it comes from and what happens on the way."""

    argument: str
    source: str
    notes: str


@dataclass(frozen=True)
class BindingCaseView:
    """One operation behind a tool."""

    operation: str
    condition: str
    rows: tuple[BindingRow, ...]
    result_notes: tuple[str, ...]


@dataclass(frozen=True)
class ToolView:
    """A tool, its parameters in reading order, and its binding in words."""

    tool: Tool
    parameters: tuple[ParameterRow, ...]
    cases: tuple[BindingCaseView, ...]
    extra: tuple[str, ...]


def tool_view(tool: Tool) -> ToolView:
    binding = tool.binding
    cases = tuple(_case_view(case, binding.switch) for case in binding.cases) if binding else ()
    extra: list[str] = []
    if binding:
        extra += [f"{_path(item.path)} must be {_quoted(item.value)}" for item in binding.surface_constants]
        extra += [f"{_path(path)} is accepted and not used" for path in binding.ignored]
    return ToolView(tool, parameter_rows(tool), cases, tuple(extra))


def parameter_rows(tool: Tool) -> tuple[ParameterRow, ...]:
    """The tool's top-level parameters in the order in which the model reads them."""
    properties = tool.input_schema.get("properties")
    if not isinstance(properties, dict):
        return ()
    required = _strings(tool.input_schema.get("required"))
    listed = [*tool.parameter_order, *required, *sorted(properties)]
    names = [name for name in dict.fromkeys(listed) if name in properties]
    return tuple(
        ParameterRow(name, schema_type(properties[name]), name in required, _description(properties[name]))
        for name in names
    )


def schema_type(schema: JsonValue) -> str:
    """A JSON Schema in a few words: `string`, `one of: a, b`, `list of string`, `object (2 keys)`."""
    if not isinstance(schema, dict):
        return "anything"
    if "const" in schema:
        return f"always {_quoted(schema['const'])}"
    if isinstance(schema.get("enum"), list):
        return "one of: " + ", ".join(json_text(item, indent=None) for item in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {schema_type(schema.get('items'))}"
    if kind == "object" and isinstance(schema.get("properties"), dict):
        inner = ", ".join(f"{name}: {schema_type(item)}" for name, item in schema["properties"].items())
        return f"object {{{inner}}}"
    return " or ".join(_strings(kind)) if isinstance(kind, list) else str(kind or "anything")


def _case_view(case: BindingCase, switch: tuple[str, ...] | None) -> BindingCaseView:
    rows = [_argument_row(item) for item in case.arguments]
    rows += [BindingRow(name, f"always {_quoted(value)}", "set by the tool") for name, value in case.constants.items()]
    condition = f"when {_path(switch)} is {_quoted(case.when)}" if switch else ""
    return BindingCaseView(case.operation, condition, tuple(rows), tuple(_result_notes(case.result)))


def _argument_row(item: ArgumentMap) -> BindingRow:
    notes = [note for note in (_recode(item.recode), _conversion(item.conversion)) if note]
    if item.default is not None:
        notes.append(f"{_quoted(item.default)} if left out")
    return BindingRow(item.argument, _path(item.path), "; ".join(notes))


def _result_notes(result: ResultMap) -> list[str]:
    notes = []
    for item in result.fields:
        changes = [
            "hidden from the model" if item.is_hidden else "",
            f"shown as {item.name}" if item.name else "",
            _recode(item.recode),
            _conversion(item.conversion),
        ]
        if any(changes):
            notes.append(f"{_path(item.path)} {', '.join(change for change in changes if change)}")
    if result.wrap:
        notes.append(f"inside {' › '.join(result.wrap)}")
    if result.format != "json":
        notes.append(f"written as {result.format}")
    return notes


def _recode(pairs: tuple[RecodePair, ...]) -> str:
    return ", ".join(f"{_quoted(pair.surface)} means {_quoted(pair.operation)}" for pair in pairs)


def _conversion(item: ScaleConversion | TextConversion | EpochConversion | None) -> str:
    match item:
        case ScaleConversion():
            return f"multiplied by {item.factor}"
        case TextConversion():
            return "number written as text"
        case EpochConversion():
            return "time as Unix seconds"
        case _:
            return ""


# --- hooks as sentences ----------------------------------------------------------------------------------------------

_EVENTS = {
    "SessionStart": "a session starts",
    "UserPromptSubmit": "a viewer's comment arrives",
    "PreToolUse": "{tools} is about to be called",
    "PostToolUse": "{tools} has given a result",
    "Stop": "the reply is ready",
}
_FIELDS = {
    "comment": "the comment",
    "reply": "the reply",
    "argument": "the argument",
    "result": "the result's",
    "context": "the room's",
}
_OPERATORS = {
    "contains_any": "contains",
    "contains_none": "contains none of",
    "equals_any": "is",
    "equals_none": "is not",
    "above": "is above",
    "below": "is below",
    "exists": "is there",
    "missing": "is missing",
}
_SLOTS = {
    "system_tail": "at the end of the system prompt",
    "user_prefix": "before the comment",
    "user_suffix": "after the comment",
    "tool_result_suffix": "after the tool's result",
}


@dataclass(frozen=True)
class HookView:
    """A hook as a sentence in two halves."""

    hook: Hook
    when: str
    then: str


def hook_view(hook: Hook, spec: HarnessSpec) -> HookView:
    tools = [tool.name if (tool := spec.tool(tool_id)) else tool_id for tool_id in hook.matcher]
    when = _EVENTS[hook.event].format(tools=" or ".join(tools) or "any tool")
    for condition in hook.when:
        when += f" and {_condition(condition)}"
    return HookView(hook, when, _then(hook.action))


def _condition(item: Condition) -> str:
    subject = _FIELDS[item.field] + (f" {_path(item.path)}" if item.path else "")
    values = " or ".join(_quoted(value) for value in item.values)
    return f"{subject} {_OPERATORS[item.op]} {values}".strip()


def _then(action: AddContext | Deny | RewriteInput | ReplaceOutput | CheckReply) -> str:
    match action:
        case AddContext():
            return f"add {_quoted(action.text)} {_SLOTS[action.slot]}"
        case Deny():
            return f"refuse, and say {_quoted(action.reason)}"
        case RewriteInput():
            return "set " + ", ".join(f"{key} to {_quoted(value)}" for key, value in action.set.items())
        case ReplaceOutput():
            parts = [f"show {key} as {_quoted(value)}" for key, value in action.set.items()]
            return ", ".join([*parts, *(f"hide {key}" for key in action.drop)]) or "leave the result as it is"
        case CheckReply():
            return _check_reply(action)


def _check_reply(action: CheckReply) -> str:
    phrases = " or ".join(_quoted(phrase) for phrase in action.phrases)
    rule = f"require {phrases} in it" if action.mode == "require" else f"forbid {phrases} in it"
    outcome = {
        "block": "otherwise send the fallback reply",
        "replace": f"otherwise send {_quoted(action.replacement)}",
        "revise": f"otherwise ask the model to revise: {_quoted(action.message)}",
    }
    return f"{rule}; {outcome[action.on_violation]}"


def _path(path: tuple[str, ...] | None) -> str:
    return ".".join(path or ())


def _quoted(value: JsonValue) -> str:
    return f"“{value}”" if isinstance(value, str) else json_text(value, indent=None)


def _strings(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _description(schema: JsonValue) -> str:
    return str(schema.get("description", "")) if isinstance(schema, dict) else ""


def flat_pairs(value: JsonValue) -> list[tuple[str, str]]:
    """The arguments of a call as rows to show; nested values stay JSON."""
    if not isinstance(value, dict):
        return [] if value is None else [("value", json_text(value, indent=None))]
    return [(str(key), json_text(item, indent=None)) for key, item in value.items()]


def runtime_rows(settings: Any) -> list[tuple[str, str]]:
    """The runtime settings as label and value, units included."""
    document: JsonObject = settings.model_dump(mode="json")
    units = {"deadline_ms": "ms", "max_reply_tokens": "tokens", "context_budget_tokens": "tokens"}
    rows = []
    for key, value in document.items():
        unit = units.get(key, "")
        label = key.removesuffix("_ms").removesuffix("_tokens") if unit else key
        text = f"{value:,} {unit}" if unit else str(value)
        rows.append((label.replace("_", " ").capitalize(), text))
    return rows
