"""The id of the request at work, for log lines and audit rows.

A context variable, so that it follows a request through threads and coroutines alike; a Celery task may set it as well.
"""

from __future__ import annotations

import logging
import re
import uuid
from contextvars import ContextVar

_request_id: ContextVar[str] = ContextVar("tackroom_request_id", default="")
_SANE = re.compile(r"^[A-Za-z0-9._-]{8,64}$")


def current_request_id() -> str:
    """The id of the request at work; empty outside of one."""
    return _request_id.get()


def begin_request(offered: str = "") -> str:
    """Start a request: take the caller's id if it is sane (8 to 64 letters, digits, `.`, `_`, `-`), else make one."""
    request_id = offered if _SANE.fullmatch(offered) else uuid.uuid4().hex
    _request_id.set(request_id)
    return request_id


def end_request(**signal: object) -> None:
    """Forget the request id. Also a receiver of Django's `request_finished`."""
    _request_id.set("")


class RequestIdFilter(logging.Filter):
    """Gives every log record a `request_id`, for use in a log format."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id() or "-"
        return True
