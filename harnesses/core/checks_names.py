"""Checks of ids, names and required texts: everything a component is called by, and everything that may not be empty."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from harnesses.core.findings import ComponentKind, Finding, Place
from harnesses.core.schemas import shown
from harnesses.core.spec import AddContext, CheckReply, Deny, Example, HarnessSpec, Hook, PromptSection, Skill, Tool

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
SKILL_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
WIRE_WORDS = frozenset({"tool_call", "tool_response", "call", "result"})
"""Words of the call formats themselves, case-folded: a tool of that name could not be told from the format."""
MAX_SKILL_DESCRIPTION = 1_024

_Named = PromptSection | Skill | Tool | Hook | Example
_TOOL_NAME_MEND = 'Use 1 to 64 letters, digits, "_" and "-" of ASCII. The title may be in any script.'
_SKILL_NAME_MEND = 'Use 1 to 64 lower-case letters, digits and single hyphens, such as "size-advice".'


@lru_cache(maxsize=8_192)
def twin_key(name: str) -> str:
    """What two names share if people or models cannot tell them apart: compatibility form, case folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check_names(spec: HarnessSpec) -> Iterator[Finding]:
    """Duplicate and illegal ids and names, and empty texts, component by component."""
    yield from _duplicate_ids("prompt", spec.prompt)
    yield from _sections(spec)
    yield from _duplicate_ids("skill", spec.skills)
    yield from _twins("skill", spec.skills)
    for skill in spec.skills:
        yield from _skill(skill, spec)
    yield from _duplicate_ids("tool", spec.tools)
    yield from _twins("tool", spec.tools)
    for tool in spec.tools:
        yield from _tool(tool, spec)
    yield from _duplicate_ids("hook", spec.hooks)
    yield from _twins("hook", spec.hooks)
    for hook in spec.hooks:
        yield from _hook(hook)
    yield from _duplicate_ids("example", spec.examples)
    yield from _runtime(spec)


def _duplicate_ids(kind: ComponentKind, components: Sequence[_Named]) -> Iterator[Finding]:
    seen: set[str] = set()
    for component in components:
        if component.id in seen:
            place = Place(kind, component.id)
            yield place.error(
                "duplicate_id", "id", f'The id "{component.id}" is used twice.', "Give each component an id of its own."
            )
        seen.add(component.id)


def _twins(kind: ComponentKind, components: Sequence[Skill | Tool | Hook]) -> Iterator[Finding]:
    """Names used twice, or told apart by case or Unicode form alone. No model sees the names of hooks: a warning there."""
    seen: dict[str, list[str]] = {}
    for component in components:
        name = component.name
        earlier = seen.setdefault(twin_key(name), [])
        place = Place(kind, component.id)
        report = place.warning if kind == "hook" else place.error
        if name in earlier:
            yield report("duplicate_name", "name", f'Two {kind}s are named "{name}".', "Rename one of the two.")
        elif earlier:
            found = f'The names "{earlier[0]}" and "{name}" differ in case or Unicode form only.'
            yield report("twin_name", "name", found, "Rename one of the two so that they differ in letters.")
        earlier.append(name)


def _empty(place: Place, field: str, text: str, what: str, *, is_error: bool = True) -> Iterator[Finding]:
    if not text.strip():
        report = place.error if is_error else place.warning
        yield report("empty_text", field, f"{what} is empty.", "Write it, or remove the component.")


def _sections(spec: HarnessSpec) -> Iterator[Finding]:
    seen: set[str] = set()
    for section in spec.prompt:
        place = Place("prompt", section.id)
        yield from _empty(place, "body", section.body, "The body of the section")
        yield from _empty(place, "title", section.title, "The title of the section", is_error=False)
        key = twin_key(section.title.strip())
        if key and key in seen:
            yield place.warning(
                "duplicate_title",
                "title",
                f'Two sections are titled "{section.title.strip()}".',
                "Give each section a title of its own, or join the two.",
            )
        seen.add(key)


