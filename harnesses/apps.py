"""App registration."""

from django.apps import AppConfig


class HarnessesConfig(AppConfig):
    name = "harnesses"

    def ready(self) -> None:
        from harnesses import policy
        from harnesses.selectors.members import team_uses
        from ledger import ports

        harness = ports.AuditedKind(
            find=lambda user, slug: policy.harness_for(user, slug).pk, hidden_ids=policy.hidden_ids
        )
        ports.register_audited_kind("harness", harness)
        ports.register_team_uses("harness", team_uses)
