"""What the REST API takes and gives for drafts. Rules live in services; here is only shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from harnesses.api.serializers import FindingSerializer
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.risk import RiskReport
from harnesses.core.validation import Finding
from harnesses.models import DraftRevision, HarnessDraft
from harnesses.selectors import MAX_NUMBER, DraftCheck, RenderedVersion, draft_document
from harnesses.services import MAX_NAME_CHARS


class DraftSerializer(serializers.ModelSerializer[HarnessDraft]):
    """A draft without its content. `base_number` is the version it started from or was last merged with."""

    harness = serializers.CharField(source="harness.slug", read_only=True)
    base_number = serializers.IntegerField(source="base_version.number", read_only=True, default=None, allow_null=True)
    committed_number = serializers.IntegerField(
        source="committed_version.number", read_only=True, default=None, allow_null=True
    )
    created_by = serializers.CharField(source="created_by_name", read_only=True)
    updated_by = serializers.CharField(source="updated_by_name", read_only=True)

    class Meta:
        model = HarnessDraft
        fields = (
            "id",
            "harness",
            "name",
            "state",
            "revision",
            "base_number",
            "committed_number",
            "spec_hash",
            "created_by",
            "created_at",
            "updated_by",
            "updated_at",
        )


class DraftFindingSerializer(FindingSerializer):
    """A finding, with the edits that mend it where there are such."""

    fix = serializers.DictField(allow_null=True, help_text="{label, edits}: what the mend's button says and does.")


class DraftDetailSerializer(DraftSerializer):
    """A draft with its whole content and what validation says of it."""

    document = serializers.DictField(help_text="The harness specification, defaults written out.")
    findings = DraftFindingSerializer(many=True)

    class Meta(DraftSerializer.Meta):
        fields = (*DraftSerializer.Meta.fields, "document", "findings")  # type: ignore[assignment]


class DraftCreateSerializer(serializers.Serializer[Any]):
    """What opens a draft: on the newest version, on another one, or with a content of its own."""

    name = serializers.CharField(max_length=MAX_NAME_CHARS, required=False, allow_blank=True, default="")
    from_version = serializers.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER)
    document = serializers.DictField(required=False, help_text="The whole harness specification.")


class DocumentSerializer(serializers.Serializer[Any]):
    """A whole harness specification."""

    document = serializers.DictField(help_text="The whole harness specification.")


class DraftSavedSerializer(serializers.Serializer[Any]):
    """What a save gave; `revision` names the save from which the next one starts."""

    revision = serializers.IntegerField()
    spec_hash = serializers.CharField()
    updated_at = serializers.DateTimeField()
    findings = DraftFindingSerializer(many=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    budget_tokens = serializers.IntegerField()


class DraftChangeSerializer(serializers.Serializer[Any]):
    """One change against the base version, in one line, with its family."""

    headline = serializers.CharField()
    family = serializers.CharField(allow_null=True)
    family_title = serializers.CharField()
    preserving = serializers.CharField()
    reason = serializers.CharField()
    action = serializers.CharField()
    kind = serializers.CharField()
    component_id = serializers.CharField()
    component_name = serializers.CharField()
    field = serializers.CharField()


class DraftCheckSerializer(serializers.Serializer[Any]):
    """What is to be said of a content that nobody has saved. `prompt_tokens` is null where a template is broken."""

    findings = DraftFindingSerializer(many=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    budget_tokens = serializers.IntegerField()
    changes = DraftChangeSerializer(many=True)
    verdict = serializers.CharField()
    required_review = serializers.CharField()


class PromptPartSerializer(serializers.Serializer[Any]):
    """One part of the prompt as the model reads it."""

    kind = serializers.CharField()
    id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    tokens = serializers.IntegerField()


class PromptSerializer(serializers.Serializer[Any]):
    """What the model reads before the conversation. `problem` says why there is nothing to show, where a template is broken."""

    parts = PromptPartSerializer(many=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    budget_tokens = serializers.IntegerField()
    problem = serializers.DictField(allow_null=True)


class RevisionSerializer(serializers.ModelSerializer[DraftRevision]):
    """One save of a draft."""

    author = serializers.CharField(source="author_name", read_only=True)

    class Meta:
        model = DraftRevision
        fields = ("revision", "spec_hash", "author", "created_at")


def draft_detail(draft: HarnessDraft, check: DraftCheck) -> JsonObject:
    """A draft with its content as plain JSON."""
    return {
        **DraftSerializer(draft).data,
        "document": draft_document(draft),
        "findings": finding_documents(check.findings),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
    }


def saved_document(draft: HarnessDraft, check: DraftCheck) -> JsonObject:
    """What a save gave, as plain JSON."""
    return {
        "revision": draft.revision,
        "spec_hash": draft.spec_hash,
        "updated_at": draft.updated_at,
        "findings": finding_documents(check.findings),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
    }


def check_document(check: DraftCheck) -> JsonObject:
    """A check as plain JSON."""
    return {
        "findings": finding_documents(check.findings),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
        "changes": change_documents(check.risk),
        "verdict": check.risk.verdict,
        "required_review": check.risk.required_review,
    }


def finding_documents(findings: Sequence[Finding], fixes: Mapping[int, Any] | None = None) -> list[JsonObject]:
    """Findings as plain JSON, each with its fix or null."""
    known = fixes or {}
    return [{**asdict(item), "fix": known.get(index)} for index, item in enumerate(findings)]


def change_documents(risk: RiskReport) -> list[JsonObject]:
    """Changes in one line each, without their values."""
    return [
        {
            "headline": item.headline,
            "family": item.family,
            "family_title": item.family_title,
            "preserving": item.preserving,
            "reason": item.reason,
            "action": item.change.action,
            "kind": item.change.kind,
            "component_id": item.change.component_id,
            "component_name": item.change.component_name,
            "field": item.change.field,
        }
        for item in risk.changes
    ]


def prompt_document(rendered: RenderedVersion) -> JsonObject:
    """A rendered prompt as plain JSON."""
    return {
        "parts": [
            {
                "kind": item.part.kind,
                "id": item.part.id,
                "title": item.part.title,
                "text": item.part.text,
                "tokens": item.token_count,
            }
            for item in rendered.parts
        ],
        "prompt_tokens": rendered.total_tokens,
        "budget_tokens": rendered.budget_tokens,
        "problem": None,
    }
