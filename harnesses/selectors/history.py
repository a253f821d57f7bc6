"""Reads across versions: where two harnesses come from, how any two versions differ."""

from __future__ import annotations

from collections.abc import Iterator

from harnesses.core.diff import diff_specs
from harnesses.core.risk import assess
from harnesses.models import HarnessVersion
from harnesses.selectors.versions import Comparison, catalogue_for, version_spec

MAX_FORKS = 100
"""How far back forks of forks are followed."""


def versions_compared(old: HarnessVersion, new: HarnessVersion) -> Comparison:
    """Any two versions side by side, of one harness or of two; judged by the operations of the new one's world."""
    old_spec, new_spec = version_spec(old), version_spec(new)
    return Comparison(
        old=old,
        new=new,
        diff=diff_specs(old_spec, new_spec),
        risk=assess(old_spec, new_spec, catalogue_for(new.harness.world)),
    )


def common_ancestor(first: HarnessVersion, second: HarnessVersion) -> HarnessVersion | None:
    """The newest version that both come from, by forks and by number; None where they have nothing in common."""
    known = {version.harness_id: version for version in _lineage(first)}
    for version in _lineage(second):
        if (other := known.get(version.harness_id)) is not None:
            return min(version, other, key=lambda item: item.number)
    return None


def _lineage(version: HarnessVersion) -> Iterator[HarnessVersion]:
    """The version, the one its harness was forked from, the one that one's harness was forked from …"""
    found: HarnessVersion | None = version
    for _ in range(MAX_FORKS):
        if found is None:
            return
        yield found
        origins = HarnessVersion.objects.select_related("harness").defer("document")
        found = origins.filter(forks=found.harness_id).first()
