"""Taking turns: what is answered and stored, in which order, and what happens when the engine fails."""

from __future__ import annotations

import asyncio
import datetime as dt
import uuid
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from harnesses.runtime.recorder import TurnEvent
from inference.engine.null_engine import Fault
from inference.models import Session, Turn
from inference.selectors import session_get, turn_list
from inference.services import deployment_probe, session_close, turn_take
from ledger.errors import Conflict, Invalid, NotFound
from tests.inference.conftest import Bench

pytestmark = pytest.mark.usefixtures("close_worker_connections")
PRICE_CALL = "CALL get_price; item: {item}"


def an_item(session: Session) -> str:
    return session.room_state["shelf"][0]


def reload(session: Session) -> Session:
    return session_get(session.pk, viewer=None)


async def asked(bench: Bench) -> None:
    """Wait until the engine has got a request."""
    while not bench.engine.chat_requests:  # noqa: ASYNC110 (the engine runs in a thread, without an event to wait for)
        await asyncio.sleep(0.01)


async def test_a_turn_calls_the_tool_answers_and_is_stored_whole(bench: Bench):
    session = await sync_to_async(bench.session)(viewer="mia")
    bench.engine.replies.extend([PRICE_CALL.format(item=an_item(session)), "It costs less today."])
    turn = await turn_take(acting_user=bench.user, session_id=session.pk, comment="How much is it?")
    stored = await Turn.objects.aget(session_id=session.pk, number=1)
    assert (stored.reply, stored.is_fallback, stored.stop_reason) == ("It costs less today.", False, "reply")
    assert stored.calls[0]["operation"] == "get_price"
    assert stored.calls[0]["status"] == "ok"
    assert stored.trace["calls"][0]["tool_name"] == "get_price"
    assert session.harness_version is not None
    assert stored.trace["spec_hash"] == session.harness_version.spec_hash
    assert stored.viewer == "mia"
    assert turn.pk == stored.pk
    assert stored.engine_ms > 0
    assert stored.prompt_tokens
    after = await sync_to_async(reload)(session)
    assert after.turn_count == 1
    assert after.lease_token is None
    assert after.room_state["comments"][-1]["reply"] == "It costs less today."


async def test_an_action_changes_the_room_that_the_next_turn_starts_from(bench: Bench):
    session = await sync_to_async(bench.session)()
    item = an_item(session)
    bench.engine.replies.extend([f"CALL push_card; item: {item}", "Here it is!"])
    turn = await turn_take(acting_user=bench.user, session_id=session.pk, comment="Show it to me")
    assert [action["operation"] for action in turn.actions] == ["push_item_card"]
    after = await sync_to_async(reload)(session)
    assert [card["item_id"] for card in after.room_state["pushed_cards"]] == [item]
    await turn_take(acting_user=bench.user, session_id=session.pk, comment="Thank you")
    sent = bench.engine.chat_requests[-1]["messages"]
    assert any("Here it is!" in message["content"] for message in sent)
    assert sent[-1]["content"].endswith("Thank you")


async def test_turns_of_one_session_follow_one_another(bench: Bench):
    session = await sync_to_async(bench.session)()
    bench.engine.token_delay_s = 0.01
    comments = [f"comment {number}" for number in range(5)]
    turns = await asyncio.gather(
        *(turn_take(acting_user=bench.user, session_id=session.pk, comment=text) for text in comments)
    )
    assert sorted(turn.number for turn in turns) == [1, 2, 3, 4, 5]
    last = max(turns, key=lambda turn: turn.number)
    said = [message["content"] for message in last.trace["messages"] if message["role"] == "user"]
    assert sorted(said) == comments


async def test_sessions_run_side_by_side(bench: Bench):
    stuck, quick = [await sync_to_async(bench.session)() for _ in range(2)]
    bench.engine.fail("hang", times=1)
    waiting = asyncio.create_task(turn_take(acting_user=bench.user, session_id=stuck.pk, comment="hello"))
    await asked(bench)
    assert (
        await turn_take(acting_user=bench.user, session_id=quick.pk, comment="hello")
    ).reply == "Welcome to the show!"
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_busy_session_is_a_conflict_after_the_bound(bench: Bench):
    session = await sync_to_async(bench.session)()
    lease = timezone.now() + dt.timedelta(seconds=60)
    await Session.objects.filter(pk=session.pk).aupdate(lease_token=uuid.uuid4(), lease_expires_at=lease)
    with pytest.raises(Conflict) as caught:
        await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello", max_wait_s=0.05)
    assert caught.value.code == "session_busy"


