"""From a harness and a moment in a room to the system prompt, the same text for serving, evaluation and training.

Parts that change from turn to turn come after everything that does not, as far as the author's order allows: the tool and skill
documents stand before the first section that shows the item, the clock or the viewer, so that an engine's prefix cache can
keep them. Parsed templates and documents are remembered as long as the harness object lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from harnesses.core.caching import cached_by_identity
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import TemplateError, render_template, template_variables
from harnesses.runtime.call_formats import call_instructions
from harnesses.runtime.examples import example_messages
from harnesses.runtime.ports import Message
from harnesses.runtime.tool_documents import skill_index, skill_loader, tool_documents
from harnesses.runtime.wire_guard import guard_values

PartKind = Literal["section", "skills", "skill", "tools", "calls", "examples"]
PART_SEPARATOR: Final = "\n\n"
TURN_VARIABLES: Final = frozenset({"item", "items", "viewer", "clock"})
"""Context that changes between turns of one session."""


@dataclass(frozen=True)
class RenderedPart:
    """One part of the prompt as the model reads it, heading included. `id` is the component's, or the kind for built-in parts."""

    kind: PartKind
    id: str
    title: str
    text: str


@dataclass(frozen=True)
class RenderedPrompt:
    """The system prompt: `text` is the parts joined by PART_SEPARATOR, exactly. `examples` follow it as messages of their own."""

    text: str
    parts: tuple[RenderedPart, ...]
    examples: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that the model reads before the conversation."""
        return (Message(role="system", content=self.text), *self.examples)

    @property
    def all_parts(self) -> tuple[RenderedPart, ...]:
        """The parts, and the examples as one more: for people to read and to count."""
        if not self.examples:
            return self.parts
        text = "\n".join(f"{message.role}: {message.content}" for message in self.examples)
        return (*self.parts, RenderedPart("examples", "examples", "Examples", text))


def render_prompt(spec: HarnessSpec, context: Mapping[str, Any]) -> RenderedPrompt:
    """The whole system prompt of a harness in a context (`templates.CONTEXT_SCHEMA`).

    Raises TemplateError, its message naming the component. Strings of the context cannot forge chat or tool marks.
    """
    values = guard_values(context)
    parts: list[RenderedPart] = []
    for draft in _layout(spec):
        body = draft.text if draft.is_final else render_body(spec, draft.label, draft.text, values)
        body = f"{draft.intro}\n{body.strip()}".strip()
        heading = _heading(spec.runtime.heading_style, draft.title, len(parts) + 1)
        text = f"{heading}\n{body}" if heading and body else heading or body
        if text:
            parts.append(RenderedPart(draft.kind, draft.id, draft.title, text))
    return RenderedPrompt(PART_SEPARATOR.join(part.text for part in parts), tuple(parts), example_messages(spec))


def render_body(spec: HarnessSpec, label: str, text: str, guarded_context: Mapping[str, Any]) -> str:
    """One template of the harness; a TemplateError says which component it is in."""
    try:
        return render_template(text, spec, guarded_context)
    except TemplateError as error:
        raise TemplateError(f"{label}: {error.message}", error.mend, error.code) from error


def system_text(prompt: RenderedPrompt, tail: Sequence[str]) -> str:
    """The text of the system message: the prompt, and what hooks put at its end."""
    return PART_SEPARATOR.join(text for text in (prompt.text, *tail) if text)


@dataclass(frozen=True)
class _Draft:
    """A part before its template is filled in; `is_final`: `text` is not a template."""

    kind: PartKind
    id: str
    title: str
    text: str
    label: str = ""
    intro: str = ""
    is_final: bool = False


@cached_by_identity
def _layout(spec: HarnessSpec) -> tuple[_Draft, ...]:
    sections = [
        _Draft("section", section.id, section.title, section.body, f'Prompt section "{section.id}"')
        for section in spec.prompt
    ]
    skills = _skill_drafts(spec)
    documents = [*_tool_drafts(spec)]
    changing = next((index for index, draft in enumerate(sections) if _changes(draft)), len(sections))
    kept = sections[:changing]
    if any(_changes(draft) for draft in skills):
        return (*kept, *documents, *skills, *sections[changing:])
    return (*kept, *skills, *documents, *sections[changing:])


def _changes(draft: _Draft) -> bool:
    return not draft.is_final and not TURN_VARIABLES.isdisjoint(template_variables(draft.text))


def _skill_drafts(spec: HarnessSpec) -> list[_Draft]:
    if not spec.skills:
        return []
    if skill_loader(spec) is not None:
        hint = f"Load a skill with {spec.runtime.skill_tool_name} when its description fits what the viewer wants."
        return [_Draft("skills", "skills", "Skills", f"{hint}\n{skill_index(spec.skills)}", is_final=True)]
    return [
        _Draft("skill", skill.id, f"Skill: {skill.name}", skill.body, f'Skill "{skill.id}"', skill.description)
        for skill in spec.skills
    ]


def _tool_drafts(spec: HarnessSpec) -> list[_Draft]:
    documents = tool_documents(spec)
    if not documents:
        return []
    return [
        _Draft("tools", "tools", "Tools", documents, is_final=True),
        _Draft("calls", "calls", "Calling a tool", call_instructions(spec.runtime.call_format, spec), is_final=True),
    ]


def _heading(style: str, title: str, number: int) -> str:
    if not title:
        return ""
    return {"markdown": f"## {title}", "numbered": f"{number}. {title}", "bracketed": f"[{title}]"}.get(style, title)
