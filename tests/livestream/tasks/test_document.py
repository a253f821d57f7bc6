"""The tables of docs/tasks.md say what the generator and the grader do."""

from pathlib import Path

from livestream.tasks.generator import generate
from livestream.tasks.grading import WEIGHTS
from livestream.tasks.task import SHOP_CLASSES, SPLITS, TaskClass

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
SHOP = generate(0)
ALL = (*SHOP, *generate(0, classes=[TaskClass.RETAIL]))


def test_counts_and_examples_are_those_of_the_generator() -> None:
    for kind in TaskClass:
        counts = [str(sum(task.task_class is kind and task.split == split for task in ALL)) for split in SPLITS]
        first = next(task for task in ALL if task.task_class is kind and task.split == "test")
        said = " → ".join([*(turn.comment for turn in first.history), first.turn.comment])
        assert f"| {kind.value} | {' | '.join(counts)} | {said} |\n" in TEXT
    sums = [str(sum(task.split == split for task in ALL)) for split in SPLITS]
    assert f"| all | {' | '.join(sums)} | {len(SHOP):,} of the demo shop, {len(ALL) - len(SHOP)} retail |" in TEXT


def test_every_class_and_every_component_is_explained() -> None:
    for kind in (*SHOP_CLASSES, TaskClass.RETAIL):
        assert TEXT.count(f"| {kind.value} | ") == 2
    for name, weight in WEIGHTS.items():
        assert f"| {name} | {weight:.2f} |" in TEXT
    assert sum(WEIGHTS.values()) == 1
