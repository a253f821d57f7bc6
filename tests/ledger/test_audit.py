"""The audit trail: written with the change, never changed itself."""

import pytest
from django.db import DatabaseError, connection, transaction

from ledger.errors import Invalid
from ledger.models import AuditEntry
from ledger.request_context import begin_request, end_request
from ledger.selectors import audit_list
from ledger.services import audit_record

pytestmark = pytest.mark.django_db


def _record(operator, **changes):
    values = {"action": "harness.created", "object_type": "harness", "object_id": 7, "object_label": "autumn"}
    return audit_record(**{**values, "acting_user": operator, **changes})


def test_an_entry_names_actor_object_reason_and_request(operator):
    request_id = begin_request("request-0001")
    entry = _record(operator, before={"n": 1}, after={"n": 2}, reason="because")
    end_request()
    stored = AuditEntry.objects.get(pk=entry.pk)
    assert (stored.actor, stored.actor_name) == (operator, "Olga Operator (olga)")
    assert (stored.object_id, stored.before, stored.after) == ("7", {"n": 1}, {"n": 2})
    assert (stored.reason, stored.request_id) == ("because", request_id)


def test_the_platform_itself_is_an_actor_without_account():
    entry = _record(None)
    assert (entry.actor_id, entry.actor_name) == (None, "system")


@pytest.mark.parametrize("sql", ["UPDATE ledger_auditentry SET reason = 'x'", "DELETE FROM ledger_auditentry"])
def test_the_database_refuses_to_change_an_entry(operator, sql):
    _record(operator)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def test_the_orm_refuses_to_change_an_entry(operator):
    entry = _record(operator)
    entry.reason = "rewritten"
    for attempt in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(reason="x"),
        lambda: AuditEntry.objects.bulk_update([entry], ["reason"]),
    ):
        with pytest.raises(TypeError, match="append-only"):
            attempt()
    assert AuditEntry.objects.get(pk=entry.pk).reason == ""


def test_removing_an_account_keeps_its_name_in_the_trail(operator):
    entry = _record(operator)
    operator.delete()
    entry.refresh_from_db()
    assert (entry.actor_id, entry.actor_name) == (None, "Olga Operator (olga)")


@pytest.mark.django_db(transaction=True)
def test_an_entry_outside_a_transaction_is_a_bug():
    with pytest.raises(transaction.TransactionManagementError):
        _record(None)


def test_a_reason_with_a_control_character_is_refused(operator):
    with pytest.raises(Invalid, match="U\\+0000"):
        _record(operator, reason="a\0b")


def test_entries_are_found_by_object_action_and_text(operator):
    first = _record(operator)
    second = _record(operator, action="token.created", object_type="token", object_id=1, object_label="ci")
    assert list(audit_list(object_type="harness", object_id=7)) == [first]
    assert list(audit_list(action_prefix="token", search="CI")) == [second]
    assert second in audit_list(actor_id=operator.pk)
    assert list(audit_list(action_prefix="tok")) == []
