"""`manage.py down`: the same as `make down`, for those who are used to `manage.py`."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from console import up


class Command(BaseCommand):
    """Thin: see `console.up`."""

    help = "Stop everything that make up started, leftovers of a crash too."
    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        sys.exit(up.down())
