"""Who works on a harness: people and teams, each in a role."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from harnesses.models.versions import Harness


class HarnessMember(models.Model):
    """One person's or one team's role in one harness. What a role may do stands in `harnesses.core.membership`."""

    harness = models.ForeignKey(Harness, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="harness_memberships"
    )
    team = models.ForeignKey(
        "ledger.Team", null=True, blank=True, on_delete=models.CASCADE, related_name="harness_memberships"
    )
    role = models.CharField(max_length=10)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, team__isnull=True) | Q(user__isnull=True, team__isnull=False),
                name="member_user_or_team",
            ),
            models.UniqueConstraint(fields=["harness", "user"], name="member_user_unique"),
            models.UniqueConstraint(fields=["harness", "team"], name="member_team_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.team}: {self.role} of {self.harness}"
