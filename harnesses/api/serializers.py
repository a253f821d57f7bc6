"""What the REST API takes and gives for harnesses. Rules live in services; here is only shape."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from harnesses.core.jsonvalues import JsonObject
from harnesses.models import Harness, HarnessVersion
from harnesses.selectors import MAX_NUMBER, Comparison, version_spec
from harnesses.services import CommitResult, ImportPreview
from ledger.api.fields import StrictSerializer, TextField, WholeNumberField


class HarnessSerializer(serializers.ModelSerializer[Harness]):
    """A harness; `version_count` is also the number of its newest version."""

    class Meta:
        model = Harness
        fields = (
            "slug",
            "title",
            "description",
            "world",
            "access",
            "min_approvals",
            "version_count",
            "created_at",
            "archived_at",
        )


class HarnessCreateSerializer(StrictSerializer):
    """What makes a harness."""

    slug = serializers.CharField(max_length=64)
    title = serializers.CharField(max_length=120)
    world = serializers.CharField(max_length=64, help_text="The platform whose operations the tools stand for.")
    description = serializers.CharField(required=False, allow_blank=True, default="")


class HarnessUpdateSerializer(StrictSerializer):
    """What to change of a harness; what is left out stays."""

    title = TextField(required=False)
    description = TextField(required=False)
    access = TextField(required=False, help_text="open: everybody who may see harnesses; members: its members alone.")
    min_approvals = WholeNumberField(required=False, help_text="Approvals that a release takes at the least, 1 to 5.")


class VersionSerializer(serializers.ModelSerializer[HarnessVersion]):
    """A version without its content."""

    harness = serializers.CharField(source="harness.slug", read_only=True)
    author = serializers.CharField(source="author_name", read_only=True)
    parent = serializers.IntegerField(  # type: ignore[assignment]
        source="parent.number", read_only=True, default=None, allow_null=True
    )

    class Meta:
        model = HarnessVersion
        fields = (
            "harness",
            "number",
            "spec_hash",
            "schema_version",
            "message",
            "author",
            "parent",
            "source",
            "warning_count",
            "created_at",
        )


class VersionDetailSerializer(VersionSerializer):
    """A version with its whole content, keys in the author's order."""

    spec = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "spec")  # type: ignore[assignment]

    @extend_schema_field({"type": "object", "description": "The harness specification; see the harness format."})
    def get_spec(self, version: HarnessVersion) -> JsonObject:
        return version_spec(version).document()


class CommitSerializer(StrictSerializer):
    """A new version. `expected_number` is the version you started from; 0 for the first."""

    spec = serializers.DictField(help_text="The whole harness specification.")
    message = serializers.CharField(max_length=2_000, help_text="What changed and why.")
    expected_number = WholeNumberField(required=False, min_value=0, max_value=MAX_NUMBER)


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import: a zip or a part of a harness in any known form."""

    file = serializers.FileField()
    message = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")


class FindingSerializer(serializers.Serializer[Any]):
    """One thing that validation found."""

    code = serializers.CharField()
    severity = serializers.CharField()
    component_kind = serializers.CharField()
    component_id = serializers.CharField(allow_null=True)
    field = serializers.CharField()
    message = serializers.CharField()
    mend = serializers.CharField()


class CommitResultSerializer(serializers.Serializer[CommitResult]):
    """What a commit gave; `is_new` is false where the content already was the newest version."""

    is_new = serializers.BooleanField()
    version = VersionSerializer()
    findings = FindingSerializer(many=True)


class ImportOutcomeSerializer(CommitResultSerializer):
    """What an import gave; `notes` say what was matched, guessed or left out."""

    notes = serializers.ListField(child=serializers.CharField())


class ComparisonSerializer(serializers.Serializer[Any]):
    """What differs between two contents, and what that means for the model."""

    spec_hashes = serializers.ListField(child=serializers.CharField(), help_text="Of the old and the new content.")
    changes = serializers.ListField(
        child=serializers.DictField(), help_text="Structural changes, component by component."
    )
    risk = serializers.DictField(help_text="Each change by HSA family, and whether the task is preserved.")


class ImportPreviewSerializer(ComparisonSerializer):
    """What an import would do."""

    base_number = serializers.IntegerField(allow_null=True)
    is_unchanged = serializers.BooleanField()
    has_errors = serializers.BooleanField()
    notes = serializers.ListField(child=serializers.CharField())
    findings = FindingSerializer(many=True)


def comparison_document(comparison: Comparison) -> JsonObject:
    """A comparison as plain JSON."""
    return {
        "spec_hashes": [comparison.old.spec_hash, comparison.new.spec_hash],
        "changes": [asdict(change) for change in comparison.diff.changes],
        "risk": asdict(comparison.risk),
    }


def preview_document(preview: ImportPreview) -> JsonObject:
    """An import preview as plain JSON."""
    base = preview.base_version
    return {
        "base_number": base.number if base else None,
        "is_unchanged": preview.is_unchanged,
        "has_errors": preview.has_errors,
        "notes": list(preview.notes),
        "findings": [asdict(finding) for finding in preview.findings],
        "spec_hashes": [base.spec_hash if base else "", preview.spec.spec_hash],
        "changes": [asdict(change) for change in preview.diff.changes],
        "risk": asdict(preview.risk),
    }
