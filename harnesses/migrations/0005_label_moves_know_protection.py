"""Each move of a label knows whether the label was protected then."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("harnesses", "0004_history_is_kept"),
    ]

    operations = [
        migrations.AddField(
            model_name="labelmove",
            name="is_protected",
            field=models.BooleanField(default=False),
        ),
    ]
