"""The expert solves every task under the canonical harness, and under every transform of it."""

import pytest

from harnesses.augment.draw import apply_transform, draw_variant
from harnesses.augment.registry import TRANSFORMS
from harnesses.augment.transform import POOLS, NotApplicable
from harnesses.core.bindings import BindingError
from harnesses.core.spec import HarnessSpec
from harnesses.runtime.testing import ScriptedChatClient
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE
from livestream.retail import retail_harness
from livestream.retail.operations import CATALOGUE as RETAIL_CATALOGUE
from livestream.tasks.expert import expert_outputs, play_expert, set_scene
from livestream.tasks.generator import generate
from livestream.tasks.grading import grade
from livestream.tasks.task import SHOP_CLASSES, Effect, Task, TaskClass, open_task_room
from livestream.world import DEMO_SHOP

TASKS = generate(0)
RETAIL = generate(0, classes=[TaskClass.RETAIL])
FEW = generate(5, sizes={"train": 1, "validation": 1, "test": 2})
FEW_RETAIL = generate(5, classes=[TaskClass.RETAIL], sizes={"train": 1, "validation": 1, "test": 4})


async def failures(spec: HarnessSpec, tasks: tuple[Task, ...]) -> list[str]:
    """What the expert loses, as lines to read."""
    found = []
    for task in tasks:
        result = grade(task, await play_expert(spec, task))
        assert 0 <= result.partial <= 1
        if result.score != 1 or result.partial != 1:
            found.append(f"{task.id} {task.turn.comment}: {[lost.message for lost in result.lost]}")
    return found


async def test_full_marks_on_every_task_under_the_canonical_harness() -> None:
    assert await failures(demo_harness(), TASKS) == []
    assert await failures(retail_harness(), RETAIL) == []


@pytest.mark.parametrize("name", TRANSFORMS)
async def test_full_marks_under_every_transform(name: str) -> None:
    applied = 0
    for pool in POOLS:
        for seed in (0, 1, 2):
            try:
                variant = apply_transform(name, demo_harness(), CATALOGUE, seed, None, pool)
            except NotApplicable:
                continue
            applied += 1
            assert await failures(variant.spec, FEW) == []
    assert applied, "the transform applied nowhere"


async def test_full_marks_under_what_the_training_policy_draws() -> None:
    for seed in range(12):
        assert await failures(draw_variant(demo_harness(), CATALOGUE, seed).spec, FEW) == []
        assert await failures(draw_variant(retail_harness(), RETAIL_CATALOGUE, seed).spec, FEW_RETAIL) == []


@pytest.mark.parametrize("settings", [{"call_format": "hermes"}, {"disclosure": "inline"}, {"max_tool_rounds": 1}])
async def test_full_marks_in_another_call_format_with_skills_shown_and_with_one_round(settings: dict) -> None:
    demo = demo_harness()
    spec = demo.model_copy(update={"runtime": demo.runtime.model_copy(update=settings)})
    assert await failures(spec, FEW) == []


async def test_a_skill_that_applies_is_loaded_and_counted() -> None:
    task = next(task for task in TASKS if task.task_class is TaskClass.SIZE)
    trace = await play_expert(demo_harness(), task)
    assert trace.conversation.loaded_skills == ("sizing",)
    assert grade(task, trace).counters.is_skill_loaded is True
    other = next(task for task in TASKS if task.task_class is TaskClass.STOCK)
    assert grade(other, await play_expert(demo_harness(), other)).counters.is_skill_loaded is None


async def test_a_harness_that_cannot_do_it_is_told_by_name() -> None:
    demo = demo_harness()
    spec = demo.model_copy(update={"tools": tuple(tool for tool in demo.tools if tool.id != "price")})
    task = next(
        task for task in TASKS if task.task_class is TaskClass.COUPON and task.turn.calls[0].operation == "get_price"
    )
    with pytest.raises(BindingError, match="No tool of this harness reaches get_price"):
        await play_expert(spec, task)


async def test_effects_are_what_changed_in_the_room() -> None:
    """The grader judges the room by the writes of the trace: the same as looking at the room itself."""
    for task in (task for task in TASKS if task.task_class is TaskClass.ACTION):
        scene = await set_scene(demo_harness(), task)
        before = open_task_room(DEMO_SHOP, task.room)
        await scene.answer(task.turn, ScriptedChatClient(expert_outputs(scene.spec, task.turn, task.skill)))
        room = scene.operations.room
        cards = [Effect(operation="push_item_card", subject=card.item_id) for card in room.pushed_cards]
        coupons = [
            Effect(operation="send_coupon", subject=sent.coupon_id, audience=sent.audience)
            for sent in room.sent_coupons
        ]
        started = [
            Effect(operation="start_explaining", subject=segment.item_id)
            for segment in room.segments[len(before.segments) :]  # type: ignore[attr-defined]
        ]
        assert (*cards, *coupons, *started) == task.effects
        assert room.handovers == ()


def test_every_class_is_played() -> None:
    assert {task.task_class for task in FEW} == set(SHOP_CLASSES)
