"""All reads of labels: what points where since when, how it came there, and what moving one would do.

Nothing here is kept between two requests: what a label points to is read from the database each time, so that every process sees
a move at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from harnesses import policy
from harnesses.core.labels import ALWAYS_PROTECTED, label_name_problem
from harnesses.core.membership import HarnessAction
from harnesses.core.release import Blocker, MoveFacts, release_blockers
from harnesses.core.risk import RiskReport
from harnesses.models import FreezeWindow, Harness, HarnessLabel, HarnessVersion, LabelMove, Review
from harnesses.selectors.approvals import Approvals, version_approvals
from harnesses.selectors.releases import freeze_at
from ledger.errors import Invalid, NotFound


@dataclass(frozen=True)
class LabelPreview:
    """What moving a label to a version would do, what it needs and what forbids it.

    `label` is None where the move would make it. `base` is what the changes are told against: what the label holds, or for a new
    label the version's parent. `is_current` tells that the label is there already, `is_rollback` that it held the version before,
    which needs no further approval.
    """

    harness: Harness
    name: str
    label: HarnessLabel | None
    version: HarnessVersion
    is_protected: bool
    is_rollback: bool
    approvals: Approvals
    freeze: FreezeWindow | None
    blockers: tuple[Blocker, ...]

    @property
    def held(self) -> HarnessVersion | None:
        return self.label.version if self.label else None

    @property
    def base(self) -> HarnessVersion | None:
        return self.approvals.base

    @property
    def risk(self) -> RiskReport:
        return self.approvals.risk

    @property
    def review(self) -> Review | None:
        return self.approvals.review

    @property
    def is_current(self) -> bool:
        return self.label is not None and self.label.version_id == self.version.pk

    @property
    def required_approvals(self) -> int:
        """How many people must approve first; 0 where the label is not protected or goes back to what it held."""
        return self.approvals.required if self.is_protected and not self.is_rollback else 0


def label_list(harness: Harness) -> QuerySet[HarnessLabel]:
    """The labels of a harness, protected ones first, each with its last move: `moved_at`, `moved_by_name`, `move_reason`,
    `move_cause`, and the number it came from (`moved_from`, None: it was made then)."""
    last = LabelMove.objects.filter(harness=OuterRef("harness"), label_name=OuterRef("name")).order_by("-id")
    return _labels(harness).annotate(
        moved_at=Subquery(last.values("created_at")[:1]),
        moved_by_name=Subquery(last.values("moved_by_name")[:1]),
        move_reason=Subquery(last.values("reason")[:1]),
        move_cause=Subquery(last.values("cause")[:1]),
        moved_from=Subquery(last.values("from_version__number")[:1]),
    )


def label_get(harness: Harness, name: str) -> HarnessLabel:
    """One label with its last move, as `label_list` gives it. Raises NotFound, naming the labels there are."""
    label = label_list(harness).filter(name=name).first() if label_name_problem(name) is None else None
    if label is None:
        known = ", ".join(_labels(harness).values_list("name", flat=True)) or "none yet"
        raise NotFound(f'The harness "{harness.slug}" has no label {name[:60]!a}. Its labels: {known}.')
    return label


def labels_by_harness(harnesses: Iterable[Harness]) -> dict[int, list[HarnessLabel]]:
    """The labels of several harnesses by the harness's key, protected ones first. Takes one query."""
    keys = [harness.pk for harness in harnesses]
    labels = HarnessLabel.objects.filter(harness__in=keys).select_related("version").defer("version__document")
    found: dict[int, list[HarnessLabel]] = {}
    for label in labels.order_by("-is_protected", "name"):
        found.setdefault(label.harness_id, []).append(label)
    return found


def label_find(harness: Harness, name: str) -> HarnessLabel | None:
    """One label, or None."""
    return None if label_name_problem(name) else _labels(harness).filter(name=name).first()


def label_moves(harness: Harness, name: str | None = None) -> QuerySet[LabelMove]:
    """The moves of one label or of all labels of a harness, newest first. They outlive the label."""
    moves = LabelMove.objects.filter(harness=harness).select_related("from_version", "to_version", "moved_by")
    moves = moves.defer("from_version__document", "to_version__document").order_by("-id")
    if name is None:
        return moves
    # What cannot be a label's name may be one that the database cannot even be asked for.
    return moves.filter(label_name=name) if label_name_problem(name) is None else moves.none()


def last_move(harness: Harness, name: str) -> LabelMove | None:
    """The newest move of a label."""
    return label_moves(harness, name).first()


def label_preview(harness: Harness, name: str, version: HarnessVersion, user: AbstractUser | None) -> LabelPreview:
    """What moving a label to a version would do now, for somebody. Raises Invalid for a name that no label can have."""
    checked_label_name(name)
    label = label_find(harness, name)
    is_protected = is_label_protected(name, label)
    approvals = version_approvals(version, label.version if label else None)
    is_rollback = held_before(harness, name, version)
    freeze = freeze_at(harness, timezone.now())
    facts = MoveFacts(
        label_name=name,
        number=version.number,
        is_protected=is_protected,
        is_archived=harness.is_archived,
        may_move=policy.may(user, move_action(is_protected), harness),
        was_held_before=is_rollback,
        approvals=len(approvals.approved_by),
        required_approvals=approvals.required,
        frozen_until=freeze.ends_at if freeze else None,
        freeze_reason=freeze.reason if freeze else "",
    )
    blockers = release_blockers(facts)
    return LabelPreview(harness, name, label, version, is_protected, is_rollback, approvals, freeze, blockers)


def checked_label_name(name: str) -> str:
    """The name itself. Raises Invalid, naming the field `label`, where no label can be called so."""
    if (problem := label_name_problem(name)) is not None:
        raise Invalid.field("label", problem.message, problem.mend, code="bad_label")
    return name


def is_label_protected(name: str, label: HarnessLabel | None) -> bool:
    """Whether a label is protected, or would be once its first move makes it."""
    return label.is_protected if label is not None else name in ALWAYS_PROTECTED


def move_action(is_protected: bool) -> HarnessAction:
    """The right that moving a label takes."""
    return HarnessAction.RELEASE if is_protected else HarnessAction.EDIT


def held_before(harness: Harness, name: str, version: HarnessVersion) -> bool:
    """Whether a label held the version while it was protected. What it held earlier nobody may have approved."""
    moves = LabelMove.objects.filter(harness=harness, label_name=name, is_protected=True)
    return moves.filter(Q(to_version=version) | Q(from_version=version)).exists()


def resolve_label(user: AbstractUser | None, slug: str, name: str) -> HarnessLabel:
    """What a label of a harness points to now, for somebody who may see it. Raises NotFound, naming its labels."""
    return label_get(policy.harness_for(user, slug), name)


def _labels(harness: Harness) -> QuerySet[HarnessLabel]:
    labels = HarnessLabel.objects.filter(harness=harness).select_related("harness", "version", "version__harness")
    return labels.defer("version__document").order_by("-is_protected", "name")
