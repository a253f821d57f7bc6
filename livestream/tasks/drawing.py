"""What the makers of tasks draw from: the items and phrasings of one split, rooms, and the results that the world itself gives."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCall
from livestream.catalogue import CATEGORIES, Item
from livestream.demo import demo_shop
from livestream.tasks.task import (
    VIEWER_ID,
    GoldCall,
    RoomSetup,
    Split,
    Task,
    TaskClass,
    open_task_room,
    task_id,
    world_of,
)
from livestream.world import DEMO_SHOP

_CYCLE: tuple[Split, ...] = (
    "train", "test", "train", "validation", "train", "test", "train", "test", "train", "train",
)  # fmt: skip
_SHELF = 8
_NAMES = ("Kim", "Lin", "Noor", "Ola", "Wei", "Zoe")


def split_ids(ids: Iterable[str]) -> dict[str, Split]:
    """Give each id to a split: six of ten to train, three to test, one to validation, by the hash of the id."""
    ranked = sorted(ids, key=lambda each: hashlib.sha256(each.encode()).hexdigest())
    return {each: _CYCLE[place % len(_CYCLE)] for place, each in enumerate(ranked)}


@cache
def item_splits() -> dict[str, Split]:
    """The split of every item of the demo shop, category by category."""
    found: dict[str, Split] = {}
    for category in CATEGORIES:
        found.update(split_ids(item.id for item in demo_shop().items if item.category == category))
    return found


@cache
def phrasings() -> dict[str, dict[Split, list[str]]]:
    """Phrasings by class and form, then by split."""
    return _read("phrasings.yaml")


@cache
def topics() -> dict[str, Any]:
    """Policy questions, subjects off the shop, unknown things, by kind."""
    return _read("topics.yaml")


def _read(name: str) -> Any:
    return yaml.safe_load((resources.files("livestream.tasks") / name).read_text(encoding="utf-8"))


def yuan(minor: int) -> str:
    """An amount as a host says it: 12900 → "129", 12950 → "129.50"."""
    return f"{minor // 100}" if minor % 100 == 0 else f"{minor / 100:.2f}"


@dataclass
class Draw:
    """The dice of one class and split, and what they choose from."""

    split: Split
    dice: random.Random

    @property
    def items(self) -> list[Item]:
        return [item for item in demo_shop().items if item_splits()[item.id] == self.split]

    def item(self) -> Item:
        return self.dice.choice(self.items)

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.dice.choice(choices)

    def phrasing(self, form: str) -> str:
        """A phrasing of this split."""
        return self.dice.choice(phrasings()[form][self.split])

    def ref(self, item: Item, room: RoomSetup | None = None) -> str:
        """How a viewer calls the item: by its name, in small letters, by id, or "this one" while it is on show."""
        ways = [f"the {item.name}", f"the {item.name.lower()}", item.name.lower(), item.id]
        if room is not None and room.on_show == item.id:
            ways.append("this one")
        return str(self.dice.choice(ways))

    def room(self, *items: Item, on_show: str | None = "any") -> RoomSetup:
        """A room whose shelf holds these items and others of the split; any of the shelf is on show unless one is named, or
        None."""
        others = [item.id for item in self.items if item not in items]
        shelf = [item.id for item in items] + self.dice.sample(others, min(len(others), _SHELF - len(items)))
        self.dice.shuffle(shelf)
        return RoomSetup(
            seed=self.dice.randrange(10_000),
            shelf=tuple(shelf),
            on_show=self.dice.choice(shelf) if on_show == "any" else on_show,
            viewer_name=self.dice.choice(_NAMES),
        )


def result_of(room: RoomSetup, gold: GoldCall, world: str = DEMO_SHOP) -> JsonObject:
    """What the world answers to a gold call in this room. Raises ValueError if it refuses: then it is no gold call."""
    state = open_task_room(world, room).heard(viewer_id=VIEWER_ID, viewer_name=room.viewer_name, text="…")
    _, result = world_of(world).execute(state, OperationCall(gold.operation, dict(gold.arguments)))
    if result.error is not None:
        raise ValueError(f"{gold.operation} {gold.arguments}: {result.error.message}")
    return result.value


def made(task_class: TaskClass, draw: Draw, template: str, **fields: Any) -> Task:
    """A task with its id worked out from all that it holds."""
    values = {"world": DEMO_SHOP, **fields}
    unnamed = Task(id="-", task_class=task_class, split=draw.split, template=template, **values)
    return unnamed.model_copy(update={"id": task_id(unnamed.model_dump(mode="json"))})
