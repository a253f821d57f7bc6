"""The tasks of a seed: how many, how different, and what no two splits share."""

import subprocess
import sys
from collections import Counter

import pytest

from harnesses.core.jsonvalues import content_hash
from livestream.demo import demo_shop
from livestream.tasks.drawing import item_splits, phrasings, topics
from livestream.tasks.generator import SIZES, generate
from livestream.tasks.retail import product_splits
from livestream.tasks.task import SHOP_CLASSES, SPLITS, Task, TaskClass, task_id

TASKS = generate(0)
RETAIL = generate(0, classes=[TaskClass.RETAIL])
SHOWN_HASH = (
    "from livestream.tasks.generator import generate; from harnesses.core.jsonvalues import content_hash; "
    "print(content_hash([task.model_dump(mode='json') for task in generate(3)]))"
)


def said(task: Task) -> tuple[str, ...]:
    return (*(turn.comment for turn in task.history), task.turn.comment, task.room.on_show or "")


def test_there_are_more_than_1200_different_tasks_in_all_twelve_classes() -> None:
    assert len(SHOP_CLASSES) == 12
    assert len(TASKS) >= 1_200
    assert len({said(task) for task in TASKS}) == len(TASKS)
    assert len({task.id for task in (*TASKS, *RETAIL)}) == len(TASKS) + len(RETAIL)
    counts = Counter((task.task_class, task.split) for task in TASKS)
    assert counts == {(kind, split): SIZES[split] for kind in SHOP_CLASSES for split in SPLITS}
    assert sum(task.split == "test" for task in TASKS) >= 400


def test_no_item_is_in_two_splits_not_even_on_a_shelf() -> None:
    owner = {**item_splits(), **product_splits()}
    for task in (*TASKS, *RETAIL):
        assert {owner[item] for item in (*task.items, *task.room.shelf)} <= {task.split}
    assert set(item_splits()) == {item.id for item in demo_shop().items}
    assert set(item_splits().values()) == set(SPLITS)


def test_no_phrasing_is_in_two_splits() -> None:
    for form, by_split in phrasings().items():
        assert set(by_split) == set(SPLITS), form
        texts = [text.casefold() for split in SPLITS for text in by_split[split]]
        assert len(texts) == len(set(texts)), form
    templates = {split: {task.template for task in (*TASKS, *RETAIL) if task.split == split} for split in SPLITS}
    assert sum(len(each) for each in templates.values()) == len(set().union(*templates.values()))


def test_no_subject_is_in_two_splits() -> None:
    for kind in ("off_topic", "unknown", "products", "claims"):
        texts = [text.casefold() for split in SPLITS for text in topics()[kind][split]]
        assert len(texts) == len(set(texts)), kind


def test_the_same_seed_gives_the_same_tasks_in_another_process() -> None:
    ours = content_hash([task.model_dump(mode="json") for task in generate(3)])
    for hash_seed in ("1", "2"):
        env = {"PYTHONHASHSEED": hash_seed, "PATH": ""}
        done = subprocess.run([sys.executable, "-c", SHOWN_HASH], capture_output=True, text=True, check=True, env=env)
        assert done.stdout.strip() == ours
    assert ours != content_hash([task.model_dump(mode="json") for task in generate(4)])


def test_one_class_does_not_depend_on_which_others_are_made() -> None:
    alone = generate(0, classes=[TaskClass.STOCK], splits=["test"])
    assert alone == tuple(task for task in TASKS if task.task_class is TaskClass.STOCK and task.split == "test")


def test_a_task_comes_back_from_its_json_and_its_id_tells_its_content() -> None:
    for task in (*TASKS[::40], *RETAIL[::40]):
        document = task.model_dump(mode="json")
        assert Task.model_validate_json(task.model_dump_json()) == task
        assert task_id(document) == task.id
        assert task_id({**document, "template": "another"}) != task.id


def test_asking_for_more_than_there_is_says_how_many_there_are() -> None:
    with pytest.raises(ValueError, match=r"policy, test: there are only \d+ different tasks, 9000 were asked for"):
        generate(0, classes=[TaskClass.POLICY], splits=["test"], sizes={"test": 9_000})


def test_most_items_and_every_phrasing_of_a_split_are_used() -> None:
    used = {item for task in TASKS for item in task.items}
    assert used == set(item_splits())
    templates = {task.template for seed in range(3) for task in (*generate(seed), *RETAIL)}
    unused = [
        text
        for form, by_split in phrasings().items()
        if not form.startswith("follow_up.first")
        for texts in by_split.values()
        for text in texts
        if text not in templates
    ]
    assert unused == []


def test_no_phrasing_and_no_reply_of_ours_sounds_like_a_tool_call() -> None:
    for task in TASKS:
        assert "CALL" not in task.turn.reply
        assert "tool_call" not in task.turn.reply
        assert "{" not in task.turn.comment
        assert task.turn.reply
