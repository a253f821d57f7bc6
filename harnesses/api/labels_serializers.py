"""What the REST API takes and gives for labels, planned releases and freeze windows. Rules live in services; here is only shape."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from harnesses.models import FreezeWindow, HarnessLabel, HarnessVersion, LabelMove, ScheduledRelease
from harnesses.selectors import MAX_NUMBER, LabelPreview
from ledger.api.fields import StrictSerializer, TextField, WholeNumberField


@extend_schema_field(OpenApiTypes.DATETIME)
class MomentField(TextField):
    """A point in time as ISO 8601 text with a zone."""

    default_error_messages = {
        "not_a_moment": "{value} is no point in time. Write it like 2026-12-01T20:00:00+08:00.",
        "no_zone": "The time has no zone. Add one, such as 2026-12-01T20:00:00+08:00.",
    }

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            moment = dt.datetime.fromisoformat(text)
            moment.astimezone(dt.UTC)  # The first and last days of the calendar have no UTC.
        except (ValueError, OverflowError):
            self.fail("not_a_moment", value=ascii(text[:60]))
        if moment.tzinfo is None:
            self.fail("no_zone")
        return moment

    def to_representation(self, value: Any) -> Any:
        return value.isoformat()


@extend_schema_field(OpenApiTypes.BOOL)
class FlagField(serializers.Field):
    """A JSON boolean and nothing that could be taken for one."""

    default_error_messages = {"not_a_boolean": "Expected true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("not_a_boolean")
        return data

    def to_representation(self, value: Any) -> bool:
        return bool(value)


# --- taken -----------------------------------------------------------------------------------------------------------


class MoveSerializer(StrictSerializer):
    """Where a label shall point. `reason` and `confirm` (the label's name, typed) are needed where it is protected."""

    number = WholeNumberField(min_value=1, max_value=MAX_NUMBER)
    reason = TextField(required=False, default="")
    confirm = TextField(required=False, default="", help_text="The label's own name.")


class UndoSerializer(StrictSerializer):
    """Why the last move is taken back."""

    reason = TextField(required=False, default="")
    confirm = TextField(required=False, default="", help_text="The label's own name, where it is protected.")


class ProtectSerializer(StrictSerializer):
    """Whether the label is protected."""

    is_protected = FlagField()
    reason = TextField(required=False, default="")


class ReleaseCreateSerializer(MoveSerializer):
    """A label's move that shall happen by itself."""

    label = TextField()  # type: ignore[assignment]
    due_at = MomentField(help_text="With its zone; a year ahead at most.")


class FreezeCreateSerializer(StrictSerializer):
    """A time in which protected labels do not move."""

    starts_at = MomentField(help_text="With its zone; left out, now.", required=False)
    ends_at = MomentField(help_text="With its zone.")
    reason = TextField()


# --- given -----------------------------------------------------------------------------------------------------------


class LabelSerializer(serializers.Serializer[Any]):
    """A label: where it points, since when, by whose move and from where. The ETag of revision 4 is `"l4"`."""

    harness = serializers.CharField()
    name = serializers.CharField()
    number = serializers.IntegerField()
    spec_hash = serializers.CharField()
    is_protected = serializers.BooleanField()
    revision = serializers.IntegerField()
    moved_at = serializers.DateTimeField()
    moved_by = serializers.CharField()
    moved_from = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()


class LabelMovedSerializer(LabelSerializer):
    """A label after a move; `is_moved` is false where it pointed there already."""

    is_moved = serializers.BooleanField()


class MoveRowSerializer(serializers.Serializer[Any]):
    """One move of a label."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    from_number = serializers.IntegerField(allow_null=True)
    to_number = serializers.IntegerField(allow_null=True)
    cause = serializers.ChoiceField(LabelMove.Cause.choices)
    is_protected = serializers.BooleanField()
    reason = serializers.CharField()
    moved_by = serializers.CharField()
    created_at = serializers.DateTimeField()


class BlockerSerializer(serializers.Serializer[Any]):
    """One reason why a label does not move."""

    code = serializers.CharField()
    message = serializers.CharField()
    mend = serializers.CharField()


class PreviewSerializer(serializers.Serializer[Any]):
    """What a move would replace, what it needs, and what forbids it."""

    harness = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    number = serializers.IntegerField()
    held_number = serializers.IntegerField(allow_null=True, help_text="What the label points to now.")
    base_number = serializers.IntegerField(allow_null=True, help_text="What the changes are told against.")
    revision = serializers.IntegerField(help_text="Of the label; 0 where the move makes it.")
    is_protected = serializers.BooleanField()
    is_current = serializers.BooleanField(help_text="The label is there already.")
    is_rollback = serializers.BooleanField(help_text="It held the version before: no further approval is needed.")
    required_approvals = serializers.IntegerField()
    approved_by = serializers.ListField(child=serializers.CharField())
    review = serializers.IntegerField(
        allow_null=True, help_text="The review of the version that is under way or approved."
    )
    verdict = serializers.CharField()
    required_evals = serializers.ListField(child=serializers.CharField())
    changes = serializers.ListField(child=serializers.DictField())
    blockers = BlockerSerializer(many=True)
    frozen_until = serializers.DateTimeField(allow_null=True)


class ReleaseSerializer(serializers.Serializer[Any]):
    """A planned release. `failure` says why it did not happen."""

    id = serializers.IntegerField()
    harness = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    number = serializers.IntegerField()
    expected_number = serializers.IntegerField(allow_null=True)
    due_at = serializers.DateTimeField()
    state = serializers.ChoiceField(ScheduledRelease.State.choices)
    reason = serializers.CharField()
    failure = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class FreezeSerializer(serializers.Serializer[Any]):
    """A freeze window; `harness` is null where it holds for all."""

    id = serializers.IntegerField()
    harness = serializers.CharField(allow_null=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    cancelled_at = serializers.DateTimeField(allow_null=True)


def _number(version: HarnessVersion | None) -> int | None:
    return version.number if version is not None else None


def label_document(label: HarnessLabel) -> dict[str, Any]:
    """A label as `label_get` and `label_list` give it, as plain JSON."""
    return {
        "harness": label.harness.slug,
        "name": label.name,
        "number": label.version.number,
        "spec_hash": label.version.spec_hash,
        "is_protected": label.is_protected,
        "revision": label.revision,
        "moved_at": getattr(label, "moved_at", label.updated_at),
        "moved_by": getattr(label, "moved_by_name", ""),
        "moved_from": getattr(label, "moved_from", None),
        "reason": getattr(label, "move_reason", ""),
    }


def move_document(move: LabelMove) -> dict[str, Any]:
    """A move as plain JSON."""
    return {
        "id": move.pk,
        "label": move.label_name,
        "from_number": _number(move.from_version),
        "to_number": _number(move.to_version),
        "cause": move.cause,
        "is_protected": move.is_protected,
        "reason": move.reason,
        "moved_by": move.moved_by_name,
        "created_at": move.created_at,
    }


def preview_document(preview: LabelPreview) -> dict[str, Any]:
    """A preview as plain JSON."""
    return {
        "harness": preview.harness.slug,
        "label": preview.name,
        "number": preview.version.number,
        "held_number": _number(preview.held),
        "base_number": _number(preview.base),
        "revision": preview.label.revision if preview.label else 0,
        "is_protected": preview.is_protected,
        "is_current": preview.is_current,
        "is_rollback": preview.is_rollback,
        "required_approvals": preview.required_approvals,
        "approved_by": list(preview.approvals.approved_by),
        "review": preview.review.pk if preview.review else None,
        "verdict": preview.risk.verdict,
        "required_evals": list(preview.risk.required_evals),
        "changes": [
            {
                "headline": item.headline,
                "family": item.family,
                "family_title": item.family_title,
                "preserving": item.preserving,
                "reason": item.reason,
                "kind": item.change.kind,
                "component_id": item.change.component_id,
                "component_name": item.change.component_name,
                "field": item.change.field,
            }
            for item in preview.risk.changes
        ],
        "blockers": [asdict(item) for item in preview.blockers],
        "frozen_until": preview.freeze.ends_at if preview.freeze else None,
    }


def release_document(release: ScheduledRelease) -> dict[str, Any]:
    """A planned release as plain JSON."""
    return {
        "id": release.pk,
        "harness": release.harness.slug,
        "label": release.label_name,
        "number": release.version.number,
        "expected_number": _number(release.expected_version),
        "due_at": release.due_at,
        "state": release.state,
        "reason": release.reason,
        "failure": release.failure,
        "created_by": release.created_by_name,
        "created_at": release.created_at,
        "finished_at": release.finished_at,
    }


def freeze_document(freeze: FreezeWindow) -> dict[str, Any]:
    """A freeze window as plain JSON."""
    return {
        "id": freeze.pk,
        "harness": freeze.harness.slug if freeze.harness else None,
        "starts_at": freeze.starts_at,
        "ends_at": freeze.ends_at,
        "reason": freeze.reason,
        "created_by": freeze.created_by_name,
        "created_at": freeze.created_at,
        "cancelled_at": freeze.cancelled_at,
    }
