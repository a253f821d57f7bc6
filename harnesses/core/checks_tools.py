"""Checks of a tool's own schemas, and whether tools and skills can be reached at all."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.checks_bindings import check_binding, used_paths
from harnesses.core.checks_names import twin_key
from harnesses.core.findings import Finding, Place, listed
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCatalogue
from harnesses.core.schemas import broken_schema_reasons, dotted, leaf_paths, required_keys, resolved
from harnesses.core.spec import HarnessSpec, Tool

_SCARCE = 0.15
"""Share of the context budget below which what is left for the conversation is called scarce."""
_SCHEMA_MENDS = {
    "schema_invalid": "Correct it by JSON Schema 2020-12.",
    "schema_not_object": 'Write {"type": "object", "properties": {…}}.',
    "schema_remote_ref": 'Copy what is meant into "$defs" and point there with "#/$defs/…".',
    "schema_dangling_ref": 'Add the missing definition to "$defs", or correct the reference.',
    "schema_endless": "Remove the reference that leads back to itself.",
}


def check_tools(spec: HarnessSpec, catalogue: OperationCatalogue) -> Iterator[Finding]:
    """Schemas, parameter order and bindings of every tool; operations that no tool reaches."""
    for tool in spec.tools:
        yield from _tool(tool, catalogue)
    reached = {case.operation for tool in spec.tools if tool.binding for case in tool.binding.cases}
    for name in sorted(set(catalogue) - reached):
        yield Place("harness").info(
            "unreached_operation",
            "tools",
            f"No tool reaches the operation {name}.",
            "Bind a tool to it if this harness should be able to do that.",
        )


def _tool(tool: Tool, catalogue: OperationCatalogue) -> Iterator[Finding]:
    place = Place("tool", tool.id)
    is_broken = False
    for finding in _schema(place, "input_schema", tool.input_schema):
        is_broken = True
        yield finding
    if tool.output_schema is not None:
        yield from _schema(place, "output_schema", tool.output_schema)
    if is_broken:
        return
    yield from _parameters(place, tool)
    if tool.binding is None:
        yield place.warning(
            "unbound_tool",
            "binding",
            f'The tool "{tool.name}" is not connected to an operation; a call of it fails.',
            f"Bind it to one of: {listed(set(catalogue))}.",
        )
        return
    yield from check_binding(place, tool, tool.binding, catalogue)
    used = used_paths(tool.binding)
    for leaf in leaf_paths(tool.input_schema):
        if not any(leaf[: len(path)] == path or path[: len(leaf)] == leaf for path in used):
            yield place.warning(
                "unused_parameter",
                f"input_schema.{dotted(leaf)}",
                f'The parameter "{dotted(leaf)}" reaches no operation.',
                'Map it in the binding, list it under "ignored", or remove it.',
            )


def _schema(place: Place, field: str, schema: JsonObject) -> Iterator[Finding]:
    for code, reason in broken_schema_reasons(schema):
        yield place.error(code, field, f"The schema cannot be used: {reason}.", _SCHEMA_MENDS[code])


def _parameters(place: Place, tool: Tool) -> Iterator[Finding]:
    root = resolved(tool.input_schema, tool.input_schema) or {}
    known = root.get("properties", {})
    for index, name in enumerate(tool.parameter_order):
        field = f"parameter_order[{index}]"
        if name not in known:
            yield place.error(
                "parameter_order_unknown",
                field,
                f'There is no parameter "{name}".',
                f"Use the names of the schema: {listed(known)}.",
            )
        elif name in tool.parameter_order[:index]:
            yield place.error("parameter_order_repeats", field, f'"{name}" stands twice.', "Name each parameter once.")
    for name in required_keys(root):
        if name not in known:
            yield place.error(
                "required_unknown",
                "input_schema.required",
                f'"{name}" is required but not described under "properties".',
                "Describe it, or take it out of the required ones.",
            )


def check_skills(spec: HarnessSpec) -> Iterator[Finding]:
    """Tools that skills may use but do not exist, and skills that the model can never load."""
    known = {tool.id for tool in spec.tools}
    taken = any(twin_key(tool.name) == twin_key(spec.runtime.skill_tool_name) for tool in spec.tools)
    for skill in spec.skills:
        place = Place("skill", skill.id)
        for index, tool_id in enumerate(skill.allowed_tools):
            if tool_id not in known:
                yield place.error(
                    "unknown_tool_id",
                    f"allowed_tools[{index}]",
                    f'There is no tool with the id "{tool_id}".',
                    f"Use tool ids (not names): {listed(known)}.",
                )
        if spec.runtime.disclosure == "on_demand":
            reason = _unreachable(bool(skill.description.strip()), taken, spec.runtime.max_tool_rounds)
            if reason:
                yield place.error(
                    "unreachable_skill", "", f"The model can never load this skill: {reason[0]}.", reason[1]
                )


def _unreachable(has_description: bool, is_taken: bool, max_tool_rounds: int) -> tuple[str, str] | None:
    if max_tool_rounds == 0:
        return "max_tool_rounds is 0", "Allow at least one round, or set disclosure to inline."
    if is_taken:
        return "a tool has the name of the tool that loads skills", "Rename that tool, or change skill_tool_name."
    if not has_description:
        return "it has no description to choose it by", "Write a description, or set disclosure to inline."
    return None


def check_runtime(spec: HarnessSpec, prompt_tokens: int | None) -> Iterator[Finding]:
    """Limits that shut out tools, and a prompt that does not fit. `prompt_tokens`: by the tokenizer of the deployed model."""
    place, runtime = Place("runtime"), spec.runtime
    if spec.tools and runtime.max_tool_rounds == 0:
        yield place.warning(
            "tools_shut_out",
            "max_tool_rounds",
            "The harness has tools, but max_tool_rounds is 0: none can be called.",
            "Allow at least one round, or remove the tools.",
        )
    if prompt_tokens is None:
        return
    room = runtime.context_budget_tokens - runtime.max_reply_tokens - prompt_tokens
    sums = (
        f"The prompt takes {prompt_tokens:,} and a reply up to {runtime.max_reply_tokens:,} "
        f"of {runtime.context_budget_tokens:,} tokens"
    )
    mend = "Shorten sections, load skills on demand, or raise the budget if the model allows it."
    if room <= 0:
        yield place.error("prompt_over_budget", "context_budget_tokens", f"{sums}: no turn fits.", mend)
    elif room < runtime.context_budget_tokens * _SCARCE:
        left = f"{sums}: {room:,} are left for the conversation and the results of tools."
        yield place.warning("prompt_near_budget", "context_budget_tokens", left, mend)
