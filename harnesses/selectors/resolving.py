"""What a label points to, for a program that asks a thousand times a second: one query, on the event loop.

The query judges the token, its owner's rights and the label at once and in the database, so that a move, a revoked token or a lost
role counts with the next request in every process. It answers only what is certainly allowed; for everything else it gives None,
and the caller asks the policy, which says why not. The roles in it come from the same tables as the policy.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import psycopg
from asgiref.sync import sync_to_async
from django.db import connection
from psycopg import sql
from psycopg_pool import AsyncConnectionPool

from harnesses.core.labels import label_name_problem
from harnesses.core.membership import ROLE_ACTIONS, HarnessAction
from harnesses.models import HarnessVersion
from harnesses.selectors.versions import SLUG_PATTERN, version_spec
from ledger.core.roles import Permission, roles_with
from ledger.core.tokens import TOKEN_PATTERN, Scope, hash_token

CONNECTIONS = 4
"""Connections kept for this in each process: the work is the process's own, so more would only wait for it."""
WAIT_S = 2.0
TOUCH_AFTER = dt.timedelta(seconds=60)

CACHE_CONTROL = "private, no-cache"
"""Keep an answer, but ask each time whether it still holds."""

_QUERY = """
SELECT v.id, v.number, v.spec_hash, t.last_used_at
FROM ledger_apitoken t
JOIN ledger_user u ON u.id = t.owner_id
JOIN harnesses_harness h ON h.slug = %(slug)s
JOIN harnesses_harnesslabel l ON l.harness_id = h.id AND l.name = %(label)s
JOIN harnesses_harnessversion v ON v.id = l.version_id
WHERE t.secret_hash = %(secret_hash)s
  AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
  AND {scope} = ANY (t.scopes)
  AND u.is_active
  AND (
    u.is_superuser
    OR EXISTS (
      SELECT 1 FROM ledger_user_groups ug JOIN auth_group g ON g.id = ug.group_id
      WHERE ug.user_id = u.id
        AND (g.name = ANY ({managing}) OR (h.access = 'open' AND g.name = ANY ({viewing})))
    )
    OR EXISTS (
      SELECT 1 FROM harnesses_harnessmember m
      WHERE m.harness_id = h.id AND m.role = ANY ({member_roles})
        AND (m.user_id = u.id OR m.team_id IN (SELECT tm.team_id FROM ledger_team_members tm WHERE tm.user_id = u.id))
    )
  )
"""
# The rights stand in the text of the query: they are the same for all, and the database plans it once.
QUERY = (
    sql.SQL(_QUERY)
    .format(
        scope=str(Scope.HARNESSES_READ),
        managing=[str(role) for role in roles_with(Permission.MANAGE_HARNESS)],
        viewing=[str(role) for role in roles_with(Permission.VIEW_HARNESS)],
        member_roles=[str(role) for role, allowed in ROLE_ACTIONS.items() if HarnessAction.VIEW in allowed],
    )
    .as_string()
)

logger = logging.getLogger(__name__)


# --- content: it never changes, so it may be kept --------------------------------------------------------------------


class Contents:
    """The contents of versions as JSON, the ones used last, at most `max_bytes` together. Safe between threads."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._size_bytes = 0
        self._lock = threading.Lock()

    def get(self, version_id: int) -> bytes | None:
        """The content, if it is kept."""
        with self._lock:
            content = self._kept.get(version_id)
            if content is not None:
                self._kept.move_to_end(version_id)
            return content

    def read(self, version_id: int) -> bytes:
        """The content, from the database where it is not kept."""
        if (content := self.get(version_id)) is not None:
            return content
        version = HarnessVersion.objects.defer("document").get(pk=version_id)
        content = json.dumps(version_spec(version).document(), ensure_ascii=False, separators=(",", ":")).encode()
        self.keep(version_id, content)
        return content

    def keep(self, version_id: int, content: bytes) -> None:
        """Keep a content, and let go of those used longest ago where it gets too much."""
        with self._lock:
            if version_id not in self._kept and len(content) <= self.max_bytes:
                self._kept[version_id] = content
                self._size_bytes += len(content)
            while self._size_bytes > self.max_bytes:
                self._size_bytes -= len(self._kept.popitem(last=False)[1])


_contents = Contents(max_bytes=32_000_000)


@dataclass(frozen=True)
class Resolved:
    """What a label points to. `etag` names number and content: the same content committed twice is two versions."""

    slug: str
    label: str
    version_id: int
    number: int
    spec_hash: str

    @property
    def etag(self) -> str:
        return f'"{self.spec_hash}.{self.number}"'

    def body(self) -> bytes:
        """The answer as JSON."""
        return self._body(_contents.read(self.version_id))

    async def abody(self) -> bytes:
        """The same, without holding up the event loop where the content must be read."""
        content = _contents.get(self.version_id)
        return self._body(content if content is not None else await sync_to_async(_contents.read)(self.version_id))

    def _body(self, content: bytes) -> bytes:
        head = {"harness": self.slug, "label": self.label, "number": self.number, "spec_hash": self.spec_hash}
        return b'%b,"spec":%b}' % (json.dumps(head, separators=(",", ":"))[:-1].encode(), content)


# --- which version: never kept ---------------------------------------------------------------------------------------


_DJANGOS_OWN = frozenset({"context", "cursor_factory", "pool", "prepare_threshold"})
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncConnectionPool] = WeakKeyDictionary()


async def resolve_for_token(secret: str, slug: str, label: str) -> Resolved | None:
    """What a label points to, if a token certainly may know it; None where the policy must be asked (or the token's use noted)."""
    if not (TOKEN_PATTERN.fullmatch(secret) and SLUG_PATTERN.fullmatch(slug) and label_name_problem(label) is None):
        return None
    asked = {"slug": slug, "label": label, "secret_hash": hash_token(secret)}
    try:
        async with (await _pool()).connection() as conn:
            row = await (await conn.execute(QUERY, asked, prepare=True)).fetchone()
    except psycopg.Error as error:
        logger.warning("A label is resolved the slow way: %s", error)
        return None
    if row is None or row[3] is None or dt.datetime.now(dt.UTC) - row[3] > TOUCH_AFTER:
        return None
    return Resolved(slug, label, *row[:3])


async def _pool() -> AsyncConnectionPool:
    """The connections of this event loop, opened with the first question."""
    loop = asyncio.get_running_loop()
    if (pool := _pools.get(loop)) is None:
        # All that an installation says of its database (TLS, time limits …), without what is Django's own.
        parameters = {
            name: value for name, value in connection.get_connection_params().items() if name not in _DJANGOS_OWN
        }
        pool = _pools[loop] = AsyncConnectionPool(
            kwargs={**parameters, "autocommit": True},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_S,
            open=False,
            name="resolve",
        )
        await pool.open()
    return pool


async def close_pool() -> None:
    """Close the connections of this event loop."""
    if (pool := _pools.pop(asyncio.get_running_loop(), None)) is not None:
        await pool.close()
