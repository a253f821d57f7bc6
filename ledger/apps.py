"""App registration."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        from ledger import rules
        from ledger.api import schema  # noqa: F401  (registers the token scheme with drf-spectacular)

        rules.register()
