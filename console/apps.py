"""App registration, and the wiring of ports between layers."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        from console import celery  # noqa: F401  (shared tasks need the app)
