"""`manage.py register_deployment`: tell the database which model engine this installation has. Twice is a no-op."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from console import demo
from ledger.errors import TackroomError


class Command(BaseCommand):
    """Run by `make up` once the model is prepared."""

    help = "Register the engine of this installation (ENGINE, ENGINE_URL) as its deployment. Doing it twice changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(demo.deployment_ensure())
        except (demo.DemoError, TackroomError) as error:
            raise CommandError(str(error)) from error
