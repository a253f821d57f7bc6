"""Both worlds behind one interface, and the operations object that the agent loop talks to."""

import json

import pytest
from jsonschema import Draft202012Validator

from harnesses.core.operations import OperationCall
from harnesses.core.templates import CONTEXT_SCHEMA
from harnesses.runtime.ports import Operations
from livestream.demo import demo_shop
from livestream.room import open_room
from livestream.world import WORLDS, RoomOperations, WorldOperations, demo_world, world_named


@pytest.fixture(params=sorted(WORLDS))
def world(request):
    return world_named(request.param)


def test_worlds_are_found_by_name_and_an_unknown_one_lists_them() -> None:
    assert set(WORLDS) == {"demo-shop", "tau2-retail"}
    assert all(world_named(name).name == name for name in WORLDS)
    with pytest.raises(ValueError, match=r"no world moon\. Choose one of: demo-shop, tau2-retail"):
        world_named("moon")


def test_opening_is_repeatable_and_states_survive_json(world) -> None:
    state = world.open(3).heard(viewer_id="v1", viewer_name="Kim", text="hi").answered("Hello")
    assert world.open(3) == world.open(3)
    assert world.load(json.loads(json.dumps(world.dump(state)))) == state


def test_every_world_shows_templates_the_declared_context(world) -> None:
    context = world.context(world.open(1), "Kim")
    assert set(context) == set(CONTEXT_SCHEMA["properties"])
    Draft202012Validator(CONTEXT_SCHEMA).validate(context)
    assert context["viewer"] == {"name": "Kim"}


def test_every_catalogue_is_keyed_by_name_with_valid_schemas(world) -> None:
    for name, spec in world.catalogue.items():
        assert spec.name == name
        Draft202012Validator.check_schema(spec.input_schema)
        Draft202012Validator.check_schema(spec.output_schema)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shelf": ["T1", "T99"]}, "does not have: T99"),
        ({"on_show": "T99"}, "is not on the shelf"),
        ({"pushed_cards": [{"id": "P1", "item_id": "T99", "at": "2026-05-01T09:00:00Z"}]}, "does not have: T99"),
        (
            {
                "sent_coupons": [
                    {"coupon_id": "C99", "audience": "room", "viewer_id": None, "at": "2026-05-01T09:00:00Z"}
                ]
            },
            "does not have: C99",
        ),
        ({"shelf": []}, "shelf"),
        ({"clock": "yesterday"}, "clock"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_a_stored_room_that_does_not_fit_the_shop_is_refused(changes, message) -> None:
    world = demo_world()
    with pytest.raises(ValueError, match=message):
        world.load({**world.dump(world.open(0)), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orders": {"#W0": {}}}, "no order #W0"),
        (
            {"users": {"noah_brown_6181": {"user_id": "noah_brown_6181"}}},
            "user noah_brown_6181: .* is a required property",
        ),
    ],
)
def test_a_stored_conversation_with_broken_records_is_refused(changes, message) -> None:
    world = world_named("tau2-retail")
    with pytest.raises(ValueError, match=message):
        world.load({**world.dump(world.open(0)), **changes})


def test_a_changed_conversation_survives_json() -> None:
    world = world_named("tau2-retail")
    order_id = next(key for key, order in world.database.orders.items() if order["status"] == "pending")  # type: ignore[attr-defined]
    call = OperationCall("cancel_order", {"order_id": order_id, "reason": "no longer needed"})
    state = world.execute(world.open(0), call)[0]
    assert world.load(json.loads(json.dumps(world.dump(state)))) == state


async def test_room_operations_keep_the_state_and_remember_what_changed_it() -> None:
    room = open_room(demo_shop(), shelf=["T1", "S1"])
    operations = RoomOperations(demo_shop(), room)
    port: Operations = operations
    assert set(port.catalogue) == set(demo_world().catalogue)
    await port.execute(OperationCall("get_stock", {"item": "T1"}))
    assert operations.room is room
    assert operations.writes == []
    push = OperationCall("push_item_card", {"item": "T1"})
    await port.execute(push)
    refusal = await port.execute(OperationCall("push_item_card", {"item": "T99"}))
    assert refusal.error is not None
    assert operations.writes == [push]
    assert [card.item_id for card in operations.room.pushed_cards] == ["T1"]
    assert room.pushed_cards == ()


async def test_a_fault_of_the_world_is_unavailable_and_leaves_the_state() -> None:
    room = open_room(demo_shop(), shelf=["T1"], on_show="T1")
    other_shop = demo_shop().model_copy(update={"items": None})
    operations = RoomOperations(other_shop, room)
    result = await operations.execute(OperationCall("get_item", {"item": "T1"}))
    assert result.error is not None
    assert result.error.code == "unavailable"
    assert operations.room is room


async def test_retail_operations_change_a_conversation_not_the_data() -> None:
    world = world_named("tau2-retail")
    first, second = WorldOperations(world, world.open(0)), WorldOperations(world, world.open(0))
    order_id = next(key for key, order in world.database.orders.items() if order["status"] == "pending")  # type: ignore[attr-defined]
    await first.execute(OperationCall("cancel_order", {"order_id": order_id, "reason": "no longer needed"}))
    look = OperationCall("get_order", {"order_id": order_id})
    assert (await first.execute(look)).value["status"] == "cancelled"
    assert (await second.execute(look)).value["status"] == "pending"
