"""`production` is always protected: the database refuses anything else."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Q


def protect(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("harnesses", "HarnessLabel").objects.filter(name="production").update(is_protected=True)


class Migration(migrations.Migration):
    dependencies = [
        ("harnesses", "0006_review_change_of_mind"),
    ]

    operations = [
        migrations.RunPython(protect, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="harnesslabel",
            constraint=models.CheckConstraint(
                condition=~Q(name="production") | Q(is_protected=True), name="label_production_protected"
            ),
        ),
    ]
