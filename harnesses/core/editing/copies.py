"""Components made from something else: a copy out of a harness, a tool out of an operation, with ids and names that are free."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from harnesses.core.bindings import identity_binding
from harnesses.core.checks_names import WIRE_WORDS, twin_key
from harnesses.core.editing.texts import text_fields
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import KIND_FIELDS, NAME_FIELDS, Kind, component_name, component_of
from harnesses.core.operations import OperationSpec
from harnesses.core.spec import HarnessSpec, Tool
from harnesses.core.templates import template_references

_MAX_ID: Final = 64


@dataclass(frozen=True)
class CopiedComponent:
    """A component to add, as JSON, and what was changed on the way or is missing where it goes, in words."""

    component: JsonObject
    notes: tuple[str, ...]


def fresh_id(wanted: str, taken: Collection[str]) -> str:
    """An id like `wanted` that is legal and not taken: `sizing`, `sizing-2`."""
    stem = re.sub(r"[^a-z0-9_.-]+", "-", _plain(wanted).casefold()).strip("-._") or "component"
    return _numbered(stem, "-", lambda text: text in taken)


def fresh_name(kind: Kind, wanted: str, spec: HarnessSpec) -> str:
    """A name like `wanted` that no component of that kind has; for tools and skills also legal and no word of the call format."""
    if kind == "prompt":
        taken = {twin_key(item.title.strip()) for item in spec.prompt}
        return _numbered(wanted.strip() or "Section", " ", lambda text: twin_key(text) in taken, limit=200)
    names = [item.name for item in getattr(spec, KIND_FIELDS[kind])]
    if kind in ("tool", "skill"):
        # A tool and a skill of one name are told apart by nobody.
        names = [
            *(item.name for item in spec.tools),
            *(item.name for item in spec.skills),
            spec.runtime.skill_tool_name,
        ]
    taken = {twin_key(name) for name in names} | (WIRE_WORDS if kind != "hook" else set())
    if kind == "skill":
        stem = re.sub(r"[^a-z0-9]+", "-", _plain(wanted).casefold()).strip("-") or "skill"
    else:
        stem = re.sub(r"[^a-zA-Z0-9_-]+", "_", _plain(wanted)).strip("_") or kind
    joint = "_" if kind == "tool" else "-"
    return _numbered(stem, joint, lambda text: twin_key(text) in taken)


def _plain(text: str) -> str:
    """The text without accents: "Größen" gives "Großen"."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _numbered(stem: str, joint: str, is_taken: Callable[[str], bool], *, limit: int = _MAX_ID) -> str:
    text, number = stem[:limit], 2
    while is_taken(text):
        ending = f"{joint}{number}"
        text, number = f"{stem[: limit - len(ending)].rstrip('-_ ')}{ending}", number + 1
    return text


def copy_component(source: HarnessSpec, kind: Kind, component_id: str, target: HarnessSpec) -> CopiedComponent:
    """A component of `source` as it can be added to `target`, which may be the same harness.

    Id and name are made free. Tools that `target` does not have are left out of allowed tools and matchers; texts stay as they
    are. Raises KeyError where `source` has no such component.
    """
    original = component_of(source, kind, component_id)
    if original is None:
        raise KeyError(component_id)
    component: JsonObject = original.model_dump(mode="json")
    notes: list[str] = []
    component["id"] = fresh_id(component_id, {item.id for item in getattr(target, KIND_FIELDS[kind])})
    name_field = NAME_FIELDS.get(kind)
    if name_field:
        name = _free_name(kind, component[name_field], target)
        if name != component[name_field]:
            notes.append(f'It is called "{name}" here, because "{component[name_field]}" is taken.')
            component[name_field] = name
    notes += _without_strange_tools(kind, component, target)
    notes += _strange_references(kind, component, target)
    return CopiedComponent(component, tuple(notes))


def _free_name(kind: Kind, name: str, target: HarnessSpec) -> str:
    """The name itself where it is free, whatever it looks like; else a fresh one."""
    held = [component_name(item) for item in getattr(target, KIND_FIELDS[kind])]
    if twin_key(name) not in {twin_key(other) for other in held}:
        return name
    return fresh_name(kind, name, target)


def _without_strange_tools(kind: Kind, component: JsonObject, target: HarnessSpec) -> list[str]:
    field = {"skill": "allowed_tools", "hook": "matcher"}.get(kind)
    if field is None:
        return []
    known = {tool.id for tool in target.tools}
    strange = [tool_id for tool_id in component[field] if tool_id not in known]
    if not strange:
        return []
    if kind == "hook" and len(strange) == len(component[field]):
        # Without any tool the hook would watch all of them: the unknown ones stay, and validation asks for a choice.
        return [f"It watches {', '.join(strange)}, which this harness does not have. Choose other tools."]
    component[field] = [tool_id for tool_id in component[field] if tool_id in known]
    return [
        f"{', '.join(strange)} left out of its tools: this harness does not have {'it' if len(strange) == 1 else 'them'}."
    ]


def _strange_references(kind: Kind, component: JsonObject, target: HarnessSpec) -> list[str]:
    document = HarnessSpec().document() | {KIND_FIELDS[kind]: [component]}
    tools, skills = {tool.id for tool in target.tools}, {skill.id for skill in target.skills}
    missing = {
        reference.id: None
        for field in text_fields(document)
        if field.is_template
        for reference in template_references(field.text)
        if reference.id not in (skills if reference.kind == "skill" else tools) and reference.id != component["id"]
    }
    return [f"Its text refers to {', '.join(missing)}, which this harness does not have."] if missing else []


def tool_from_operation(operation: OperationSpec, spec: HarnessSpec | None = None) -> Tool:
    """A tool that looks just like an operation and is bound to it, argument by argument; its id and name are free in `spec`."""
    spec = spec or HarnessSpec()
    return Tool(
        id=fresh_id(operation.name, {tool.id for tool in spec.tools}),
        name=fresh_name("tool", operation.name, spec),
        title=operation.title,
        description=operation.description,
        input_schema=deepcopy(operation.input_schema),
        annotations={"readOnlyHint": operation.effect == "read"},
        parameter_order=operation.argument_names,
        binding=identity_binding(operation),
    )
