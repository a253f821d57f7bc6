"""The database itself refuses to change or delete an audit entry.

One change is let through: the actor becoming empty when an account is removed (the name stays, as a copy).
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION ledger_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.actor_id IS NULL
       AND to_jsonb(NEW) - 'actor_id' = to_jsonb(OLD) - 'actor_id' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Audit entries are append-only: % refused.', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_audit_append_only BEFORE UPDATE OR DELETE ON ledger_auditentry
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_audit_change();
"""

REVERSE = """
DROP TRIGGER ledger_audit_append_only ON ledger_auditentry;
DROP FUNCTION ledger_refuse_audit_change();
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_roles")]

    operations = [migrations.RunSQL(FORWARD, REVERSE)]
