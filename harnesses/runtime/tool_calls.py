"""One tool call of a turn: from the parsed text through binding, hooks and operation to what the model reads back.

Every way a call can go wrong ends in a CallRecord and in words for the model; nothing is raised but the end of the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harnesses.core.bindings import BindingError, BoundCall, coerce_arguments, to_operation_call
from harnesses.core.caching import cached_by_identity
from harnesses.core.jsonvalues import JsonObject, canonical_json
from harnesses.core.operations import OperationCall, OperationError, OperationResult
from harnesses.core.parameters import parameter_names
from harnesses.core.schemas import schema_at
from harnesses.core.spec import HarnessSpec, Skill, Tool
from harnesses.core.templates import TemplateError
from harnesses.runtime.call_formats import ParsedCall
from harnesses.runtime.hooks import Additions, HookRunner, HookView
from harnesses.runtime.ports import Operations
from harnesses.runtime.recorder import TurnRecorder, TurnStopped
from harnesses.runtime.render import render_body
from harnesses.runtime.results import operation_error_text, shown_result
from harnesses.runtime.tool_documents import SKILL_ARGUMENT, skill_loader
from harnesses.runtime.trace import Action, CallRecord, StopReason, TraceError
from harnesses.runtime.wire_guard import guard_text, is_storable, storable_text

_logger = logging.getLogger(__name__)

WRITE_GRACE_S: Final = 0.5
"""How long past the deadline a write that has begun is waited for, so that its outcome is known."""
_MAX_NAMES_TOLD: Final = 30
_MAX_QUOTED_CHARS: Final = 80


@dataclass(frozen=True)
class ToolTable:
    """What the model can call, by name."""

    tools: Mapping[str, Tool]
    parameters: Mapping[str, tuple[str, ...]]
    skills: Mapping[str, Skill]
    loader: Tool | None

    def parameters_of(self, name: str) -> tuple[str, ...] | None:
        return self.parameters.get(name)


@cached_by_identity
def tool_table(spec: HarnessSpec) -> ToolTable:
    """The tools of a harness by the names the model uses, the skill loader included."""
    loader = skill_loader(spec)
    tools = {tool.name: tool for tool in reversed(spec.tools)}
    callable_tools = [*spec.tools, *((loader,) if loader else ())]
    return ToolTable(
        {tool.name: tools[tool.name] for tool in spec.tools},
        {tool.name: parameter_names(tool) for tool in callable_tools},
        {skill.name: skill for skill in spec.skills},
        loader,
    )


@dataclass(frozen=True)
class CallResponse:
    """What goes back to the model for one call."""

    name: str
    text: str
    additions: Additions = field(default_factory=Additions)


@dataclass
class _Draft:
    """A CallRecord on the way."""

    round: int
    raw: str
    tool_name: str
    started_ms: float
    fields: dict[str, Any] = field(default_factory=dict)


class CallRunner:
    """Runs the calls of one turn."""

    def __init__(
        self,
        spec: HarnessSpec,
        operations: Operations,
        hooks: HookRunner,
        recorder: TurnRecorder,
        *,
        comment: str,
        guarded_context: Mapping[str, Any],
    ) -> None:
        self._spec = spec
        self._operations = operations
        self._hooks = hooks
        self._recorder = recorder
        self._comment = comment
        self._context = guarded_context
        self._table = tool_table(spec)
        self._made: dict[str, int] = {}
        self.loaded_skills: list[str] = []

    async def run(self, call: ParsedCall, round_number: int) -> CallResponse:
        """Make one call. Raises TurnStopped (deadline, endless repetition, a hook that fails) after recording it."""
        if not is_storable([call.name, call.arguments]):
            error = "The call holds a control character or half a character. Leave it out."
            call = ParsedCall(call.raw, storable_text(call.name), error=error)
        draft = _Draft(round_number, call.raw, call.name, self._recorder.now_ms())
        draft.fields["surface_arguments"] = call.arguments
        self._recorder.emit("call_started", round=round_number, tool_name=call.name, surface_arguments=call.arguments)
        if self._recorder.remaining_s() <= 0:
            self._failed(draft, "platform", "deadline", "Not made: the time for this answer was over.")
            raise TurnStopped(StopReason.DEADLINE)
        try:
            return await self._dispatch(draft, call)
        except TemplateError as problem:
            self._failed(draft, "harness", problem.code, str(problem))
            raise TurnStopped(StopReason.HARNESS_ERROR) from problem

    async def _dispatch(self, draft: _Draft, call: ParsedCall) -> CallResponse:
        tool = self._table.tools.get(call.name)
        if call.error is not None or call.arguments is None:
            return self._invalid(draft, "unreadable_call", call.error or "The call cannot be read.", call.raw)
        if tool is not None:
            return await self._run_tool(draft, tool, call)
        if self._table.loader is not None and call.name == self._table.loader.name:
            return self._load_skill(draft, self._table.loader, call)
        names = ", ".join(list(self._table.parameters)[:_MAX_NAMES_TOLD]) or "none"
        return self._invalid(draft, "unknown_tool", f"There is no tool {_quoted(call.name)}. Tools: {names}.", call.raw)

    # --- tools ---------------------------------------------------------------------------------------------------------

    async def _run_tool(self, draft: _Draft, tool: Tool, call: ParsedCall) -> CallResponse:
        draft.fields["tool_id"] = tool.id
        try:
            bound = to_operation_call(tool, self._typed(tool, call))
        except BindingError as problem:
            if problem.code in ("unbound", "broken_schema"):
                return self._failed(draft, "harness", problem.code, problem.message)
            return self._invalid(draft, problem.code, problem.message, call.raw)
        draft.fields["operation"] = bound.call.operation
        before = self._hooks.run(
            "PreToolUse",
            HookView(
                self._context,
                self._comment,
                tool_id=tool.id,
                arguments=bound.call.arguments,
                round=draft.round,
            ),
        )
        arguments = before.arguments or {}
        draft.fields["operation_arguments"] = arguments
        if before.denial is not None:
            error = TraceError(boundary="harness", code="denied", message=before.denial, round=draft.round)
            self._record(draft, "denied", before.denial, error)
            return CallResponse(tool.name, f"ERROR {before.denial}", before.additions)
        repeated = self._repeated(draft, f"{bound.call.operation} {_key(arguments)}")
        if repeated is not None:
            repeated.additions.take_from(before.additions)
            return repeated
        response = await self._execute(
            draft, tool, BoundCall(OperationCall(bound.call.operation, arguments), bound.case)
        )
        before.additions.take_from(response.additions)
        return CallResponse(response.name, response.text, before.additions)

    def _typed(self, tool: Tool, call: ParsedCall) -> JsonObject:
        """Arguments with the types the tool's schema asks for, where the call format writes every value as text."""
        arguments = dict(call.arguments or {})
        if self._spec.runtime.call_format != "plain":
            return arguments
        for key, text in call.bare_texts.items():
            schema = schema_at(tool.input_schema, (key,))
            if schema is not None and schema.get("type") == "string":
                arguments[key] = text
        return coerce_arguments(tool, arguments)

    async def _execute(self, draft: _Draft, tool: Tool, bound: BoundCall) -> CallResponse:
        operation = self._operations.catalogue.get(bound.call.operation)
        if operation is None:
            message = f"{tool.name} is not available now. Answer without it."
            return self._failed(draft, "harness", "unknown_operation", message)
        draft.fields["effect"] = operation.effect
        started_ms = self._recorder.now_ms()
        result = await self._call_operation(bound.call, is_write=operation.effect == "write")
        self._recorder.operations_ms += self._recorder.now_ms() - started_ms
        if result is None:
            message = f"{tool.name} did not finish in time; whether it took effect is not known."
            self._failed(draft, "operation", "timeout", message)
            raise TurnStopped(StopReason.DEADLINE)
        if result.error is not None:
            boundary = "platform" if result.error.code == "unavailable" else "operation"
            return self._failed(draft, boundary, result.error.code, operation_error_text(bound.case, result.error))
        draft.fields["operation_result"] = result.value
        if operation.effect == "write":
            self._made.clear()
            call = bound.call
            self._recorder.acted(Action(operation=call.operation, arguments=call.arguments, result=result.value))
        self._made[f"{bound.call.operation} {_key(bound.call.arguments)}"] = 1
        return self._show(draft, tool, bound, result.value)

    def _show(self, draft: _Draft, tool: Tool, bound: BoundCall, value: JsonObject) -> CallResponse:
        view = HookView(
            self._context,
            self._comment,
            tool_id=tool.id,
            arguments=bound.call.arguments,
            result=value,
            round=draft.round,
        )
        after = self._hooks.run("PostToolUse", view)
        try:
            text = shown_result(bound.case, after.result or {})
        except BindingError as problem:
            error = TraceError(boundary="harness", code=problem.code, message=problem.message, round=draft.round)
            self._recorder.errors.append(error)
            text = "Done, but the result cannot be shown."
            self._record(draft, "failed", text, error)
            return CallResponse(tool.name, text, after.additions)
        self._record(draft, "ok", text)
        return CallResponse(tool.name, text, after.additions)

    async def _call_operation(self, call: OperationCall, *, is_write: bool) -> OperationResult | None:
        """The operation's result; None if it did not finish in time. A write that has begun gets a short grace."""
        task = asyncio.ensure_future(self._operations.execute(call))
        try:
            await asyncio.wait({task}, timeout=self._recorder.remaining_s())
            if not task.done() and is_write:
                await asyncio.wait({task}, timeout=WRITE_GRACE_S)
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=WRITE_GRACE_S)
        finally:
            task.cancel()
        if not task.done() or task.cancelled():
            return None
        failure = task.exception()
        if failure is not None:
            _logger.error("operation %s raised", call.operation, exc_info=failure)
            message = "This cannot be looked up or done right now. Answer without it."
            return OperationResult(error=OperationError("unavailable", message))
        return task.result()

    # --- skills --------------------------------------------------------------------------------------------------------

    def _load_skill(self, draft: _Draft, loader: Tool, call: ParsedCall) -> CallResponse:
        name = (call.arguments or {}).get(SKILL_ARGUMENT)
        skill = self._table.skills.get(name) if isinstance(name, str) else None
        if skill is None or set(call.arguments or {}) != {SKILL_ARGUMENT}:
            names = ", ".join(self._table.skills)
            return self._invalid(
                draft, "unknown_skill", f'Give "{SKILL_ARGUMENT}" alone, as one of: {names}.', call.raw
            )
        draft.fields["effect"] = "skill"
        repeated = self._repeated(draft, f"skill {skill.id}")
        if repeated is not None:
            return repeated
        text = render_body(self._spec, f'Skill "{skill.id}"', skill.body, self._context).strip()
        self.loaded_skills.append(skill.id)
        self._made[f"skill {skill.id}"] = 1
        self._record(draft, "ok", text)
        return CallResponse(loader.name, text)

    # --- what goes wrong -----------------------------------------------------------------------------------------------

    def _invalid(self, draft: _Draft, code: str, message: str, key: str) -> CallResponse:
        times = self._made[f"invalid {key}"] = self._made.get(f"invalid {key}", 0) + 1
        error = self._recorder.error("model", code, message, draft.round)
        self._record(draft, "invalid", message, error)
        if times > 2:
            raise TurnStopped(StopReason.ROUND_LIMIT)
        return CallResponse(draft.tool_name, f"ERROR {message}")

    def _failed(self, draft: _Draft, boundary: Any, code: str, message: str) -> CallResponse:
        error = self._recorder.error(boundary, code, message, draft.round)
        self._record(draft, "failed", message, error)
        return CallResponse(draft.tool_name, f"ERROR {message}")

    def _repeated(self, draft: _Draft, key: str) -> CallResponse | None:
        """An answer for a call that was made before with nothing changed since; the second repetition ends the turn."""
        times = self._made.get(key, 0)
        if times == 0:
            return None
        self._made[key] = times + 1
        message = "You made this very call before; its result is above. Answer the viewer."
        error = self._recorder.error("model", "repeated_call", message, draft.round)
        self._record(draft, "denied", message, error)
        if times > 1:
            raise TurnStopped(StopReason.ROUND_LIMIT)
        return CallResponse(draft.tool_name, f"ERROR {message}")

    def _record(self, draft: _Draft, status: Any, shown: str, error: TraceError | None = None) -> None:
        self._recorder.called(
            CallRecord(
                round=draft.round,
                raw=draft.raw,
                tool_name=draft.tool_name,
                status=status,
                shown_result=shown,
                error=error,
                started_ms=draft.started_ms,
                duration_ms=self._recorder.now_ms() - draft.started_ms,
                **draft.fields,
            )
        )


def _key(arguments: JsonObject) -> str:
    return canonical_json(arguments)


def _quoted(name: str) -> str:
    return guard_text(" ".join(name.split())[:_MAX_QUOTED_CHARS]) or "without a name"
