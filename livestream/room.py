"""A live-stream room as an immutable value: what is on the shelf, what is on show, who said what, what was sent.

Operations never change a room: they return a new one. A room is plain JSON when stored (`model_dump(mode="json")`,
`RoomState.model_validate`). `WorldState` holds what every world's state has; other worlds build on it.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field

from harnesses.core.jsonvalues import JsonObject, Text
from harnesses.core.spec import Frozen
from livestream.catalogue import Shop

MAX_COMMENTS = 200
_FIRST_DAY = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
_TOPICS = (
    "Everyday picks under one roof",
    "Weekend deals",
    "New season, new favourites",
    "Gifts people really use",
    "Small upgrades for home and wardrobe",
    "Viewers' choice night",
)


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _storable(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in plain if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs"))


UtcTime = Annotated[AwareDatetime, AfterValidator(_in_utc)]


def iso_utc(moment: datetime) -> str:
    """ISO 8601 in UTC to the second: 2026-03-02T10:00:00Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Comment(Frozen):
    """What a viewer wrote, and the reply once there is one."""

    viewer_id: Text
    viewer_name: Text
    text: Text
    at: UtcTime
    reply: Text | None = None


class Handover(Frozen):
    """A viewer passed on to a human colleague."""

    id: Text
    reason: Text
    summary: Text
    viewer_id: Text | None
    at: UtcTime


class Segment(Frozen):
    """One stretch of the stream in which the host explains an item; `ended_at` is None while it runs."""

    id: Text
    item_id: Text
    started_at: UtcTime
    ended_at: UtcTime | None = None


class SentCoupon(Frozen):
    """A coupon given to one viewer, or to the whole room (`viewer_id` None)."""

    coupon_id: Text
    audience: Literal["viewer", "room"]
    viewer_id: Text | None
    at: UtcTime


class PushedCard(Frozen):
    """An item card shown on every viewer's screen."""

    id: Text
    item_id: Text
    at: UtcTime


class WorldState(Frozen):
    """What the state of every world holds: the clock, the comments so far, and who was handed over."""

    clock: UtcTime
    comments: tuple[Comment, ...] = ()
    handovers: tuple[Handover, ...] = ()

    def heard(self, *, viewer_id: str, viewer_name: str, text: str, at: datetime | None = None) -> Self:
        """The state after a viewer's comment, the oldest dropped beyond MAX_COMMENTS.

        With `at` the clock moves there; it never runs backwards. Raises ValueError for control characters in the texts.
        """
        clock = self.clock if at is None else max(self.clock, at)
        comment = Comment(viewer_id=viewer_id, viewer_name=viewer_name, text=text, at=clock)
        return self.model_copy(update={"clock": comment.at, "comments": (*self.comments, comment)[-MAX_COMMENTS:]})

    def answered(self, reply: str) -> Self:
        """The state after the reply to the last comment. Raises ValueError if there is none.

        A model may write anything: characters that cannot be stored are left out.
        """
        if not self.comments:
            raise ValueError("there is no comment to answer; add the viewer's comment first")
        last = Comment.model_validate({**self.comments[-1].model_dump(), "reply": _storable(reply)})
        return self.model_copy(update={"comments": (*self.comments[:-1], last)})

    @property
    def current_viewer_id(self) -> str | None:
        """Whoever wrote last; None in a silent room."""
        return self.comments[-1].viewer_id if self.comments else None

    def handed_over(self, *, reason: str, summary: str) -> tuple[Self, Handover]:
        """The state after the current viewer was passed on to a human, and the ticket."""
        ticket = Handover(
            id=f"H{len(self.handovers) + 1}",
            reason=reason,
            summary=summary,
            viewer_id=self.current_viewer_id,
            at=self.clock,
        )
        return self.model_copy(update={"handovers": (*self.handovers, ticket)}), ticket


class RoomState(WorldState):
    """A room of the demo shop. Item and coupon ids refer to the shop it was opened in."""

    room_id: Text
    title: Text
    topic: Text
    host_name: Text
    shelf: tuple[Text, ...] = Field(min_length=1)
    on_show: Text | None = None
    segments: tuple[Segment, ...] = ()
    sent_coupons: tuple[SentCoupon, ...] = ()
    pushed_cards: tuple[PushedCard, ...] = ()


