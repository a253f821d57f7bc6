"""Families that rename: S1 skills, T1 tools, T3 parameters, T9 result keys, H1 hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from harnesses.augment.banks import Pooled
from harnesses.augment.naming import NameKind, is_speaking, new_name, words_of
from harnesses.augment.parameters import is_described, plain_names, rename_parameters, strange_names
from harnesses.augment.result_keys import rename_results, result_places
from harnesses.augment.texts import follow, is_fixed, is_mentioned
from harnesses.augment.transform import Changed, NotApplicable, Scene
from harnesses.core.checks_names import twin_key
from harnesses.core.spec import HarnessSpec, Tool

Item = TypeVar("Item")
_WRITTEN_OUT: Final = "The names that could change are written out in rules or in texts that viewers read."


def chosen(items: Sequence[str], scene: Scene) -> list[str]:
    """All of them, or, with the share `some`, about half and at least one; in their own order."""
    if scene.params.get("share") != "some" or len(items) < 2:
        return list(items)
    picked = set(scene.rng.sample(range(len(items)), max(1, (len(items) + 1) // 2)))
    return [item for index, item in enumerate(items) if index in picked]


def shared(old: Sequence[Item], new: Sequence[Item], scene: Scene) -> tuple[Item, ...]:
    """The new items for the share of those that changed, the old ones for the rest."""
    changed = [str(index) for index, item in enumerate(new) if item is not old[index]]
    kept = set(chosen(changed, scene))
    return tuple(item if str(index) in kept else old[index] for index, item in enumerate(new))


def _used_words(spec: HarnessSpec, scene: Scene) -> set[str]:
    """The words of all names that the model reads: what one of them means, no new name should seem to mean."""
    names = {*_every_name(spec), *result_places(spec, scene.catalogue)}
    names.update(name for tool in spec.tools for name in plain_names(tool))
    return {word for name in names for word in words_of(name)}


def _new_names(
    spec: HarnessSpec,
    kind: NameKind,
    names: Iterable[str],
    every: Iterable[str],
    banks: Mapping[str, Pooled],
    scene: Scene,
    taken: set[str],
    mute: Collection[str] = (),
) -> dict[str, str]:
    """New names by old one, for the share of those that have one in this style. `taken` grows with what was given out.

    `mute` are the names of what has no description: their new names have to speak (law 6).
    """
    renames: dict[str, str] = {}
    given: set[str] = set()
    used = _used_words(spec, scene) if scene.text("style") == "synonym" else set()
    keys = Counter(twin_key(name) for name in every)
    for name in names:
        own = twin_key(name) if keys[twin_key(name)] == 1 and twin_key(name) not in given else ""
        found = new_name(
            kind, name, scene.text("style"), banks.get(name), scene, taken, own, used, must_speak=name in mute
        )
        if found is not None:
            renames[name] = found
            taken.add(twin_key(found))
            given.add(twin_key(found))
    kept = set(chosen(list(renames), scene))
    return {name: new for name, new in renames.items() if name in kept}


def _every_name(spec: HarnessSpec) -> list[str]:
    """The names of tools and skills: nobody should take one for the other."""
    return [*(tool.name for tool in spec.tools), *(skill.name for skill in spec.skills), spec.runtime.skill_tool_name]


def _taken_names(spec: HarnessSpec) -> set[str]:
    return {twin_key(name) for name in _every_name(spec)}


def _or_refuse(renames: Mapping[str, str], reason: str) -> None:
    if not renames:
        raise NotApplicable(reason)


def rename_skills(spec: HarnessSpec, scene: Scene) -> Changed:
    """S1: skills get other names; texts that mention them follow."""
    free = [skill.name for skill in spec.skills if not is_fixed(spec, "skill", skill.name)]
    if not free:
        raise NotApplicable(_WRITTEN_OUT if spec.skills else "The harness has no skills.")
    bank = scene.banks.skill_names
    renames = _new_names(spec, "skill", free, _every_name(spec), bank, scene, _taken_names(spec))
    _or_refuse(renames, f'No skill can be named otherwise in the style "{scene.text("style")}".')
    skills = tuple(
        skill.model_copy(update={"name": renames[skill.name]}) if skill.name in renames else skill
        for skill in spec.skills
    )
    changed = tuple(f"skill:{skill.id}" for skill in spec.skills if skill.name in renames)
    return Changed(follow(spec.model_copy(update={"skills": skills}), "skill", renames), changed)


def rename_hooks(spec: HarnessSpec, scene: Scene) -> Changed:
    """H1: hooks get other names. The model sees the name of a hook where its text is wrapped."""
    free = [hook.name for hook in spec.hooks if not is_fixed(spec, "hook", hook.name)]
    if not free:
        raise NotApplicable(_WRITTEN_OUT if spec.hooks else "The harness has no hooks.")
    every = [hook.name for hook in spec.hooks]
    taken = {twin_key(name) for name in every}
    renames = _new_names(spec, "hook", dict.fromkeys(free), every, scene.banks.hook_names, scene, taken)
    _or_refuse(renames, f'No hook can be named otherwise in the style "{scene.text("style")}".')
    hooks = tuple(
        hook.model_copy(update={"name": renames[hook.name]}) if hook.name in renames else hook for hook in spec.hooks
    )
    changed = tuple(f"hook:{hook.id}" for hook in spec.hooks if hook.name in renames)
    return Changed(follow(spec.model_copy(update={"hooks": hooks}), "hook", renames), changed)


def rename_tools(spec: HarnessSpec, scene: Scene) -> Changed:
    """T1: tools get other names, never that of an operation. An opaque name is for a tool with a description only (law 6)."""
    if not spec.tools:
        raise NotApplicable("The harness has no tools.")
    is_opaque = scene.text("style") == "opaque"
    free = {
        tool.name: tool
        for tool in spec.tools
        if (tool.description.strip() or not is_opaque) and not is_fixed(spec, "tool", tool.name)
    }
    if not free:
        reason = "No tool has a description to go by" if is_opaque else "No tool may be named otherwise"
        raise NotApplicable(f"{reason}, or their names are written out in rules or in texts that viewers read.")
    banks = {name: bank for name, tool in free.items() if (bank := _tool_bank(tool, spec, scene)) is not None}
    taken = _taken_names(spec) | {twin_key(name) for name in scene.catalogue}
    mute = {tool.name for tool in spec.tools if not tool.description.strip()}
    renames = _new_names(spec, "tool", list(free), _every_name(spec), banks, scene, taken, mute)
    _or_refuse(renames, f'No tool can be named otherwise in the style "{scene.text("style")}".')
    tools = tuple(
        tool.model_copy(update={"name": renames[tool.name]}) if tool.name in renames else tool for tool in spec.tools
    )
    changed = tuple(f"tool:{tool.id}" for tool in spec.tools if tool.name in renames)
    return Changed(follow(spec.model_copy(update={"tools": tools}), "tool", renames), changed)


def _is_of_the_shop(tool: Tool | None, scene: Scene) -> bool:
    """Whether a tool stands for operations of the bank: then its parameters and results mean what the bank means by them."""
    binding = tool.binding if tool else None
    return binding is not None and all(case.operation in scene.banks.tool_names for case in binding.cases)


def _tool_bank(tool: Tool, spec: HarnessSpec, scene: Scene) -> Pooled | None:
    """The names of the operation behind a tool, where it is the only tool for that operation and stands for no other."""
    if tool.binding is None or len(tool.binding.cases) != 1:
        return None
    operation = tool.binding.cases[0].operation
    twins = [
        other.id for other in spec.tools if other.binding for case in other.binding.cases if case.operation == operation
    ]
    return scene.banks.tool_names.get(operation) if twins == [tool.id] else None


def rename_tool_parameters(spec: HarnessSpec, scene: Scene) -> Changed:
    """T3: parameters get other names, each in all tools that have it, through schema, order and binding."""
    is_opaque = scene.text("style") == "opaque"
    strange = strange_names(spec)
    names = dict.fromkeys(name for tool in spec.tools for name in plain_names(tool))
    results = result_places(spec, scene.catalogue)
    free = [
        name
        for name in names
        if name not in strange
        and (not is_opaque or all(is_described(tool, name) for tool in spec.tools))
        and not is_fixed(spec, "example", name)
        and not (name in results and is_mentioned(spec, "example", name))
    ]
    if not free:
        what = "or none has a description to go by, " if is_opaque else ""
        raise NotApplicable(f"No tool has a parameter that can be renamed, {what}or rules write their names out.")
    every = [*names, *sorted(strange - set(names))]
    taken = {twin_key(name) for name in (*every, *_argument_names(spec, scene))}
    holders = {name: [tool for tool in spec.tools if name in plain_names(tool)] for name in free}
    known = {
        name: bank
        for name, bank in scene.banks.parameter_names.items()
        if all(_is_of_the_shop(tool, scene) for tool in holders.get(name, ()))
    }
    mute = {name for name in free if not all(is_described(tool, name) for tool in spec.tools)}
    renames = _new_names(spec, "parameter", free, every, known, scene, taken, mute)
    _or_refuse(renames, f'No parameter can be named otherwise in the style "{scene.text("style")}".')
    tools = tuple(rename_parameters(tool, renames) for tool in spec.tools)
    changed = tuple(f"tool:{new.id}" for old, new in zip(spec.tools, tools, strict=True) if old is not new)
    return Changed(follow(spec.model_copy(update={"tools": tools}), "example", renames), changed)


def _argument_names(spec: HarnessSpec, scene: Scene) -> set[str]:
    operations = {case.operation for tool in spec.tools if tool.binding for case in tool.binding.cases}
    return {name for key in operations if key in scene.catalogue for name in scene.catalogue[key].argument_names}


def rename_result_keys(spec: HarnessSpec, scene: Scene) -> Changed:
    """T9: keys of results get other names, each in all results that show it. Words for units stay in the names."""
    places = result_places(spec, scene.catalogue)
    parameters = {name for tool in spec.tools for name in plain_names(tool)} | strange_names(spec)
    free = [
        name
        for name in places
        if is_speaking(name)
        and not is_fixed(spec, "example", name)
        and not (name in parameters and is_mentioned(spec, "example", name))
    ]
    if not free:
        raise NotApplicable("No tool shows a result key that can be renamed.")
    known = {
        name: bank
        for name, bank in scene.banks.result_names.items()
        if all(_is_of_the_shop(spec.tool(place.tool_id), scene) for place in places.get(name, ()))
    }
    taken = {twin_key(key) for found in places.values() for place in found for key in place.siblings}
    taken |= {twin_key(name) for name in places}
    renames = _new_names(spec, "result", free, places, known, scene, taken)
    _or_refuse(renames, f'No result key can be named otherwise in the style "{scene.text("style")}".')
    tools = rename_results(spec.tools, {name: places[name] for name in renames}, renames)
    changed = tuple(f"tool:{new.id}" for old, new in zip(spec.tools, tools, strict=True) if old is not new)
    return Changed(follow(spec.model_copy(update={"tools": tools}), "example", renames), changed)
