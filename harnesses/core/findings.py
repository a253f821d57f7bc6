"""What validation says: findings, and the small helpers by which the checks make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

ComponentKind = Literal["prompt", "skill", "tool", "hook", "example", "runtime", "harness"]


class Severity(StrEnum):
    """How bad a finding is: an error keeps a harness from being committed, a warning asks, an info tells."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One thing that validation found.

    `code` is stable. `component_id` is None for the runtime settings and the harness as a whole. `field` is the place within the
    component ("binding.cases[0].operation"). `message` says what was found, `mend` what to do.
    """

    code: str
    severity: Severity
    component_kind: ComponentKind
    component_id: str | None
    field: str
    message: str
    mend: str


@dataclass(frozen=True)
class Place:
    """A component that is being checked; makes findings about its fields."""

    kind: ComponentKind
    id: str | None = None

    def error(self, code: str, field: str, message: str, mend: str) -> Finding:
        return Finding(code, Severity.ERROR, self.kind, self.id, field, message, mend)

    def warning(self, code: str, field: str, message: str, mend: str) -> Finding:
        return Finding(code, Severity.WARNING, self.kind, self.id, field, message, mend)

    def info(self, code: str, field: str, message: str, mend: str) -> Finding:
        return Finding(code, Severity.INFO, self.kind, self.id, field, message, mend)


def listed(names: Mapping[str, object] | set[str] | tuple[str, ...] | list[str], limit: int = 20) -> str:
    """Names in one line for a mend, sorted and cut short; "(none)" if there are none."""
    ordered = sorted(names)
    return (", ".join(ordered[:limit]) + (", …" if len(ordered) > limit else "")) or "(none)"
