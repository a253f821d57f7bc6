"""Run one operation as every test does: result against its schema, state unchanged, messages without names."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationCall, OperationError, OperationSpec
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
    names = {*world.catalogue, *(each for spec in world.catalogue.values() for each in spec.argument_names)}
    assert not [each for each in names if "_" in each and each in result.error.message], (
        "the message names an operation or argument"
    )
    return result.error


def any_arguments(spec: OperationSpec, *likely: str) -> st.SearchStrategy[JsonObject]:
    """Arguments as a confused model might write them: known names and a stray one, any JSON for a value."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
    json_values = st.recursive(
        scalars | st.sampled_from(likely),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=5,
    )
    fitting = {name: _fitting(spec.input_schema["properties"][name], likely) for name in spec.argument_names}
    good = st.fixed_dictionaries(fitting)
    return good | st.dictionaries(st.sampled_from([*spec.argument_names, "stray"]), json_values, max_size=4)


def _fitting(schema: JsonObject, likely: tuple[str, ...]) -> st.SearchStrategy[JsonValue]:
    """A value that the schema allows, mostly a likely one."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        return st.lists(st.sampled_from(likely), min_size=1, max_size=2)
    if schema["type"] == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 10**6))
    return st.booleans() if schema["type"] == "boolean" else st.sampled_from(likely)
