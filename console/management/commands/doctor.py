"""`manage.py doctor`: a table of what is configured, reachable and migrated; exit status 1 where something fails."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from console.doctor import Finding, examine


class Command(BaseCommand):
    """Works with everything down."""

    help = "Say what is configured, reachable and migrated, and what to do about what is not."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        logging.disable(logging.CRITICAL)  # what a library logs about a server that is down is in the findings
        findings = examine()
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2))
        else:
            self._write_table(findings)
        if any(finding.status == "fail" for finding in findings):
            sys.exit(1)

    def _write_table(self, findings: list[Finding]) -> None:
        styles = {"ok": self.style.SUCCESS, "warn": self.style.WARNING, "fail": self.style.ERROR}
        for finding in findings:
            self.stdout.write(f"{styles[finding.status](f'{finding.status:<4}')}  {finding.name:<13} {finding.found}")
            if finding.mend:
                self.stdout.write(f"{'':<20}→ {finding.mend}")
