"""The kinds of component: where the specification holds each, which field names it, and how one of it is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from harnesses.core.spec import Example, HarnessSpec, Hook, PromptSection, RuntimeSettings, Skill, Tool

Kind = Literal["prompt", "skill", "tool", "hook", "example", "runtime"]
Component = PromptSection | Skill | Tool | Hook | Example
KIND_FIELDS: Final[Mapping[Kind, str]] = {
    "prompt": "prompt",
    "skill": "skills",
    "tool": "tools",
    "hook": "hooks",
    "example": "examples",
}
"""Each kind of component with the field of the specification that holds it, in the order of the format."""
KINDS: Final[tuple[Kind, ...]] = (*KIND_FIELDS, "runtime")
"""All kinds; the runtime settings, of which there is one set, last."""
NAME_FIELDS: Final[Mapping[Kind, str]] = {"prompt": "title", "skill": "name", "tool": "name", "hook": "name"}
"""The field that holds what people call a component; an example has none."""
_NAME_LENGTH = 40


def component_of(spec: HarnessSpec, kind: str, component_id: str) -> Component | RuntimeSettings | None:
    """One component by kind and id (of the runtime settings: "runtime"); None where there is no such one."""
    if kind == "runtime":
        return spec.runtime if component_id == "runtime" else None
    held: Sequence[Component] = next((getattr(spec, field) for name, field in KIND_FIELDS.items() if name == kind), ())
    return next((item for item in held if item.id == component_id), None)


def component_name(component: Component) -> str:
    """What people call a component: its name, the title of a prompt section, or how the comment of an example begins."""
    if isinstance(component, Example):
        comment = " ".join(component.comment.split())
        return comment if len(comment) <= _NAME_LENGTH else f"{comment[: _NAME_LENGTH - 1]}…"
    return component.title if isinstance(component, PromptSection) else component.name


def components_by_key(components: Sequence[Component]) -> dict[str, Component]:
    """Components by id. An id used twice, which validation reports, gets a number so that nothing is lost from sight."""
    result: dict[str, Component] = {}
    for component in components:
        key, number = component.id, 2
        while key in result:
            key, number = f"{component.id}#{number}", number + 1
        result[key] = component
    return result
