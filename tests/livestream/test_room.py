"""Rooms: opened by seed or by hand, stored as JSON, and shown to templates in the declared shape."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from harnesses.core.templates import CONTEXT_SCHEMA
from livestream.demo import demo_shop
from livestream.room import MAX_COMMENTS, RoomState, open_room, room_context


def test_a_seed_opens_the_same_room_again_and_another_seed_another_room() -> None:
    assert open_room(demo_shop(), 4) == open_room(demo_shop(), 4)
    assert len({open_room(demo_shop(), seed).shelf for seed in range(20)}) == 20


def test_a_drawn_shelf_covers_every_category_and_its_first_item_is_on_show() -> None:
    room = open_room(demo_shop(), 1)
    items = [demo_shop().item(item_id) for item_id in room.shelf]
    assert {item.category for item in items if item} == {item.category for item in demo_shop().items}
    assert room.on_show == room.shelf[0] == room.segments[0].item_id


def test_what_is_given_by_hand_is_kept() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=8)))
    room = open_room(
        demo_shop(), shelf=["T2", "S1"], on_show="S1", host_name="Ana", title="Shoe hour", topic="Shoes", clock=noon
    )
    assert (room.shelf, room.on_show, room.host_name, room.title, room.topic) == (
        ("T2", "S1"),
        "S1",
        "Ana",
        "Shoe hour",
        "Shoes",
    )
    assert room.clock == datetime(2026, 5, 1, 4, tzinfo=UTC)
    assert room.clock.utcoffset() == timedelta(0)


def test_a_shelf_given_by_hand_has_nothing_on_show_unless_said() -> None:
    room = open_room(demo_shop(), shelf=["T2"])
    assert room.on_show is None
    assert room.segments == ()
    assert room_context(demo_shop(), room, "Kim")["item"] is None


def test_items_that_do_not_exist_or_are_not_on_the_shelf_are_refused() -> None:
    with pytest.raises(ValueError, match="does not have: T99"):
        open_room(demo_shop(), shelf=["T1", "T99"])
    with pytest.raises(ValueError, match="S1, is not on the shelf"):
        open_room(demo_shop(), shelf=["T1"], on_show="S1")


def test_the_context_has_exactly_the_declared_fields() -> None:
    room = open_room(demo_shop(), shelf=["T1", "S1"], on_show="T1", clock=datetime(2026, 5, 1, 9, 30, tzinfo=UTC))
    context = room_context(demo_shop(), room, "Kim")
    assert context == {
        "room": {"title": room.title, "topic": room.topic},
        "host": {"name": room.host_name},
        "item": {"id": "T1", "name": "Linen camp shirt"},
        "items": [{"id": "T1", "name": "Linen camp shirt"}, {"id": "S1", "name": "Easy mile runner"}],
        "viewer": {"name": "Kim"},
        "clock": {"date": "2026-05-01", "time": "09:30"},
        "shop": {"name": "Tackroom Market"},
    }
    Draft202012Validator(CONTEXT_SCHEMA).validate(context)
    assert set(context) == set(CONTEXT_SCHEMA["properties"])


def test_comments_and_replies_build_a_history_and_the_clock_never_runs_backwards() -> None:
    room = open_room(demo_shop(), 0)
    later = room.clock + timedelta(minutes=3)
    first = room.heard(viewer_id="v1", viewer_name="Kim", text="hello", at=later).answered("Hi Kim!")
    second = first.heard(viewer_id="v2", viewer_name="Lu", text="how much?", at=room.clock)
    assert room.comments == ()
    assert [(comment.viewer_id, comment.reply) for comment in second.comments] == [("v1", "Hi Kim!"), ("v2", None)]
    assert second.clock == later
    assert second.current_viewer_id == "v2"
    assert isinstance(second, RoomState)


def test_an_answer_needs_a_comment_and_texts_must_be_storable() -> None:
    room = open_room(demo_shop(), 0)
    with pytest.raises(ValueError, match="no comment to answer"):
        room.answered("hello")
    with pytest.raises(ValidationError, match=r"U\+0000"):
        room.heard(viewer_id="v1", viewer_name="Kim", text="nul \x00")


def test_whatever_a_model_replies_can_be_stored() -> None:
    room = open_room(demo_shop(), 0).heard(viewer_id="v1", viewer_name="Kim", text="hi")
    assert room.answered("a\x00b\x1b[1m\r\nc\td\ud800").comments[-1].reply == "ab[1m\nc\td"


def test_only_the_latest_comments_are_kept() -> None:
    room = open_room(demo_shop(), 0)
    for number in range(MAX_COMMENTS + 5):
        room = room.heard(viewer_id="v1", viewer_name="Kim", text=str(number))
    assert [comment.text for comment in room.comments] == [str(number) for number in range(5, MAX_COMMENTS + 5)]


def test_a_room_survives_json() -> None:
    room = open_room(demo_shop(), 2).heard(viewer_id="v1", viewer_name="小李", text="多少钱? 🎉").answered("19.00")
    document = json.loads(json.dumps(room.model_dump(mode="json")))
    assert RoomState.model_validate(document) == room


def test_a_naive_clock_is_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        RoomState.model_validate({**open_room(demo_shop(), 0).model_dump(), "clock": datetime(2026, 1, 1)})
