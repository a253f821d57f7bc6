"""Migrations of the two lowest apps: complete, and the triggers can be taken back."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

_TRIGGERS = {"ledger_audit_append_only", "harnesses_version_immutable"}


def _triggers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")
        return {name for (name,) in cursor.fetchall()} & _TRIGGERS


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", "ledger", "harnesses", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_the_triggers_can_be_taken_back_and_put_again():
    assert _triggers() == _TRIGGERS
    try:
        MigrationExecutor(connection).migrate([("harnesses", "0001_initial"), ("ledger", "0002_roles")])
        assert _triggers() == set()
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    assert _triggers() == _TRIGGERS
