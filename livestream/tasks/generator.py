"""Make tasks by seed: so many of each class and split, all different, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from livestream.tasks import conduct, lookups
from livestream.tasks.drawing import Draw
from livestream.tasks.retail import retail
from livestream.tasks.task import SHOP_CLASSES, SPLITS, Split, Task, TaskClass

GENERATOR_VERSION: Final = 1
"""Goes up with every change of what a seed gives."""
SIZES: Final[Mapping[Split, int]] = MappingProxyType({"train": 70, "validation": 12, "test": 36})
"""Tasks of each class by split, unless asked otherwise."""
_MAX_MISSES: Final = 2_000
"""Draws in a row that give nothing new, after which there is nothing new to be had."""

Maker = Callable[[Draw], Task | None]

MAKERS: Final[Mapping[TaskClass, Maker]] = MappingProxyType(
    {
        TaskClass.ATTRIBUTE: lookups.attribute,
        TaskClass.COMPARE: lookups.compare,
        TaskClass.COUPON: conduct.coupon,
        TaskClass.STOCK: lookups.stock,
        TaskClass.SIZE: lookups.size,
        TaskClass.POLICY: lookups.policy,
        TaskClass.ACTION: conduct.action,
        TaskClass.OFF_TOPIC: conduct.off_topic,
        TaskClass.UNANSWERABLE: conduct.unanswerable,
        TaskClass.INJECTION: conduct.injection,
        TaskClass.RULE_BREAKING: conduct.rule_breaking,
        TaskClass.FOLLOW_UP: lookups.follow_up,
        TaskClass.RETAIL: retail,
    }
)


def generate(
    seed: int = 0,
    *,
    classes: Iterable[TaskClass] = SHOP_CLASSES,
    splits: Iterable[Split] = SPLITS,
    sizes: Mapping[Split, int] = SIZES,
) -> tuple[Task, ...]:
    """The tasks of a seed, by split and class. What one class and split gives does not depend on which others are asked for.

    Raises ValueError where the catalogue and the phrasings do not hold as many different tasks.
    """
    kinds = tuple(classes)
    return tuple(task for split in splits for kind in kinds for task in _some(seed, kind, split, sizes[split]))


def _some(seed: int, kind: TaskClass, split: Split, count: int) -> list[Task]:
    draw = Draw(split, random.Random(f"{GENERATOR_VERSION}/{seed}/{kind.value}/{split}"))  # noqa: S311 - to be repeated
    found: dict[tuple[str, ...], Task] = {}
    misses = 0
    while len(found) < count and misses < _MAX_MISSES:
        task = MAKERS[kind](draw)
        is_new = task is not None and _said(task) not in found
        misses = 0 if is_new else misses + 1
        if task is not None and is_new:
            found[_said(task)] = task
    if len(found) < count:
        raise ValueError(f"{kind.value}, {split}: there are only {len(found)} different tasks, {count} were asked for")
    return list(found.values())


def _said(task: Task) -> tuple[str, ...]:
    """What makes a task another one: all comments, and the item that "this one" means."""
    return (*(turn.comment for turn in task.history), task.turn.comment, task.room.on_show or "")
