"""The database itself refuses to change or delete a harness version.

One change is let through: the author becoming empty when an account is removed (the name stays, as a copy).
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION harnesses_refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.author_id IS NULL
       AND to_jsonb(NEW) - 'author_id' = to_jsonb(OLD) - 'author_id' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Harness versions are immutable: % refused.', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER harnesses_version_immutable BEFORE UPDATE OR DELETE ON harnesses_harnessversion
    FOR EACH ROW EXECUTE FUNCTION harnesses_refuse_version_change();
"""

REVERSE = """
DROP TRIGGER harnesses_version_immutable ON harnesses_harnessversion;
DROP FUNCTION harnesses_refuse_version_change();
"""


class Migration(migrations.Migration):
    dependencies = [("harnesses", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, REVERSE)]
