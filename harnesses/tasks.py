"""What runs on a clock: planned releases whose time has come."""

from __future__ import annotations

from celery import shared_task

from harnesses.services.releases import release_run_due


@shared_task(name="harnesses.tasks.run_due_releases", ignore_result=True)
def run_due_releases() -> None:
    """Run every planned release that is due."""
    release_run_due()
