"""Families of hooks besides renames: H2 wording, H3 slot, H4 wrapper, H5 order and a hook without effect.

Only texts that the model alone reads change. What a hook looks for, blocks, rewrites or says to viewers stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harnesses.augment.renames import shared
from harnesses.augment.rewording import reworded
from harnesses.augment.texts import is_free_hook_text
from harnesses.augment.transform import Changed, NotApplicable, Scene, with_components
from harnesses.core.checks_names import twin_key
from harnesses.core.editing.copies import fresh_id
from harnesses.core.spec import AddContext, Condition, HarnessSpec, Hook

_SLOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "SessionStart": ("system_tail", "user_prefix", "user_suffix"),
    "UserPromptSubmit": ("system_tail", "user_prefix", "user_suffix"),
    "PreToolUse": ("user_prefix", "user_suffix", "tool_result_suffix"),
    "PostToolUse": ("user_prefix", "user_suffix", "tool_result_suffix"),
    "Stop": ("user_prefix", "user_suffix"),
}
"""Slots of an event in which the model reads a text for certain, at the same time."""


def _changed(spec: HarnessSpec, change: Callable[[Hook], Hook], scene: Scene, reason: str) -> Changed:
    hooks = shared(spec.hooks, [change(hook) for hook in spec.hooks], scene)
    return with_components(spec, "hook", hooks, reason)


def reword_hooks(spec: HarnessSpec, scene: Scene) -> Changed:
    """H2: texts that hooks put before the model, in other words."""
    return _changed(
        spec, lambda hook: _reworded(hook, scene), scene, "No hook puts a text before the model that can be reworded."
    )


def _reworded(hook: Hook, scene: Scene) -> Hook:
    for field in ("text", "reason", "message"):
        if not is_free_hook_text(hook, f"action.{field}"):
            continue
        text = reworded(getattr(hook.action, field), scene)
        if text is not None:
            return hook.model_copy(update={"action": hook.action.model_copy(update={field: text})})
    return hook


def move_texts(spec: HarnessSpec, scene: Scene) -> Changed:
    """H3: texts of hooks put into another slot of the same event."""

    def moved(hook: Hook) -> Hook:
        action = hook.action
        if not isinstance(action, AddContext):
            return hook
        others = [slot for slot in _SLOTS[hook.event] if slot != action.slot]
        if action.slot not in _SLOTS[hook.event]:
            return hook
        return hook.model_copy(update={"action": action.model_copy(update={"slot": scene.rng.choice(others)})})

    return _changed(spec, moved, scene, "No hook puts a text before the model that could stand elsewhere.")


def wrap_texts(spec: HarnessSpec, scene: Scene) -> Changed:
    """H4: texts of hooks wrapped in another way."""
    wrapper = scene.text("wrapper")

    def wrapped(hook: Hook) -> Hook:
        action = hook.action
        if not isinstance(action, AddContext) or action.wrapper == wrapper:
            return hook
        return hook.model_copy(update={"action": action.model_copy(update={"wrapper": wrapper})})

    return _changed(spec, wrapped, scene, f'No hook has a text that is not wrapped as "{wrapper}" already.')


def reorder_hooks(spec: HarnessSpec, scene: Scene) -> Changed:
    """H5: hooks in another order, or one more that never fires. Hooks that enforce something keep their place in their event."""
    if scene.text("what") == "idle_hook":
        return _with_idle_hook(spec, scene)
    if len(spec.hooks) < 2:
        raise NotApplicable("There are not two hooks whose order could change.")
    queues = {event: _runs_shuffled([hook for hook in spec.hooks if hook.event == event], scene) for event in _SLOTS}
    events = [hook.event for hook in spec.hooks]
    order = tuple(queues[event].pop(0) for event in scene.rng.sample(events, len(events)))
    if order == spec.hooks:
        raise NotApplicable("The order of these hooks matters, or the draw left it as it was.")
    return Changed(spec.model_copy(update={"hooks": order}), tuple(f"hook:{hook.id}" for hook in order))


def _runs_shuffled(hooks: list[Hook], scene: Scene) -> list[Hook]:
    """The hooks of one event, with those between two enforcing ones shuffled among themselves."""
    result: list[Hook] = []
    run: list[Hook] = []
    for hook in hooks:
        if isinstance(hook.action, AddContext):
            run.append(hook)
        else:
            result += [*scene.rng.sample(run, len(run)), hook]
            run = []
    return [*result, *scene.rng.sample(run, len(run))]


def _with_idle_hook(spec: HarnessSpec, scene: Scene) -> Changed:
    """A hook at the start of a session that waits for a room without a title, and no room is without one."""
    names = scene.banks.hook_names["idle-hook"][scene.pool]
    taken = {twin_key(hook.name) for hook in spec.hooks}
    free = [name for name in names if twin_key(name) not in taken]
    if not free:
        raise NotApplicable("The harness has these hooks already.")
    hook = Hook(
        id=fresh_id("idle", {item.id for item in spec.hooks}),
        name=scene.rng.choice(free),
        event="SessionStart",
        when=(Condition(field="context", path=("room", "title"), op="missing"),),
        action=AddContext(text="The room has no title yet.", slot="system_tail"),
    )
    place = scene.rng.randint(0, len(spec.hooks))
    hooks = (*spec.hooks[:place], hook, *spec.hooks[place:])
    return Changed(spec.model_copy(update={"hooks": hooks}), (f"hook:{hook.id}",))
