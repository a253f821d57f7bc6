"""Tasks are sent by name, on commit, and honour eager mode."""

import logging

import pytest
from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from console.celery import app
from ledger.dispatch import UnknownTaskError, dispatch

_runs: list[tuple] = []


@shared_task(name="tests.note")
def note(*args):
    _runs.append(args)


@pytest.fixture
def eager():
    app.conf.task_always_eager = True
    _runs.clear()
    yield
    app.conf.task_always_eager = False


@pytest.mark.django_db(transaction=True)
def test_a_task_runs_after_the_commit_and_not_before(eager):
    with transaction.atomic():
        dispatch("tests.note", 1, "two")
        assert _runs == []
    assert _runs == [(1, "two")]


@pytest.mark.django_db(transaction=True)
def test_a_task_of_a_rolled_back_change_is_never_sent(eager):
    with transaction.atomic():
        dispatch("tests.note", 1)
        transaction.set_rollback(True)
    assert _runs == []


@pytest.mark.django_db
def test_a_misspelt_name_is_told_at_once():
    with pytest.raises(UnknownTaskError, match=r"tests\.nope"):
        dispatch("tests.nope")


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_loses_no_change(monkeypatch, caplog):
    def refuse(*args, **kwargs):
        raise OperationalError("connection refused")

    monkeypatch.setattr(note, "apply_async", refuse)
    with caplog.at_level(logging.WARNING):
        dispatch("tests.note", 3)
    assert "broker does not answer" in caplog.text
