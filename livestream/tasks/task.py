"""A viewer task: a room, what viewers say, and what a right answer does and says. Plain data in canonical terms, no surface name
in it."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Literal

from pydantic import Field

from harnesses.core.jsonvalues import JsonObject, content_hash
from harnesses.core.operations import OperationCall
from harnesses.core.spec import Frozen
from livestream.room import RoomState, WorldState, open_room
from livestream.tasks.facts import Fact
from livestream.world import DEMO_SHOP, ShopWorld, World, world_named

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
VIEWER_ID = "task-viewer"


class TaskClass(StrEnum):
    """What kind of question it is. Twelve for the demo shop, and look-ups in the retail catalogue."""

    ATTRIBUTE = "attribute"
    COMPARE = "compare"
    COUPON = "coupon"
    STOCK = "stock"
    SIZE = "size"
    POLICY = "policy"
    ACTION = "action"
    OFF_TOPIC = "off_topic"
    UNANSWERABLE = "unanswerable"
    INJECTION = "injection"
    RULE_BREAKING = "rule_breaking"
    FOLLOW_UP = "follow_up"
    RETAIL = "retail"


SHOP_CLASSES: tuple[TaskClass, ...] = tuple(each for each in TaskClass if each is not TaskClass.RETAIL)


class GoldCall(Frozen):
    """An operation call that a right answer makes.

    `free`: arguments whose value does not matter. `also`: other argument objects that serve as well. An optional call is made by
    the expert and not asked of anybody else.
    """

    operation: str
    arguments: JsonObject
    free: tuple[str, ...] = ()
    also: tuple[JsonObject, ...] = ()
    is_optional: bool = False

    @property
    def call(self) -> OperationCall:
        return OperationCall(self.operation, dict(self.arguments))


class Effect(Frozen):
    """What a write does to the room: the operation and whom or what it concerns (an item or coupon id, a reason), resolved."""

    operation: str
    subject: str
    audience: str = ""


class TaskTurn(Frozen):
    """A comment with its gold calls, and a right reply in words of our own."""

    comment: str
    calls: tuple[GoldCall, ...] = ()
    reply: str


class RoomSetup(Frozen):
    """How the room is opened: by seed, and for the demo shop with this shelf and item on show."""

    seed: int
    shelf: tuple[str, ...] = ()
    on_show: str | None = None
    viewer_name: str = "Kim"


class Task(Frozen):
    """One task. `history` was said before, with the expert's answers; `turn` is what is answered and graded.

    `required` facts must be said, `forbidden` ones must not. `effects` is what the turn must do to the room, no more and no
    less, except for `allowed_effects`. `skill` is the id of the demo harness's skill that applies. `items` and `template` are
    what the split goes by.
    """

    id: str
    task_class: TaskClass
    split: Split
    world: str
    room: RoomSetup
    history: tuple[TaskTurn, ...] = ()
    turn: TaskTurn
    required: tuple[Fact, ...] = ()
    forbidden: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    allowed_effects: tuple[Effect, ...] = ()
    skill: str | None = None
    items: tuple[str, ...] = ()
    template: str = Field(min_length=1)


@lru_cache(maxsize=8)
def world_of(name: str) -> World:
    """The world of a task, made once."""
    return world_named(name)


def open_task_room(task_world: str, setup: RoomSetup) -> WorldState:
    """The room before anybody has said anything. Raises ValueError for a shelf that the shop cannot have."""
    world = world_of(task_world)
    if task_world == DEMO_SHOP and setup.shelf:
        assert isinstance(world, ShopWorld)
        room: RoomState = open_room(world.shop, setup.seed, shelf=setup.shelf, on_show=setup.on_show)
        return room
    state: WorldState = world.open(setup.seed)
    return state


def task_id(document: JsonObject) -> str:
    """The id of a task from all else that it holds: "stock-test-3f2a9c01d4e8"."""
    digest = content_hash({key: value for key, value in document.items() if key != "id"})
    return f"{document['task_class']}-{document['split']}-{digest[:12]}"
