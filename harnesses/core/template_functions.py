"""What a template can call: tool(), skill(), param() and call(), each answering with names the model sees today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harnesses.core.bindings import BindingError, SurfaceCall, surface_argument_name, to_surface_call
from harnesses.core.caching import cached_by_identity
from harnesses.core.call_writing import CallFormat, write_call
from harnesses.core.operations import OperationCall
from harnesses.core.parameters import ordered_arguments
from harnesses.core.spec import BindingCase, HarnessSpec, Skill, Tool
from harnesses.core.template_rules import TemplateProblem

FUNCTION_NAMES: Final[Mapping[str, str]] = {
    "tool": 'tool("tool_id")',
    "skill": 'skill("skill_id")',
    "param": 'param("tool_id", "operation_argument")',
    "call": 'call("tool_id", operation_argument="value")',
}
"""Function name → how it is written."""


class TemplateError(ValueError):
    """A template that cannot be rendered: `message` says what is wrong, `mend` what to do, `code` is stable."""

    def __init__(self, message: str, mend: str = "", code: str = "template_failed") -> None:
        super().__init__(f"{message} {mend}".strip())
        self.message = message
        self.mend = mend
        self.code = code

    @classmethod
    def of(cls, problem: TemplateProblem) -> TemplateError:
        return cls(problem.message, problem.mend, problem.code)


@cached_by_identity
def template_functions(spec: HarnessSpec) -> Mapping[str, Callable[..., str]]:
    """The callables for templates of this harness. Each raises TemplateError for an unknown id or argument."""
    names = _Names(
        {tool.id: tool for tool in spec.tools}, {skill.id: skill for skill in spec.skills}, spec.runtime.call_format
    )
    return {"tool": names.tool, "skill": names.skill, "param": names.param, "call": names.call}


@dataclass(frozen=True)
class _Names:
    tools: Mapping[str, Tool]
    skills: Mapping[str, Skill]
    call_format: CallFormat
    written: dict[str, str] = field(default_factory=dict)

    def tool(self, tool_id: str) -> str:
        return self._tool(tool_id).name

    def skill(self, skill_id: str) -> str:
        skill = self.skills.get(skill_id)
        if skill is None:
            raise _unknown("skill", skill_id, self.skills)
        return skill.name

    def param(self, tool_id: str, argument: str) -> str:
        tool = self._tool(tool_id)
        name = next(filter(None, (surface_argument_name(case, argument) for case in _cases(tool))), "")
        if not name:
            known = sorted({item.argument for case in _cases(tool) for item in case.arguments})
            raise TemplateError(
                f'The tool "{tool_id}" takes no operation argument "{argument}".',
                f"Use one of: {', '.join(known) or '(it has none)'}.",
                "template_unknown_argument",
            )
        return name

    def call(self, tool_id: str, operation: str | None = None, /, **arguments: Any) -> str:
        """An example call. `operation` chooses, where one tool covers several."""
        tool = self._tool(tool_id)
        key = repr((tool_id, operation, arguments))
        if key not in self.written:
            chosen = operation or self._only_operation(tool)
            call = OperationCall(chosen, arguments)
            try:
                surface = self._surface_call(tool, call)
            except BindingError as error:
                raise TemplateError(
                    f'call("{tool_id}") cannot be written: {error.message}',
                    f"Name arguments as the operation {chosen} does, with values that the tool can say.",
                    "template_bad_call",
                ) from error
            written = ordered_arguments(self.tools[surface.tool_id], surface.arguments)
            self.written[key] = write_call(self.call_format, surface.tool_name, written)
        return self.written[key]

    def _surface_call(self, tool: Tool, call: OperationCall) -> SurfaceCall:
        """The call through the tool that was named; through another one where only that reaches it (a tool split in two)."""
        try:
            return to_surface_call(HarnessSpec(tools=(tool,)), call)
        except BindingError:
            return to_surface_call(HarnessSpec(tools=tuple(self.tools.values())), call)

    def _only_operation(self, tool: Tool) -> str:
        operations = list(dict.fromkeys(case.operation for case in _cases(tool)))
        if len(operations) == 1:
            return operations[0]
        if not operations:
            raise TemplateError(
                f'The tool "{tool.id}" is bound to no operation.',
                "Bind it, or write the example out.",
                "template_bad_call",
            )
        raise TemplateError(
            f'The tool "{tool.id}" covers several operations.',
            f'Say which, for example call("{tool.id}", "{operations[0]}", …); it can be {", ".join(operations)}.',
            "template_bad_call",
        )

    def _tool(self, tool_id: str) -> Tool:
        tool = self.tools.get(tool_id)
        if tool is None:
            raise _unknown("tool", tool_id, self.tools)
        return tool


def _cases(tool: Tool) -> tuple[BindingCase, ...]:
    return tool.binding.cases if tool.binding is not None else ()


def _unknown(kind: str, component_id: str, known: Mapping[str, object]) -> TemplateError:
    return TemplateError(
        f'There is no {kind} with the id "{component_id}".',
        f"Use one of: {', '.join(list(known)[:20]) or f'(the harness has no {kind}s)'}.",
        f"template_unknown_{kind}",
    )
