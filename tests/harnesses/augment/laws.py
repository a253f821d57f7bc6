"""The six laws of a transform, as checks of a variant against the harness it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harnesses.augment import Variant
from harnesses.augment.naming import is_speaking
from harnesses.augment.parameters import parameter_paths
from harnesses.augment.result_keys import result_places
from harnesses.core.bindings import (
    BindingError,
    normal_arguments,
    to_operation_call,
    to_operation_result,
    to_surface_call,
    to_surface_result,
)
from harnesses.core.editing.mentions import mention_pattern
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import Kind
from harnesses.core.operations import OperationCall, OperationCatalogue
from harnesses.core.risk import RiskReport, assess
from harnesses.core.risk_tools import ToolJudge
from harnesses.core.schemas import same_json
from harnesses.core.spec import HarnessSpec, Tool
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.core.validation import Severity, validate
from harnesses.runtime.hooks import wrapped
from harnesses.runtime.render import render_body, render_prompt


def assert_laws(spec: HarnessSpec, variant: Variant, catalogue: OperationCatalogue) -> RiskReport:
    """Laws 1 (but for replays), 2, 3 and 6, and that risk does not contradict. Returns what risk says."""
    assert_reach(spec, variant.spec, catalogue)
    assert_rules_kept(spec, variant.spec)
    assert_valid(spec, variant.spec, catalogue)
    assert leaks(spec, variant.spec, catalogue) == []
    assert unsolvable(spec, variant.spec) == []
    report = assess(spec, variant.spec, catalogue)
    against = [(item.headline, item.reason) for item in report.changes if item.preserving == "not_preserving"]
    assert against == []
    return report


# --- law 1: preserving -------------------------------------------------------------------------------------------------


def assert_reach(spec: HarnessSpec, other: HarnessSpec, catalogue: OperationCatalogue) -> None:
    """Exactly the same calls can be made, operation by operation, and the same fields of results are shown."""
    for name, difference in ToolJudge(spec, other, catalogue).reach.items():
        assert difference.is_none, name


def assert_rules_kept(spec: HarnessSpec, other: HarnessSpec) -> None:
    """What sets or enforces a rule, or is said to viewers, is word for word what it was, in the order in which it acts."""
    assert {item.id: item.body for item in spec.prompt if item.is_policy} == {
        item.id: item.body for item in other.prompt if item.is_policy
    }
    assert list(_enforcing(spec)) == list(_enforcing(other))
    assert spec.runtime == other.runtime.model_copy(update={"heading_style": spec.runtime.heading_style})
    assert [(item.id, item.calls) for item in spec.examples] == [(item.id, item.calls) for item in other.examples]


def _enforcing(spec: HarnessSpec) -> Iterator[tuple[object, ...]]:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        for hook in spec.hooks:
            if hook.event == event and hook.action.type != "add_context":
                quiet = {"reason": "", "message": ""} if hook.event != "UserPromptSubmit" else {}
                action = hook.action.model_copy(
                    update={key: value for key, value in quiet.items() if hasattr(hook.action, key)}
                )
                yield hook.id, event, hook.matcher, hook.when, action


def assert_same_call(spec: HarnessSpec, other: HarnessSpec, call: OperationCall) -> None:
    """The call is written otherwise and means the same; what cannot be called in one cannot be called in the other.

    Surface → operation → surface is the identity on both sides.
    """
    try:
        before = to_surface_call(spec, call)
    except BindingError:
        before = None
    if before is None:
        try:
            to_surface_call(other, call)
        except BindingError:
            return
        raise AssertionError(f"{call} could not be made before")
    after = to_surface_call(other, call)
    assert before.tool_id == after.tool_id
    tool = other.tool(after.tool_id)
    assert tool is not None
    back = to_operation_call(tool, after.arguments).call
    assert back.operation == call.operation
    assert same_json(back.arguments, call.arguments)
    assert same_json(normal_arguments(tool, after.arguments), after.arguments)


def assert_same_result(spec: HarnessSpec, other: HarnessSpec, operation: str, result: JsonObject) -> None:
    """Every tool shows the same values of a result as before, whatever their keys, and they can be read back."""
    for tool in spec.tools:
        twin = other.tool(tool.id)
        assert twin is not None
        for index, case in enumerate(tool.binding.cases if tool.binding else ()):
            if case.operation == operation:
                assert twin.binding is not None
                new_case = twin.binding.cases[index]
                before = to_operation_result(case, to_surface_result(case, result))
                after = to_operation_result(new_case, to_surface_result(new_case, result))
                assert same_json(before, after)


# --- law 2: valid ------------------------------------------------------------------------------------------------------


def assert_valid(spec: HarnessSpec, other: HarnessSpec, catalogue: OperationCatalogue) -> None:
    """No error that the harness did not have itself, and names that nobody takes for one another."""
    before = {(item.code, item.component_id, item.field) for item in _errors(spec, catalogue)}
    after = [item for item in _errors(other, catalogue) if (item.code, item.component_id, item.field) not in before]
    assert after == []


def _errors(spec: HarnessSpec, catalogue: OperationCatalogue):
    return [item for item in validate(spec, catalogue) if item.severity is Severity.ERROR]


# --- law 3: no leak ----------------------------------------------------------------------------------------------------


def surface_names(spec: HarnessSpec, catalogue: OperationCatalogue) -> dict[str, Kind]:
    """Every name that a model reads, with the kind that says what a mention of it looks like."""
    names: dict[str, Kind] = dict.fromkeys(result_places(spec, catalogue), "example")
    for tool in spec.tools:
        names |= {path[-1]: "example" for path, _ in parameter_paths(tool)}
    names |= {section.title: "prompt" for section in spec.prompt}
    names |= {hook.name: "hook" for hook in spec.hooks}
    names |= {skill.name: "skill" for skill in spec.skills}
    return names | {tool.name: "tool" for tool in spec.tools}


def leaks(spec: HarnessSpec, other: HarnessSpec, catalogue: OperationCatalogue) -> list[str]:
    """Names that were changed and still stand in what the model reads, and names of operations that came to it."""
    now = surface_names(other, catalogue)
    alive = set(now) | {str(value) for tool in other.tools for value in _values(tool.input_schema)}
    gone = {name: kind for name, kind in surface_names(spec, catalogue).items() if name and name not in alive}
    before, after = all_text(spec), all_text(other)
    found = [f"{name!r} in {_around(after, m)}" for name, kind in gone.items() if (m := _found(after, kind, name))]
    strange = [name for name in catalogue if _found(after, "tool", name) and not _found(before, "tool", name)]
    return found + strange


def _found(text: str, kind: Kind, name: str) -> re.Match[str] | None:
    return mention_pattern(kind, name).search(text)


def _around(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - 40) : match.end() + 40]


def all_text(spec: HarnessSpec) -> str:
    """All that a model can read of a harness: prompt and examples, bodies of skills, texts of hooks with their tags."""
    pieces = [message.content for message in render_prompt(spec, SAMPLE_CONTEXT).messages]
    pieces += [render_body(spec, skill.id, skill.body, SAMPLE_CONTEXT) for skill in spec.skills]
    for hook in spec.hooks:
        texts = [getattr(hook.action, field, "") for field in ("text", "reason", "message", "replacement")]
        filled = [render_body(spec, hook.id, text, SAMPLE_CONTEXT) for text in texts if text]
        pieces += [wrapped(text, getattr(hook.action, "wrapper", "none"), hook.name) for text in filled]
    return "\n\n".join(pieces)


def _values(schema: object) -> Iterator[object]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "enum":
                yield from value
            elif key in ("const", "default"):
                yield value
            else:
                yield from _values(value)


# --- law 6: solvable ---------------------------------------------------------------------------------------------------


def unsolvable(spec: HarnessSpec, other: HarnessSpec) -> list[str]:
    """Tools, parameters and values that had a cue, a speaking name or a description, and have none left."""
    found = []
    had = {tool.id: _cueless(tool) for tool in spec.tools}
    for tool in other.tools:
        if tool.id in had and len(_cueless(tool)) > len(had[tool.id]):
            found += [f"{tool.id}: {what}" for what in _cueless(tool)]
    return found


def _cueless(tool: Tool) -> list[str]:
    found = [] if is_speaking(tool.name) or tool.description or tool.title else [tool.name]
    for path, schema in parameter_paths(tool):
        description = schema.get("description")
        items = schema.get("items")
        values = schema.get("enum") or (items.get("enum") if isinstance(items, dict) else None) or []
        if not is_speaking(path[-1]) and not description and "properties" not in schema:
            found.append(".".join(path))
        if values and not description and not all(isinstance(value, str) and is_speaking(value) for value in values):
            found.append(f"values of {'.'.join(path)}")
    return found