def _skill(skill: Skill, spec: HarnessSpec) -> Iterator[Finding]:
    place = Place("skill", skill.id)
    if not SKILL_NAME.fullmatch(skill.name):
        yield place.error("illegal_name", "name", f"{shown(skill.name)} is no skill name.", _SKILL_NAME_MEND)
    elif twin_key(skill.name) in WIRE_WORDS:
        yield _reserved(place, skill.name)
    yield from _skill_or_tool(place, skill.name, spec)
    yield from _empty(place, "body", skill.body, "The body of the skill")
    if not skill.description.strip():
        yield place.error(
            "skill_description_empty",
            "description",
            "The description is empty; the model chooses skills by it.",
            "Say in one or two sentences what the skill does and when to use it.",
        )
    elif len(skill.description) > MAX_SKILL_DESCRIPTION:
        yield place.error(
            "skill_description_long",
            "description",
            f"The description has {len(skill.description):,} characters; the limit is {MAX_SKILL_DESCRIPTION:,}.",
            "Move what is only needed inside the skill into its body.",
        )


def _skill_or_tool(place: Place, name: str, spec: HarnessSpec) -> Iterator[Finding]:
    """A skill that is named like a tool: the model would call it."""
    key = twin_key(name)
    if key == twin_key(spec.runtime.skill_tool_name):
        found = f'"{name}" is the name of the built-in tool that loads skills.'
        yield place.error("skill_tool_name_taken", "name", found, "Rename the skill, or change skill_tool_name.")
    elif any(key == twin_key(tool.name) for tool in spec.tools):
        yield place.warning(
            "skill_named_like_tool",
            "name",
            f'A tool is named "{name}" too; the model may call one where it means the other.',
            "Rename one of the two.",
        )


def _reserved(place: Place, name: str) -> Finding:
    return place.error(
        "reserved_name",
        "name",
        f'"{name}" is a word of the call format itself.',
        f"Use another name than {', '.join(sorted(WIRE_WORDS))}.",
    )


def _tool(tool: Tool, spec: HarnessSpec) -> Iterator[Finding]:
    place = Place("tool", tool.id)
    if not TOOL_NAME.fullmatch(tool.name):
        yield place.error("illegal_name", "name", f"{shown(tool.name)} is no tool name.", _TOOL_NAME_MEND)
    elif twin_key(tool.name) in WIRE_WORDS:
        yield _reserved(place, tool.name)
    if twin_key(tool.name) == twin_key(spec.runtime.skill_tool_name):
        report = place.error if spec.runtime.disclosure == "on_demand" else place.warning
        yield report(
            "skill_tool_name_taken",
            "name",
            f'"{tool.name}" is the name of the built-in tool that loads skills.',
            "Rename this tool, or change skill_tool_name in the runtime settings.",
        )
    yield from _empty(place, "description", tool.description, "The description of the tool", is_error=False)


def _hook(hook: Hook) -> Iterator[Finding]:
    place = Place("hook", hook.id)
    yield from _empty(place, "name", hook.name, "The name of the hook")
    action = hook.action
    if isinstance(action, AddContext):
        yield from _empty(place, "action.text", action.text, "The text to add")
    elif isinstance(action, Deny):
        yield from _empty(place, "action.reason", action.reason, "The reason")
    elif isinstance(action, CheckReply):
        for index, phrase in enumerate(action.phrases):
            yield from _empty(place, f"action.phrases[{index}]", phrase, "The phrase")


def _runtime(spec: HarnessSpec) -> Iterator[Finding]:
    place = Place("runtime")
    yield from _empty(place, "fallback_reply", spec.runtime.fallback_reply, "The fallback reply")
    name = spec.runtime.skill_tool_name
    if not TOOL_NAME.fullmatch(name) or twin_key(name) in WIRE_WORDS:
        yield place.error("illegal_name", "skill_tool_name", f"{shown(name)} is no tool name.", _TOOL_NAME_MEND)
