"""Make the groups of the roles that came later: viewer and admin."""

from django.db import migrations

ROLES = ("viewer", "admin")


def make_groups(apps, schema_editor):
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_teams_and_idempotency")]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
