"""App registration."""

from django.apps import AppConfig


class HarnessesConfig(AppConfig):
    name = "harnesses"
