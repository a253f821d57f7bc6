"""One interface over every world a harness can be bound to, and the worlds there are.

A world is immutable; what changes is the state that it opens, moves on and describes. `WorldOperations` holds one state and is what
the agent loop talks to. A harness names its world by its name in `WORLDS`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCall, OperationCatalogue, OperationError, OperationResult
from livestream.catalogue import Shop
from livestream.demo import demo_shop
from livestream.execution import execute
from livestream.operations import CATALOGUE
from livestream.retail import TAU2_RETAIL, retail_world
from livestream.room import RoomState, WorldState, check_references, open_room, room_context

DEMO_SHOP = "demo-shop"

_LOG = logging.getLogger(__name__)

State = TypeVar("State", bound=WorldState)


class World(Protocol[State]):
    """A world: its operations, and how its state is opened, changed, shown to templates and stored.

    The state is frozen and offers `heard(...)` and `answered(...)` for the conversation (`livestream.room.WorldState`).
    """

    @property
    def name(self) -> str: ...

    @property
    def catalogue(self) -> OperationCatalogue: ...

    def open(self, seed: int) -> State:
        """A fresh state, the same for the same seed."""
        ...

    def execute(self, state: State, call: OperationCall) -> tuple[State, OperationResult]:
        """Run one operation; the state given is never changed. Errors are results."""
        ...

    def context(self, state: State, viewer: str) -> JsonObject:
        """The template context for the viewer with this name: room, host, item, items, viewer, clock, shop."""
        ...

    def dump(self, state: State) -> JsonObject:
        """The state as plain JSON."""
        ...

    def load(self, document: JsonObject) -> State:
        """The state from its JSON. Raises ValueError (pydantic's, or with a plain message) for anything else."""
        ...


@dataclass(frozen=True)
class ShopWorld:
    """A world made of one `Shop`: rooms with the ten canonical operations."""

    name: str
    shop: Shop

    @property
    def catalogue(self) -> OperationCatalogue:
        return CATALOGUE

    def open(self, seed: int) -> RoomState:
        return open_room(self.shop, seed)

    def execute(self, state: RoomState, call: OperationCall) -> tuple[RoomState, OperationResult]:
        return execute(self.shop, state, call)

    def context(self, state: RoomState, viewer: str) -> JsonObject:
        return room_context(self.shop, state, viewer)

    def dump(self, state: RoomState) -> JsonObject:
        return state.model_dump(mode="json")

    def load(self, document: JsonObject) -> RoomState:
        """The room from its JSON. Raises ValueError for anything else, such as items that the shop does not have."""
        room = RoomState.model_validate(document)
        check_references(self.shop, room)
        return room


def demo_world() -> World[RoomState]:
    """The demo shop as a world."""
    return ShopWorld(DEMO_SHOP, demo_shop())


WORLDS: Mapping[str, Callable[[], World]] = MappingProxyType({DEMO_SHOP: demo_world, TAU2_RETAIL: retail_world})
"""How to make each world, by the name a harness uses for it. Making one reads data files; the data is read once a process."""


def world_named(name: str) -> World:
    """The world with this name. Raises ValueError listing the worlds there are."""
    maker = WORLDS.get(name)
    if maker is None:
        raise ValueError(f"There is no world {name}. Choose one of: {', '.join(WORLDS)}.")
    return maker()


class WorldOperations(Generic[State]):
    """The operations of one room, as the agent loop calls them (`harnesses.runtime.ports.Operations`).

    Holds the current state in `room` and the calls that changed it in `writes`, in order. Not for sharing between turns that run at
    the same time: give each its own.
    """

    def __init__(self, world: World[State], room: State) -> None:
        self.world = world
        self.room = room
        self.writes: list[OperationCall] = []

    @property
    def catalogue(self) -> OperationCatalogue:
        return self.world.catalogue

    async def execute(self, call: OperationCall) -> OperationResult:
        """Run one operation and keep the new state. A fault of the world itself is logged and comes back as `unavailable`."""
        try:
            changed, result = self.world.execute(self.room, call)
        except Exception as fault:
            _LOG.exception("operation_failed", extra={"world": self.world.name, "operation": call.operation})
            reason = type(fault).__name__
            return OperationResult(
                error=OperationError("unavailable", f"The shop's data could not be used ({reason}).")
            )
        if changed is not self.room:
            self.writes.append(call)
        self.room = changed
        return result


class RoomOperations(WorldOperations[RoomState]):
    """`WorldOperations` over a shop and a room of it."""

    def __init__(self, shop: Shop, room: RoomState) -> None:
        super().__init__(ShopWorld(DEMO_SHOP, shop), room)
