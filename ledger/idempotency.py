"""A request that is repeated with its `Idempotency-Key` is carried out once, and answered alike each time.

The key's record, the change itself and the kept answer are one transaction. So a request that fails or dies leaves nothing
behind, and a second one that arrives meanwhile waits at the record's unique index until it is known how the first one ended.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from ledger.errors import Conflict, Invalid
from ledger.models import IdempotencyRecord

HEADER = "Idempotency-Key"
KEPT_FOR = dt.timedelta(days=1)
MAX_WAIT_S = 10
"""How long a repeated request waits for the first one."""
RETRY_AFTER_S = 2
_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?")
BAD_KEY = "The key must be 1 to 200 visible ASCII characters."
BAD_KEY_MEND = "Send a fresh random key, such as a UUID, with each new request."


class KeyReused(Invalid):
    """The same key came with another request."""

    code = "idempotency_key_reused"
    title = "The idempotency key stands for another request"


class RequestInProgress(Conflict):
    """The first request with this key is still being carried out."""

    code = "request_in_progress"
    title = "The request is still being carried out"
    headers = {"Retry-After": str(RETRY_AFTER_S)}


@dataclass(frozen=True)
class Answer:
    """An answer as it is kept: status, the headers that tell of the result, and the body as plain JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


def fingerprint(method: str, address: str, body: bytes) -> str:
    """What a key stands for: SHA-256 of method, address and body, as 64 hex digits."""
    digest = hashlib.sha256()
    for part in (method.encode(), address.encode(), body):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def checked_key(key: str) -> str:
    """The key of a request. Raises Invalid for one that no header should hold."""
    if not _KEY.fullmatch(key):
        raise Invalid.field(HEADER, BAD_KEY, BAD_KEY_MEND, code="bad_idempotency_key")
    return key


def answer_once(
    *, owner: AbstractUser, key: str, request_hash: str, carry_out: Callable[[], Answer]
) -> tuple[Answer, bool]:
    """Carry a request out, or give the answer that it got before; tells too whether it is a repetition.

    Answers that are no success (status 400 and above, or an exception) are not kept: mended, the request may come again with the
    same key. Raises Invalid (bad key), KeyReused, RequestInProgress, and whatever `carry_out` raises.
    """
    checked_key(key)
    with transaction.atomic():
        IdempotencyRecord.objects.filter(owner_id=owner.pk, key=key, created_at__lt=timezone.now() - KEPT_FOR).delete()
        if not _claim(owner, key, request_hash):
            return _kept(owner, key, request_hash), True
        answer = carry_out()
        record = IdempotencyRecord.objects.filter(owner_id=owner.pk, key=key)
        if answer.status >= 400:
            record.delete()
        else:
            # As one JSON text: a jsonb object would lose the order of its keys.
            record.update(status=answer.status, headers=dict(answer.headers), body=json.dumps(answer.body))
    return answer, False


def _claim(owner: AbstractUser, key: str, request_hash: str) -> bool:
    """Write the key's record; False where there is one. Waits for a transaction that is writing the same."""
    statement = (
        f"INSERT INTO {IdempotencyRecord._meta.db_table} (owner_id, key, fingerprint, headers, created_at)"  # noqa: S608
        " VALUES (%s, %s, %s, '{}', %s) ON CONFLICT (owner_id, key) DO NOTHING"
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{MAX_WAIT_S}s'")
            cursor.execute(statement, [owner.pk, key, request_hash, timezone.now()])
            is_ours = cursor.rowcount == 1
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            detail = f"The first request with this {HEADER} is still being carried out. Ask again in a moment."
            raise RequestInProgress(detail) from error
        raise
    return is_ours


def _kept(owner: AbstractUser, key: str, request_hash: str) -> Answer:
    record = IdempotencyRecord.objects.get(owner_id=owner.pk, key=key)
    if record.fingerprint != request_hash:
        raise KeyReused.field(
            HEADER,
            "This key was sent before with another address or body.",
            BAD_KEY_MEND,
            code="idempotency_key_reused",
        )
    return Answer(record.status or 200, record.headers, json.loads(record.body or "null"))


def sweep(*, older_than: dt.timedelta = KEPT_FOR) -> int:
    """Forget the answers that are older than they are kept for; returns how many."""
    return IdempotencyRecord.objects.filter(created_at__lt=timezone.now() - older_than).delete()[0]