def open_room(
    shop: Shop,
    seed: int = 0,
    *,
    shelf: Sequence[str] | None = None,
    on_show: str | None = None,
    host_name: str | None = None,
    title: str | None = None,
    topic: str | None = None,
    clock: datetime | None = None,
) -> RoomState:
    """Open a room. Whatever is not given follows from `seed`, the same for the same seed and shop.

    Left out, the shelf has up to 12 items over all categories and its first item is on show; with a `shelf` given, nothing is on
    show unless `on_show` says so. Raises ValueError for item ids that the shop lacks or an item on show that is not on the shelf.
    """
    dice = random.Random(seed)  # noqa: S311 - demo data that must repeat, nothing secret
    drawn_shelf = _draw_shelf(shop, dice)
    drawn_topic = dice.choice(_TOPICS)
    drawn_host = dice.choice(shop.hosts)
    drawn_clock = _FIRST_DAY + timedelta(days=dice.randrange(60), minutes=15 * dice.randrange(40))
    if shelf is None:
        shelf, on_show = drawn_shelf, on_show or drawn_shelf[0]
    now = clock or drawn_clock
    room = RoomState(
        room_id=f"R{seed}",
        title=title or f"{shop.name} live",
        topic=topic or drawn_topic,
        host_name=host_name or drawn_host,
        shelf=tuple(shelf),
        on_show=on_show,
        segments=(Segment(id="S1", item_id=on_show, started_at=now),) if on_show else (),
        clock=now,
    )
    check_references(shop, room)
    return room


def check_references(shop: Shop, room: RoomState) -> None:
    """Raise ValueError if the room names items or coupons that the shop lacks, or shows an item that is not on its shelf."""
    items = {item.id for item in shop.items}
    if unknown := [item_id for item_id in room.shelf if item_id not in items]:
        raise ValueError(f"the shelf names items that {shop.name} does not have: {', '.join(unknown)}")
    if room.on_show is not None and room.on_show not in room.shelf:
        raise ValueError(f"the item on show, {room.on_show}, is not on the shelf ({', '.join(room.shelf)})")
    shown = [segment.item_id for segment in room.segments] + [card.item_id for card in room.pushed_cards]
    if unknown := [item_id for item_id in shown if item_id not in items]:
        raise ValueError(f"segments or cards name items that {shop.name} does not have: {', '.join(unknown)}")
    if unknown := [sent.coupon_id for sent in room.sent_coupons if shop.coupon(sent.coupon_id) is None]:
        raise ValueError(f"coupons were sent that {shop.name} does not have: {', '.join(unknown)}")


def _draw_shelf(shop: Shop, dice: random.Random) -> tuple[str, ...]:
    by_category: dict[str, list[str]] = {}
    for item in shop.items:
        by_category.setdefault(item.category, []).append(item.id)
    drawn = [item_id for ids in by_category.values() for item_id in dice.sample(ids, min(2, len(ids)))]
    dice.shuffle(drawn)
    return tuple(drawn)


def room_context(shop: Shop, room: RoomState, viewer: str) -> JsonObject:
    """What a harness's templates may refer to, in a room of `shop`, for the viewer with this name."""
    names = {item.id: item.name for item in shop.items}
    return world_context(
        title=room.title,
        topic=room.topic,
        host=room.host_name,
        item={"id": room.on_show, "name": names[room.on_show]} if room.on_show else None,
        items=[{"id": item_id, "name": names[item_id]} for item_id in room.shelf],
        viewer=viewer,
        clock=room.clock,
        shop=shop.name,
    )


def world_context(
    *,
    title: str,
    topic: str,
    host: str,
    item: JsonObject | None,
    items: list[JsonObject],
    viewer: str,
    clock: datetime,
    shop: str,
) -> JsonObject:
    """The template context in its one shape, for every world. Date and time are UTC: 2026-03-02 and 10:00."""
    moment = clock.astimezone(UTC)
    return {
        "room": {"title": title, "topic": topic},
        "host": {"name": host},
        "item": item,
        "items": items,
        "viewer": {"name": viewer},
        "clock": {"date": moment.strftime("%Y-%m-%d"), "time": moment.strftime("%H:%M")},
        "shop": {"name": shop},
    }
