"""App registration, and the wiring of ports between layers."""

from functools import partial

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        from console import celery  # noqa: F401  (shared tasks need the app)
        from harnesses import ports
        from inference.selectors import default_token_counter
        from livestream.world import WORLDS, world_named

        for name in WORLDS:
            ports.register_world(name, partial(lambda world: world_named(world).catalogue, name))
        ports.register_token_counter(default_token_counter)
