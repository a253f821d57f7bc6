"""What the ledger asks of the apps above it, which register themselves when Django starts.

The audit knows types and keys of objects, not who may see them; a team knows its people, not where it has a role. The apps that
know are asked here. Unwired, nothing is hidden and no team is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser


@dataclass(frozen=True)
class AuditedKind:
    """A type of audited object that has parts and may be hidden from people.

    `find` gives the key of one by the name people call it, and raises NotFound where the person may not see it. `hidden_ids`
    gives a query for the keys (as text) of those that a person may not see, or None where they may see all.
    """

    find: Callable[[AbstractUser | None, str], int]
    hidden_ids: Callable[[AbstractUser | None], Any]


_audited_kinds: dict[str, AuditedKind] = {}
_team_uses: dict[str, Callable[[int], list[str]]] = {}


def register_audited_kind(object_type: str, kind: AuditedKind) -> None:
    """Make known who may see the audit entries of a type of object and of its parts."""
    _audited_kinds[object_type] = kind


def audited_kinds() -> dict[str, AuditedKind]:
    """The registered kinds by object type."""
    return dict(_audited_kinds)


def register_team_uses(name: str, uses: Callable[[int], list[str]]) -> None:
    """Make known where a team (by its key) has a role, in words: "the harness autumn"."""
    _team_uses[name] = uses


def team_uses(team_id: int) -> list[str]:
    """Everywhere a team has a role, in words."""
    return [use for uses in _team_uses.values() for use in uses(team_id)]
