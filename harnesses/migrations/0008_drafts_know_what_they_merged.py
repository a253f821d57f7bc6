"""A draft that took over the changes of another harness knows which version they came from."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("harnesses", "0007_production_stays_protected"),
    ]

    operations = [
        migrations.AddField(
            model_name="harnessdraft",
            name="merged_from",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="harnesses.harnessversion",
            ),
        ),
    ]
