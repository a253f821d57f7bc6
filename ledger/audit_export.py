"""The audit as a file: CSV for a spreadsheet, JSON lines for a program. Written piece by piece, however long it is.

The newest entry at the start bounds it, so that the file ends although people go on working.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from ledger.errors import NotFound
from ledger.models import AuditEntry

COLUMNS = (
    "id",
    "created_at",
    "actor",
    "username",
    "action",
    "object_type",
    "object_id",
    "object_label",
    "parent_type",
    "parent_id",
    "reason",
    "before",
    "after",
    "request_id",
)
CHUNK_ROWS = 1_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BYTE_ORDER_MARK = "\ufeff"

Writer = Callable[[Sequence[AuditEntry]], str]


def entry_document(entry: AuditEntry) -> dict[str, Any]:
    """An entry as plain JSON, with the members of `COLUMNS`. `username` is None where the account is gone."""
    return {
        "id": entry.pk,
        "created_at": entry.created_at.isoformat(),
        "actor": entry.actor_name,
        "username": entry.actor.username if entry.actor else None,
        "action": entry.action,
        "object_type": entry.object_type,
        "object_id": entry.object_id,
        "object_label": entry.object_label,
        "parent_type": entry.parent_type or None,
        "parent_id": entry.parent_id or None,
        "reason": entry.reason,
        "before": entry.before,
        "after": entry.after,
        "request_id": entry.request_id,
    }


def csv_rows(entries: Sequence[AuditEntry]) -> str:
    """Entries as CSV lines. A text that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text)
    for entry in entries:
        writer.writerow([_cell(value) for value in entry_document(entry).values()])
    return text.getvalue()


def json_rows(entries: Sequence[AuditEntry]) -> str:
    """Entries as JSON lines."""
    return "".join(json.dumps(entry_document(entry), ensure_ascii=False) + "\n" for entry in entries)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


_FORMATS: dict[str, tuple[str, str, Writer]] = {
    "csv": ("text/csv; charset=utf-8", _BYTE_ORDER_MARK + ",".join(COLUMNS) + "\r\n", csv_rows),
    "jsonl": ("application/jsonl; charset=utf-8", "", json_rows),
}
EXPORT_FORMATS = tuple(_FORMATS)


def export_response(entries: QuerySet[AuditEntry], file_format: str) -> StreamingHttpResponse:
    """Entries as a download, `audit.csv` or `audit.jsonl`. Raises NotFound for any other format."""
    if file_format not in _FORMATS:
        raise NotFound(f"There is no format {file_format[:20]!a}. Choose {' or '.join(_FORMATS)}.")
    content_type, head, write = _FORMATS[file_format]
    headers = {"Content-Disposition": f'attachment; filename="audit.{file_format}"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(_pieces(entries, head, write), content_type=content_type, headers=headers)


async def _pieces(entries: QuerySet[AuditEntry], head: str, write: Writer) -> AsyncIterator[bytes]:
    yield head.encode()
    before: int | None = None
    while rows := await sync_to_async(_chunk)(entries, before):
        yield (await sync_to_async(write)(rows)).encode()
        before = rows[-1].pk


def _chunk(entries: QuerySet[AuditEntry], before: int | None) -> list[AuditEntry]:
    rows = entries if before is None else entries.filter(pk__lt=before)
    return list(rows.order_by("-pk")[:CHUNK_ROWS])
