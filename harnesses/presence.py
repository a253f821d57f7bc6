"""Who is editing a draft right now. Kept in Redis for half a minute at a time: it is shown, and nothing rests on it.

Each editor says every few seconds that it is there. A Redis that does not answer means that nobody is seen, no more.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings
from django.contrib.auth.models import AbstractUser

logger = logging.getLogger(__name__)

TTL_S = 30
MAX_SHOWN = 50
_TIMEOUT_S = 0.5


@dataclass(frozen=True)
class PersonHere:
    """Somebody who edits a draft, and how long ago their editor last said so, in seconds."""

    username: str
    name: str
    is_you: bool
    seconds_ago: int


def arrive(draft_id: int, user: AbstractUser) -> tuple[PersonHere, ...]:
    """Say that a person is editing a draft, and tell who else is, whoever said so last first."""
    key, now = _key(draft_id), time.time()
    name = user.get_full_name() or user.username
    try:
        pipeline = _client().pipeline()
        pipeline.hset(key, user.username, json.dumps([name, now]))
        pipeline.expire(key, TTL_S)
        pipeline.hgetall(key)
        entries: dict[bytes, bytes] = pipeline.execute()[2]
    except redis.RedisError as error:
        logger.warning("Presence is not known, Redis does not answer: %s", error)
        return (PersonHere(user.username, name, is_you=True, seconds_ago=0),)
    people, gone = [], []
    for member, value in entries.items():
        shown_name, seen_at = json.loads(value)
        if now - seen_at > TTL_S:
            gone.append(member)
            continue
        username = member.decode()
        people.append(PersonHere(username, shown_name, username == user.username, max(0, int(now - seen_at))))
    _forget(key, gone)
    return tuple(sorted(people, key=lambda person: (person.seconds_ago, person.username))[:MAX_SHOWN])


def leave(draft_id: int, user: AbstractUser) -> None:
    """Say that a person no longer edits a draft."""
    _forget(_key(draft_id), [user.username.encode()])


def _forget(key: str, members: list[bytes]) -> None:
    if not members:
        return
    try:
        _client().hdel(key, *members)
    except redis.RedisError as error:
        logger.warning("Presence was not taken back, Redis does not answer: %s", error)


def _key(draft_id: int) -> str:
    return f"tackroom:presence:draft:{draft_id}"


@lru_cache(maxsize=1)
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, health_check_interval=30
    )
