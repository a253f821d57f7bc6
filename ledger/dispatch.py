"""Send a Celery task by name once the transaction that asked for it is committed.

By name, because tasks live in apps above this one; through the registry, because `send_task` ignores eager mode. The database
is the truth and the broker a doorbell: a broker that does not answer is logged, and the row that asked for the work stays
queued for the periodic sweep.
"""

from __future__ import annotations

import logging
from typing import Any

from celery import Task, current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


class UnknownTaskError(LookupError):
    """No task of that name is registered: the name is misspelt, or its app has no `tasks` module."""


def dispatch(task_name: str, *args: Any, countdown_s: float = 0) -> None:
    """Send a registered task on commit (at once outside a transaction). Raises UnknownTaskError now, not on commit."""
    task = _task(task_name)

    def send() -> None:
        try:
            task.apply_async(args=args, countdown=countdown_s)
        except OperationalError as error:
            logger.warning("Task %s%r was not sent, the broker does not answer: %s", task_name, args, error)

    transaction.on_commit(send)


def _task(task_name: str) -> Task:
    if task_name not in current_app.tasks:
        # A web process imports no `tasks` modules until somebody needs one.
        current_app.loader.import_default_modules()
    try:
        return current_app.tasks[task_name]
    except KeyError as error:
        raise UnknownTaskError(f'No Celery task is registered as "{task_name}".') from error
