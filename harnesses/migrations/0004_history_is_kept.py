"""What the database itself sees to: history is append-only, and a label's version belongs to the label's harness.

One change of history is let through: a person becoming empty when an account is removed (the name stays, as a copy).
"""

from django.db import migrations

TABLES = {
    "harnesses_labelmove": "moved_by_id",
    "harnesses_reviewdecision": "reviewer_id",
    "harnesses_reviewcomment": "author_id",
}

FUNCTION = """
CREATE FUNCTION harnesses_refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE person text := TG_ARGV[0];
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) ->> person IS NULL AND to_jsonb(NEW) - person = to_jsonb(OLD) - person THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'History is append-only: % of % refused.', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
TRIGGER = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION harnesses_refuse_history_change('{person}');
"""
# The pair is a foreign key of its own: a label cannot point into another harness.
SAME_HARNESS = """
CREATE UNIQUE INDEX harness_version_with_harness ON harnesses_harnessversion (id, harness_id);
ALTER TABLE harnesses_harnesslabel ADD CONSTRAINT label_version_of_same_harness
    FOREIGN KEY (version_id, harness_id) REFERENCES harnesses_harnessversion (id, harness_id);
"""


class Migration(migrations.Migration):
    dependencies = [("harnesses", "0003_drafts_reviews_labels")]

    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION harnesses_refuse_history_change();"),
        *[
            migrations.RunSQL(
                TRIGGER.format(table=table, person=person), f"DROP TRIGGER {table}_append_only ON {table};"
            )
            for table, person in TABLES.items()
        ],
        migrations.RunSQL(
            SAME_HARNESS,
            "ALTER TABLE harnesses_harnesslabel DROP CONSTRAINT label_version_of_same_harness;"
            " DROP INDEX harness_version_with_harness;",
        ),
    ]
