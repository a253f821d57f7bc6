"""Reads across versions: who last changed what, where two harnesses come from, how any two versions differ."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import redis
from django.core.cache import cache

from harnesses.core.blame import ComponentKey, blame
from harnesses.core.diff import diff_specs
from harnesses.core.jsonvalues import JsonObject, parse_json
from harnesses.core.kinds import KIND_FIELDS, Kind, component_name
from harnesses.core.risk import assess
from harnesses.models import HarnessVersion
from harnesses.selectors.versions import Comparison, catalogue_for, version_spec

logger = logging.getLogger(__name__)

MAX_FORKS = 100
"""How far back forks of forks are followed."""
BLAME_KEPT_S = 30 * 86_400
_LOOK_BACK = 50
_CHUNK = 20


@dataclass(frozen=True)
class BlamedComponent:
    """A component of a version, and the version (without its document) that made it what it is there."""

    kind: Kind
    component_id: str
    component_name: str
    version: HarnessVersion


def version_blame(version: HarnessVersion) -> tuple[BlamedComponent, ...]:
    """The version that last changed each component of this one, in the order of the format; the runtime settings last."""
    numbers = _blame_numbers(version)
    makers = HarnessVersion.objects.filter(harness=version.harness_id, number__in=set(numbers.values()))
    by_number = {maker.number: maker for maker in makers.defer("document")}
    spec = version_spec(version)
    names: dict[ComponentKey, str] = {
        (kind, component.id): component_name(component)
        for kind, field in KIND_FIELDS.items()
        for component in getattr(spec, field)
    }
    return tuple(
        BlamedComponent(kind, component_id, names.get((kind, component_id), kind), by_number[number])
        for (kind, component_id), number in numbers.items()
    )


def _blame_numbers(version: HarnessVersion) -> dict[ComponentKey, int]:
    """Walks back to the nearest version whose blame is remembered: a long history is read once, not at every look."""
    earlier = HarnessVersion.objects.filter(harness=version.harness_id, number__lte=version.number)
    near = dict(earlier.order_by("-number").values_list("number", "pk")[:_LOOK_BACK])
    remembered = _remembered(list(near.values()))
    known = next((number for number, key in near.items() if key in remembered), None)
    if known == version.number:
        return remembered[version.pk]
    walked = earlier.filter(number__gte=known) if known is not None else earlier
    rows = walked.order_by("-number").values_list("number", "document")
    documents = ((number, _json(document)) for number, document in rows.iterator(chunk_size=_CHUNK))
    result = blame(documents, is_complete=known is None)
    older = remembered[near[known]] if known is not None else {}
    numbers = {key: older[key] if key in result.undecided else number for key, number in result.numbers.items()}
    _remember(version, numbers)
    return numbers


def _json(document: str) -> JsonObject:
    value: JsonObject = parse_json(document)
    return value


def _remembered(version_ids: list[int]) -> dict[int, dict[ComponentKey, int]]:
    try:
        found = cache.get_many([_blame_key(version_id) for version_id in version_ids])
    except redis.RedisError as error:
        logger.warning("Blame is worked out anew, Redis does not answer: %s", error)
        return {}
    kept = {version_id: found.get(_blame_key(version_id)) for version_id in version_ids}
    return {
        version_id: {(kind, component_id): number for kind, component_id, number in rows}
        for version_id, rows in kept.items()
        if rows is not None
    }


def _remember(version: HarnessVersion, numbers: dict[ComponentKey, int]) -> None:
    rows = [(kind, component_id, number) for (kind, component_id), number in numbers.items()]
    try:
        cache.set(_blame_key(version.pk), rows, BLAME_KEPT_S)
    except redis.RedisError as error:
        logger.warning("Blame is not remembered, Redis does not answer: %s", error)


def _blame_key(version_id: int) -> str:
    return f"tackroom:blame:{version_id}"


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
