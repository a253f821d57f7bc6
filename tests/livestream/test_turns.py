"""Whole turns of the agent loop on both worlds, with a model that says what it is told to."""

from harnesses.core.bindings import identity_binding, to_surface_call
from harnesses.core.call_writing import write_call
from harnesses.core.operations import OperationCall
from harnesses.core.spec import HarnessSpec, Tool
from harnesses.runtime.loop import run_turn
from harnesses.runtime.testing import ScriptedChatClient
from harnesses.runtime.trace import Conversation, Trace, TurnInput
from livestream.demo import demo_shop
from livestream.operations import SPECS
from livestream.retail import retail_harness, retail_world
from livestream.room import open_room
from livestream.world import RoomOperations, WorldOperations

PLAIN = HarnessSpec(
    tools=tuple(
        Tool(
            id=spec.name,
            name=spec.name,
            description=spec.description,
            input_schema=spec.input_schema,
            binding=identity_binding(spec),
        )
        for spec in SPECS
    )
)


async def turn(spec: HarnessSpec, operations: WorldOperations, calls: list[OperationCall]) -> Trace:
    """A turn in which the model makes these calls, one a round, and then says "Done."."""
    written = []
    for call in calls:
        surface = to_surface_call(spec, call)
        written.append(write_call(spec.runtime.call_format, surface.tool_name, surface.arguments))
    operations.room = operations.room.heard(viewer_id="v1", viewer_name="Kim", text="hello")
    return await run_turn(
        spec,
        Conversation(),
        TurnInput(comment="hello", viewer="Kim", context=operations.world.context(operations.room, "Kim")),
        chat_client=ScriptedChatClient([*written, "Done."]),
        operations=operations,
    )


async def test_a_turn_in_the_demo_shop_reads_writes_and_changes_the_room() -> None:
    operations = RoomOperations(demo_shop(), open_room(demo_shop(), shelf=["T1", "S1"], on_show="T1"))
    calls = [
        OperationCall("get_price", {"item": "Linen camp shirt", "variant": "white, M", "coupons": ["C1"]}),
        OperationCall("push_item_card", {"item": "S1"}),
        OperationCall("send_coupon", {"coupon": "C1", "audience": "room"}),
    ]
    trace = await turn(PLAIN, operations, calls)
    assert trace.reply == "Done."
    assert [call.status for call in trace.calls] == ["ok", "ok", "ok"]
    price = trace.calls[0].operation_result
    assert price is not None
    assert price["total_minor"] == 11_900
    assert [action.operation for action in trace.actions] == ["push_item_card", "send_coupon"]
    assert [card.item_id for card in operations.room.pushed_cards] == ["S1"]
    assert [sent.audience for sent in operations.room.sent_coupons] == ["room"]
    assert [call.operation for call in operations.writes] == ["push_item_card", "send_coupon"]


async def test_a_wrong_item_is_told_to_the_model_with_what_is_near() -> None:
    operations = RoomOperations(demo_shop(), open_room(demo_shop(), 0))
    trace = await turn(PLAIN, operations, [OperationCall("get_stock", {"item": "T99"})])
    (call,) = trace.calls
    assert call.status == "failed"
    assert "There is no item T99. Close matches: T9 Fleece zip hoodie." in call.shown_result
    assert trace.actions == ()


async def test_a_retail_turn_shows_dollars_and_keeps_the_change_in_the_conversation() -> None:
    world = retail_world()
    order = next(order for order in world.database.orders.values() if order["status"] == "pending")
    operations = WorldOperations(world, world.open(0))
    calls = [
        OperationCall("find_user", {"email": world.database.users[order["user_id"]]["email"]}),
        OperationCall("cancel_order", {"order_id": order["order_id"], "reason": "no longer needed"}),
        OperationCall("hand_over", {"reason": "other", "summary": "Wants a call back."}),
    ]
    trace = await turn(retail_harness(), operations, calls)
    assert [call.tool_name for call in trace.calls] == [
        "find_user_id_by_email",
        "cancel_pending_order",
        "transfer_to_human_agents",
    ]
    assert [call.status for call in trace.calls] == ["ok", "ok", "ok"]
    price = order["items"][0]["price_minor"]
    assert f"{price / 100:.2f}".rstrip("0").rstrip(".") in trace.calls[1].shown_result
    assert "price_minor" not in trace.calls[1].shown_result
    assert operations.room.orders[order["order_id"]]["status"] == "cancelled"
    assert operations.room.handovers[0].viewer_id == "v1"
