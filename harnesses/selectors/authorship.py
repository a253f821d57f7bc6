"""Who wrote a part of a change, and so may not approve it, by whatever road their work came into it.

A commit by another hand does not make one's own work somebody else's: neither a draft that one edited and another commits, nor a
revert to what one wrote, nor a merge of the fork that one wrote it in, nor a small version of another's on top. What `production`
once held was approved by others; what lies before that is nobody's own work any more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from harnesses.core.labels import PRODUCTION
from harnesses.models import DraftRevision, HarnessDraft, HarnessLabel, HarnessVersion, LabelMove

Span = tuple[int, int]
"""The versions after the first number, up to the second."""


def change_authors(version: HarnessVersion, base_version: HarnessVersion | None) -> frozenset[int]:
    """The ids of everybody who wrote a part of what leads from the base to a version.

    These are the authors of the versions since the last one that was released, of earlier versions whose content comes back, and
    of the forks that were merged; and all who saved a draft that became one of these.
    """
    released = _released(version.harness_id)
    start = _last(released, base_version.number if base_version is not None else 0)
    spans = [(start, version.number), *_brought_back(version, start, released)]
    authors = _authors(version.harness_id, spans)
    for draft in _committed_drafts(version.harness_id, spans).filter(merged_from__isnull=False):
        authors |= _merged_authors(draft, released)
    return frozenset(authors)


def _released(harness_id: int) -> list[int]:
    """The numbers of the versions that `production` holds or held, in order."""
    moves = LabelMove.objects.filter(harness_id=harness_id, label_name=PRODUCTION, is_protected=True)
    label = HarnessLabel.objects.filter(harness_id=harness_id, name=PRODUCTION)
    held = moves.order_by().filter(to_version__isnull=False).values_list("to_version__number")
    return sorted(number for (number,) in held.union(label.order_by().values_list("version__number")))


def _last(released: Sequence[int], number: int) -> int:
    """The last released version up to a number; 0 where there is none."""
    place = bisect_right(released, number)
    return released[place - 1] if place else 0


def _brought_back(version: HarnessVersion, start: int, released: Sequence[int]) -> list[Span]:
    """What led to those earlier versions whose content is that of a version since `start`, or that are this version."""
    since = HarnessVersion.objects.filter(harness_id=version.harness_id, number__gt=start, number__lte=version.number)
    twins = HarnessVersion.objects.filter(
        Q(spec_hash__in=since.order_by().values("spec_hash")) | Q(pk=version.pk),
        harness_id=version.harness_id,
        number__lte=start,
    )
    return [(_last(released, number), number) for number in twins.order_by().values_list("number", flat=True)]


def _merged_authors(draft: HarnessDraft, released: Sequence[int]) -> set[int]:
    """The authors of what a draft took over from another harness; of a fork of this one, also of what it was forked from."""
    source = draft.merged_from
    assert source is not None
    here, there = draft.harness, source.harness
    if here.forked_from is not None and here.forked_from.harness_id == there.pk:
        return _authors(there.pk, [(here.forked_from.number, source.number)])
    authors = _authors(there.pk, [(0, source.number)])
    if there.forked_from is not None and there.forked_from.harness_id == here.pk:
        number = there.forked_from.number
        authors |= _authors(here.pk, [(_last(released, number), number)])
    return authors


def _authors(harness_id: int, spans: Iterable[Span]) -> set[int]:
    """Who committed the versions of some spans, and who saved the drafts that became them."""
    committed = _within(harness_id, spans).filter(author__isnull=False).values_list("author_id")
    drafts = _committed_drafts(harness_id, spans)
    drafted = DraftRevision.objects.filter(draft__in=drafts.order_by().values("pk"), author__isnull=False)
    return {key for (key,) in committed.order_by().union(drafted.order_by().values_list("author_id"))}


def _committed_drafts(harness_id: int, spans: Iterable[Span]) -> QuerySet[HarnessDraft]:
    drafts = HarnessDraft.objects.filter(committed_version__in=_within(harness_id, spans).order_by().values("pk"))
    return drafts.select_related("harness__forked_from", "merged_from__harness__forked_from").defer(
        "document",
        "harness__forked_from__document",
        "merged_from__document",
        "merged_from__harness__forked_from__document",
    )


def _within(harness_id: int, spans: Iterable[Span]) -> QuerySet[HarnessVersion]:
    numbers = Q(pk__in=())
    for after, upto in spans:
        numbers |= Q(number__gt=after, number__lte=upto)
    return HarnessVersion.objects.filter(numbers, harness_id=harness_id)
