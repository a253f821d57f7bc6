"""Who approved a version may reject it later: one decision of each kind, by each person, about each version."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("harnesses", "0005_label_moves_know_protection"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="reviewdecision", name="review_one_decision_each"),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.UniqueConstraint(
                fields=("review", "version", "reviewer", "verdict"), name="review_one_decision_each"
            ),
        ),
    ]
