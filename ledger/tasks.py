"""What runs on a clock: forgetting the answers of repeated requests."""

from __future__ import annotations

from celery import shared_task

from ledger.idempotency import sweep


@shared_task(name="ledger.tasks.sweep_idempotency_records", ignore_result=True)
def sweep_idempotency_records() -> None:
    """Forget the answers that are older than a day."""
    sweep()
