"""`manage.py seed_demo`: write the demo's people and harnesses into the database. Twice is a no-op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from console import demo
from harnesses.formats.outcome import FormatError
from ledger.errors import TackroomError
from livestream.retail import RetailPackageError


class Command(BaseCommand):
    """Each part is done for itself: one that fails does not keep the others back."""

    help = "Write the demo's people and harnesses into the database. Doing it twice changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        made = demo.people_ensure()
        self.stdout.write(f"people: {', '.join(made) or 'all there'}")
        parts: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("demo shop harness", demo.demo_harness_ensure),
            ("demo team", demo.team_ensure),
            ("demo release", demo.demo_release_ensure),
            ("tau2 retail harness", demo.retail_harness_ensure),
        )
        failed = [name for name, ensure in parts if not self._do(name, ensure)]
        for login in demo.read_logins():
            self.stdout.write(f"  {login.username:<10} {login.password:<20} {login.role}")
        if failed:
            raise CommandError(f"not made: {', '.join(failed)} (see above)")

    def _do(self, name: str, ensure: Callable[[], bool]) -> bool:
        try:
            self.stdout.write(f"{name}: {'made' if ensure() else 'there already'}")
        except (demo.DemoError, FormatError, RetailPackageError, TackroomError) as error:
            self.stderr.write(f"{name}: {error}")
            return False
        return True
