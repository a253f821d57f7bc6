"""Run one operation the way every test does: result against its schema, and the state that went in unchanged."""

from __future__ import annotations

from typing import TypeVar

from jsonschema import Draft202012Validator

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationCall, OperationError
from livestream.room import WorldState
from livestream.world import World

State = TypeVar("State", bound=WorldState)


def done(world: World[State], state: State, name: str, /, **arguments: object) -> tuple[State, JsonObject]:
    """The new state and the result of a call that must succeed."""
    before = world.dump(state)
    changed, result = world.execute(state, OperationCall(name, dict(arguments)))
    assert result.error is None, result.error
    Draft202012Validator(world.catalogue[name].output_schema).validate(result.value)
    assert world.dump(state) == before, "the operation changed the state it was given"
    if world.catalogue[name].effect == "read":
        assert changed is state
    else:
        assert world.dump(changed) != before
    return changed, result.value


def value(world: World[State], state: State, name: str, /, **arguments: object) -> JsonObject:
    """The result alone."""
    return done(world, state, name, **arguments)[1]


def refused(world: World[State], state: State, name: str, /, **arguments: object) -> OperationError:
    """The error of a call that must fail and must leave the very same state."""
    before = world.dump(state)
    changed, result = world.execute(state, OperationCall(name, dict(arguments)))
    assert result.error is not None, result.value
    assert result.value == {}
    assert changed is state
    assert world.dump(state) == before
    assert not any(
        f"{known}(" in result.error.message or f"`{known}`" in result.error.message for known in world.catalogue
    )
    return result.error
