"""A real Celery worker, started as `make up` starts it, does what `ledger.dispatch` asks for, and stops when told."""

from __future__ import annotations

import time

import pytest
from django.conf import settings
from django.db import connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from console import startup
from console.supervision import State, Supervisor
from inference.models import Deployment
from ledger.dispatch import dispatch

TIMEOUT_S = 60


@pytest.fixture
def worker(tmp_path, transactional_db):
    """A running worker for the test's database; ends with the test."""
    plan = startup.Plan(state_dir=tmp_path, web_port=1, engine="none", engine_port=2)
    programs = startup.Programs(plan)
    database = {**conninfo_to_dict(settings.DATABASE_URL), "dbname": connection.settings_dict["NAME"]}
    programs.runtime |= {"DATABASE_URL": make_conninfo("", **database), "REDIS_URL": settings.REDIS_URL}
    supervisor = Supervisor(plan.pid_dir, lambda name, words: None)
    supervisor.launch(programs.worker("worker", ("default", "serve")))
    try:
        state = supervisor.wait_for("worker", is_stopping=lambda: False, timeout_s=TIMEOUT_S)
        assert state is State.READY, (plan.log_dir / "worker.log").read_text()[-2000:]
        yield supervisor
    finally:
        supervisor.stop_all()


@pytest.mark.django_db(transaction=True)
def test_dispatched_probe_is_done_by_the_worker_which_then_stops_when_told(deployment, worker):
    Deployment.objects.update(state="starting", state_reason="", last_seen_at=None)
    dispatch("inference.tasks.probe_deployments")
    deadline = time.monotonic() + TIMEOUT_S
    while Deployment.objects.get().last_seen_at is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert Deployment.objects.get().state == "healthy"
    assert worker.stop_all() == [], "the worker did not stop on its signal and had to be killed"
