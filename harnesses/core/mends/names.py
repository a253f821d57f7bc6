"""Mends of ids, names and empty texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harnesses.core.checks_loops import breaks
from harnesses.core.checks_names import twin_key
from harnesses.core.editing.copies import fresh_id, fresh_name
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import KIND_FIELDS
from harnesses.core.mends.basis import Case, Mend, short
from harnesses.core.spec import CheckReply, HarnessSpec, RuntimeSettings, Skill, Tool
from harnesses.core.templates import template_references

_LOADERS = ("load_skill", "open_skill", "read_skill", "use_skill")


def duplicate_id(case: Case) -> Iterator[Mend]:
    """Every later component of that id gets one of its own; the first keeps it, and so keeps what refers to it."""
    kind = case.finding.component_kind
    if kind == "harness":
        return
    ids = [item.id for item in getattr(case.spec, KIND_FIELDS[kind])]
    taken, edits = set(ids), list[JsonObject]()
    for number in range(ids.count(case.id), 1, -1):
        new = fresh_id(case.id, taken)
        taken.add(new)
        edits.append({"op": "set", "kind": kind, "id": f"{case.id}#{number}", "fields": {"id": new}})
    if edits:
        yield Mend(f"Give the later one the id {short(edits[-1]['fields']['id'])}", tuple(edits))


def taken_name(case: Case) -> Iterator[Mend]:
    """The later of two components gets a name that is free. Mentions stay: they may mean the other one."""
    component = case.component()
    if component is not None:
        yield _renamed(case, fresh_name(case.finding.component_kind, component.name, case.spec), follows=False)  # type: ignore[arg-type]


def bad_name(case: Case) -> Iterator[Mend]:
    """A name made legal: what of it is allowed, or else the id."""
    if case.finding.component_kind == "runtime":
        yield _other_loader(case.spec)
        return
    component = case.component()
    if not isinstance(component, Tool | Skill):
        return
    wanted = component.name if re.search(r"[a-zA-Z0-9]", component.name) else component.id
    name = fresh_name(case.finding.component_kind, wanted, case.spec)  # type: ignore[arg-type]
    yield _renamed(case, name, follows=bool(component.name.strip()))


def _renamed(case: Case, name: str, *, follows: bool) -> Mend:
    target = {"kind": case.finding.component_kind, "id": case.id}
    return Mend(f"Rename it to {short(name)}", ({"op": "rename", **target, "name": name, "follow": follows},))


def same_title(case: Case) -> Iterator[Mend]:
    component = case.component()
    if component is not None:
        title = fresh_name("prompt", component.title, case.spec)
        yield Mend(f"Title it {short(title)}", (case.set(title=title),))


def loader_name(case: Case) -> Iterator[Mend]:
    """The built-in tool that loads skills gets another name."""
    if case.component() is not None:
        yield _other_loader(case.spec)


def _other_loader(spec: HarnessSpec) -> Mend:
    taken = {twin_key(name) for name in (*(tool.name for tool in spec.tools), *(skill.name for skill in spec.skills))}
    name = next((name for name in _LOADERS if name not in taken), None)
    if name is None:
        name = fresh_name("tool", _LOADERS[0], spec)
    edit = {"op": "set", "kind": "runtime", "id": "runtime", "fields": {"skill_tool_name": name}}
    return Mend(f"Load skills with {short(name)}", (edit,))


def empty_text(case: Case) -> Iterator[Mend]:
    """Something sensible in the place of an empty text, or the empty thing away where nothing refers to it."""
    component, field = case.component(), case.finding.field
    if component is None:
        return
    kind = case.finding.component_kind
    if kind == "prompt" and field == "title":
        title = fresh_name("prompt", component.id.replace("_", " ").replace("-", " ").capitalize(), case.spec)
        yield Mend(f"Title it {short(title)}", (case.set(title=title),))
    elif kind in ("prompt", "skill") and field == "body":
        if not (kind == "skill" and _is_referred_to(case.spec, component.id)):
            yield Mend(f"Remove the empty {'section' if kind == 'prompt' else 'skill'}", (case.remove(),))
    elif kind == "hook" and field == "name":
        name = fresh_name("hook", component.id, case.spec)
        yield Mend(f"Name it {short(name)}", (case.set(name=name),))
    elif kind == "hook" and field.startswith("action.phrases"):
        phrases = [phrase for phrase in component.action.phrases if phrase.strip()]
        if phrases:
            yield Mend("Remove the empty phrase", (case.put({"action.phrases": phrases}),))
    elif kind == "tool":
        yield from _empty_in_tool(case)
    elif kind == "runtime":
        default = RuntimeSettings().fallback_reply
        rules = [hook.action for hook in case.spec.hooks if isinstance(hook.action, CheckReply)]
        if not any(breaks(default, rule) for rule in rules if rule.on_violation != "replace"):
            yield Mend("Use the standard reply", (case.set(fallback_reply=default),))


def _empty_in_tool(case: Case) -> Iterator[Mend]:
    tool, field = case.tool(), case.finding.field
    assert tool is not None
    if field.startswith("binding."):
        yield Mend("Remove the empty name", (case.drop(field),))
        return
    operations = {item.operation for item in tool.binding.cases} if tool.binding else set()
    operation = case.catalogue.get(next(iter(operations))) if len(operations) == 1 else None
    if field == "description" and operation is not None and operation.description.strip():
        yield Mend("Describe it as the operation", (case.set(description=operation.description),))


def _is_referred_to(spec: HarnessSpec, skill_id: str) -> bool:
    texts = [*(item.body for item in spec.prompt), *(item.body for item in spec.skills)]
    texts += [
        text for hook in spec.hooks for text in hook.action.model_dump(mode="json").values() if isinstance(text, str)
    ]
    return any(item.kind == "skill" and item.id == skill_id for text in texts for item in template_references(text))
