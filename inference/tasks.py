"""What runs on a clock: looking after the deployments."""

from __future__ import annotations

from celery import shared_task

from inference.selectors import deployment_list
from inference.services import deployment_probe


@shared_task(name="inference.tasks.probe_deployments", ignore_result=True)
def probe_deployments() -> None:
    """Find out how every deployment is."""
    for deployment in deployment_list():
        deployment_probe(deployment=deployment)
