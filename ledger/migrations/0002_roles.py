"""Make a group for every role. Names are written out: a migration must not follow later changes of the table of roles."""

from django.db import migrations

ROLES = ("operator", "reviewer", "ml_engineer", "platform_engineer", "analyst")


def make_groups(apps, schema_editor):
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]

    # Nothing to undo: users may hold the groups by then.
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
