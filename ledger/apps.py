"""App registration."""

from django.apps import AppConfig
from django.core.signals import request_finished


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        from ledger import rules
        from ledger.api import schema  # noqa: F401  (registers the token scheme with drf-spectacular)
        from ledger.request_context import end_request

        rules.register()
        request_finished.connect(end_request, dispatch_uid="ledger.end_request")
