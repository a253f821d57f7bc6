"""What the list of harnesses shows: each with its labels and open work, and above it what waits for the person who looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser

from harnesses import selectors

MY_DRAFTS_SHOWN = 5


@dataclass(frozen=True)
class HarnessRow:
    """A harness, its labels (protected ones first), and how many drafts and reviews of it are open."""

    harness: Any
    labels: tuple[Any, ...]
    drafts: int
    reviews: int


@dataclass(frozen=True)
class MyWork:
    """What waits for one person: how many reviews, and the drafts they have open, changed last first."""

    reviews: int
    drafts: tuple[Any, ...]

    def __bool__(self) -> bool:
        return bool(self.reviews or self.drafts)


def rows(harnesses: Iterable[Any]) -> list[HarnessRow]:
    """The rows of the list. Takes three queries, however many harnesses there are."""
    shown = list(harnesses)
    labels = selectors.labels_by_harness(shown)
    drafts, reviews = selectors.open_draft_counts(shown), selectors.open_review_counts(shown)
    return [
        HarnessRow(item, tuple(labels.get(item.pk, ())), drafts.get(item.pk, 0), reviews.get(item.pk, 0))
        for item in shown
    ]


def my_work(user: AbstractUser) -> MyWork:
    """What waits for a person. Takes two queries."""
    return MyWork(selectors.waiting_count(user), tuple(selectors.drafts_of(user)[:MY_DRAFTS_SHOWN]))
