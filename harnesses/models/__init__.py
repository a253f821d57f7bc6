"""Harnesses as they are stored: versions, drafts, reviews, labels, members."""

from harnesses.models.drafts import DraftRevision, HarnessDraft
from harnesses.models.labels import FreezeWindow, HarnessLabel, LabelMove, ScheduledRelease
from harnesses.models.members import HarnessMember
from harnesses.models.reviews import Review, ReviewComment, ReviewDecision, ReviewThread
from harnesses.models.versions import Harness, HarnessVersion

__all__ = [
    "DraftRevision",
    "FreezeWindow",
    "Harness",
    "HarnessDraft",
    "HarnessLabel",
    "HarnessMember",
    "HarnessVersion",
    "LabelMove",
    "Review",
    "ReviewComment",
    "ReviewDecision",
    "ReviewThread",
    "ScheduledRelease",
]