async def test_a_lease_whose_holder_died_runs_out(bench: Bench):
    session = await sync_to_async(bench.session)()
    lease = timezone.now() - dt.timedelta(seconds=1)
    await Session.objects.filter(pk=session.pk).aupdate(lease_token=uuid.uuid4(), lease_expires_at=lease)
    assert (await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello")).number == 1


async def test_a_cancelled_turn_leaves_no_trace_and_no_lease(bench: Bench):
    session = await sync_to_async(bench.session)()
    bench.engine.fail("hang", times=1)
    task = asyncio.create_task(turn_take(acting_user=bench.user, session_id=session.pk, comment="hello"))
    await asked(bench)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    after = await sync_to_async(reload)(session)
    assert (after.turn_count, after.lease_token) == (0, None)
    assert (await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello again")).number == 1


async def test_the_same_idempotency_key_gives_the_same_turn(bench: Bench):
    session = await sync_to_async(bench.session)()
    twins = await asyncio.gather(
        *(
            turn_take(acting_user=bench.user, session_id=session.pk, comment="hello", idempotency_key="key-1")
            for _ in range(3)
        )
    )
    assert {turn.pk for turn in twins} == {twins[0].pk}
    assert len(bench.engine.chat_requests) == 1
    other = await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello", idempotency_key="key-2")
    assert other.number == 2
    with pytest.raises(Invalid, match="another comment"):
        await turn_take(
            acting_user=bench.user, session_id=session.pk, comment="something else", idempotency_key="key-1"
        )


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_an_engine_that_fails_gives_the_fallback_and_says_why(make_bench: Callable[..., Bench], is_streamed):
    bench = await sync_to_async(make_bench)(deadline_ms=300, fallback_reply="One moment please.")
    session = await sync_to_async(bench.session)()
    heard: list[TurnEvent] = []
    listen = heard.append if is_streamed else None
    faults: list[Fault] = ["500", "503", "garbage", "no_choices", "wrong_content_type", "reset", "hang", "slow"]
    if is_streamed:
        faults.append("half_stream")
    for fault in faults:
        bench.engine.fail(fault, delay_s=5)
        turn = await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello", on_event=listen)
        assert (turn.is_fallback, turn.reply) == (True, "One moment please."), fault
        assert turn.stop_reason in ("engine_error", "deadline"), fault
        assert turn.errors[0]["boundary"] == "platform", fault
        assert turn.errors[0]["message"], fault
    bench.engine.heal()
    assert not (
        await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello again", on_event=listen)
    ).is_fallback


async def test_an_engine_that_is_down_is_told_with_what_the_probe_knows(bench: Bench):
    session = await sync_to_async(bench.session)()
    bench.engine.__exit__(None, None, None)
    await sync_to_async(deployment_probe)(deployment=bench.deployment)
    turn = await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello")
    assert (turn.is_fallback, turn.stop_reason) == (True, "engine_error")
    assert "engine_stopped" in [error["code"] for error in turn.errors]


async def test_what_no_database_can_keep_is_stored_all_the_same(bench: Bench):
    session = await sync_to_async(bench.session)()
    bench.engine.replies.append("zero\x00 and half \ud83d of a pair\x07")
    turn = await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello")
    stored = await Turn.objects.aget(pk=turn.pk)
    assert "\x00" not in stored.reply
    assert stored.reply.startswith("zero")
    assert (await turn_take(acting_user=bench.user, session_id=session.pk, comment="again")).number == 2


@pytest.mark.parametrize("comment", ["", "   ", "x" * 2_001, "a\x00b", "bell\x07", "half \ud83d"])
async def test_comments_that_cannot_be_taken_are_refused_by_field(bench: Bench, comment):
    session = await sync_to_async(bench.session)()
    with pytest.raises(Invalid) as caught:
        await turn_take(acting_user=bench.user, session_id=session.pk, comment=comment)
    assert caught.value.field_errors[0].field == "comment"


async def test_right_to_left_emoji_and_chinese_come_through(bench: Bench):
    session = await sync_to_async(bench.session)()
    comment = "多少钱？ كم السعر 🧥\nsecond line"
    assert (await turn_take(acting_user=bench.user, session_id=session.pk, comment=comment)).comment == comment


async def test_closed_and_unknown_sessions(bench: Bench):
    session = await sync_to_async(bench.session)()
    await sync_to_async(session_close)(session_id=session.pk, acting_user=bench.user)
    with pytest.raises(Conflict, match="closed"):
        await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello")
    with pytest.raises(NotFound):
        await turn_take(acting_user=bench.user, session_id=uuid.uuid4(), comment="hello")
    assert await sync_to_async(lambda: list(turn_list(session)))() == []


async def test_few_round_trips_to_the_database(bench: Bench):
    session = await sync_to_async(bench.session)()
    await turn_take(acting_user=bench.user, session_id=session.pk, comment="warm up")
    queries = CaptureQueriesContext(connection)
    await sync_to_async(queries.__enter__)()
    await turn_take(acting_user=bench.user, session_id=session.pk, comment="hello")
    await sync_to_async(queries.__exit__)(None, None, None)
    assert len(queries.captured_queries) <= 6, [query["sql"][:80] for query in queries.captured_queries]
