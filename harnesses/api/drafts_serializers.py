"""What the REST API takes and gives for drafts. Rules live in services; here is only shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from harnesses.api.serializers import FindingSerializer
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import KIND_FIELDS, KINDS
from harnesses.core.mends import Mend
from harnesses.core.merge import MergeResult
from harnesses.core.risk import RiskReport
from harnesses.core.validation import Finding
from harnesses.models import DraftRevision, HarnessDraft
from harnesses.selectors import MAX_NUMBER, DraftCheck, DraftComparison, RenderedVersion, draft_document
from ledger.api.fields import StrictSerializer, TextField, WholeNumberField


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


class DraftCreateSerializer(StrictSerializer):
    """What opens a draft: on the newest version, on another one, or with a content of its own."""

    name = TextField(required=False, default="", help_text="At most 120 characters.")
    from_version = WholeNumberField(required=False, min_value=1, max_value=MAX_NUMBER)
    document = serializers.DictField(required=False, help_text="The whole harness specification.")


class DocumentSerializer(StrictSerializer):
    """A whole harness specification."""

    document = serializers.DictField(help_text="The whole harness specification.")


class EditsSerializer(StrictSerializer):
    """Edits that name only what changes."""

    edits = serializers.ListField(
        child=serializers.JSONField(),
        help_text='Each with "op": set, add, remove, move, rename or replace_text; see "Edits" in docs/api.md.',
    )


class ApplySerializer(EditsSerializer):
    """An unsaved document, and edits to make on it."""

    document = serializers.DictField()


class AppliedSerializer(serializers.Serializer[Any]):
    """The document after the edits, and what each of them did, in a line."""

    document = serializers.DictField()
    applied = serializers.ListField(child=serializers.CharField())


class MergeSerializer(StrictSerializer):
    """An unsaved document and the revision it started from."""

    document = serializers.DictField()
    base_revision = WholeNumberField(min_value=1, max_value=MAX_NUMBER)


class ConflictSerializer(serializers.Serializer[Any]):
    """One place that both sides changed, each in its own way; `edits` choose a side in the merged document, which holds mine."""

    key = serializers.CharField()
    kind = serializers.CharField()
    component_id = serializers.CharField()
    component_name = serializers.CharField()
    field = serializers.CharField(help_text="Empty: the component as a whole; order: the order of the kind.")
    base = serializers.JSONField(allow_null=True)
    mine = serializers.JSONField(allow_null=True)
    theirs = serializers.JSONField(allow_null=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="The sides on which there is no value.")
    edits = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))


class MergedSerializer(serializers.Serializer[Any]):
    """What came of a merge. `revision` is the one that the next save starts from; `by` and `at` tell who made it, and when."""

    revision = serializers.IntegerField()
    base_number = serializers.IntegerField(allow_null=True)
    document = serializers.DictField()
    conflicts = ConflictSerializer(many=True)
    taken = serializers.ListField(
        child=serializers.CharField(), help_text="What of theirs was taken over, in a line each."
    )
    by = serializers.CharField()
    at = serializers.DateTimeField()


class MentionsSerializer(StrictSerializer):
    """A component whose name is about to change."""

    document = serializers.DictField()
    kind = serializers.ChoiceField(tuple(KIND_FIELDS))
    component_id = TextField()
    new_name = TextField(required=False, default="")


class MentionSerializer(serializers.Serializer[Any]):
    """One mention of a name, written by hand, and the line (from 1) it stands on."""

    kind = serializers.CharField()
    component_id = serializers.CharField()
    component_name = serializers.CharField()
    field = serializers.CharField()
    line = serializers.IntegerField()
    excerpt = serializers.CharField()


class MentionsFoundSerializer(serializers.Serializer[Any]):
    """Where a name is mentioned. `references` counts the places that follow a rename by themselves."""

    mentions = MentionSerializer(many=True)
    references = serializers.IntegerField()


class SearchSerializer(StrictSerializer):
    """A text to look for in an unsaved document."""

    document = serializers.DictField()
    find = TextField(help_text="At most 1,000 characters.")
    is_case_sensitive = serializers.BooleanField(required=False, default=False)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(KINDS),
        required=False,
        allow_null=True,
        default=None,
        max_length=6,
    )


class MatchSerializer(MentionSerializer):
    """A line on which something was found, and how often."""

    count = serializers.IntegerField()


class SearchFoundSerializer(serializers.Serializer[Any]):
    """The lines on which a text was found, at most 2,000 of them."""

    matches = MatchSerializer(many=True)


class DraftCommitSerializer(StrictSerializer):
    """A commit of the revision that was looked at."""

    message = TextField(help_text="What changed and why, at most 2,000 characters.")
    revision = WholeNumberField(min_value=1, max_value=MAX_NUMBER)


class RestoreSerializer(StrictSerializer):
    """The earlier save to take up again."""

    revision = WholeNumberField(min_value=1, max_value=MAX_NUMBER)


class DraftReasonSerializer(StrictSerializer):
    """Why, if there is something to say."""

    reason = TextField(required=False, default="")


class NothingSerializer(StrictSerializer):
    """An empty object."""


class PersonHereSerializer(serializers.Serializer[Any]):
    """Somebody who edits the draft now."""

    username = serializers.CharField()
    name = serializers.CharField()
    is_you = serializers.BooleanField()
    seconds_ago = serializers.IntegerField()


class PeopleHereSerializer(serializers.Serializer[Any]):
    """Who edits the draft now, whoever was seen last first; and where the draft stands, so that a newer save is noticed."""

    people = PersonHereSerializer(many=True)
    revision = serializers.IntegerField()
    state = serializers.CharField()


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
        "findings": finding_documents(check.findings, check.fixes),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
    }


def saved_document(draft: HarnessDraft, check: DraftCheck) -> JsonObject:
    """What a save gave, as plain JSON."""
    return {
        "revision": draft.revision,
        "spec_hash": draft.spec_hash,
        "updated_at": draft.updated_at,
        "findings": finding_documents(check.findings, check.fixes),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
    }


def check_document(check: DraftCheck) -> JsonObject:
    """A check as plain JSON."""
    return {
        "findings": finding_documents(check.findings, check.fixes),
        "prompt_tokens": check.prompt_tokens,
        "budget_tokens": check.budget_tokens,
        "changes": change_documents(check.risk),
        "verdict": check.risk.verdict,
        "required_review": check.risk.required_review,
    }


def finding_documents(findings: Sequence[Finding], fixes: Mapping[int, Mend]) -> list[JsonObject]:
    """Findings as plain JSON, each with its fix or null."""
    return [
        {**asdict(item), "fix": asdict(fixes[index]) if index in fixes else None} for index, item in enumerate(findings)
    ]


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


def merged_document(draft: HarnessDraft, merge: MergeResult) -> JsonObject:
    """What came of a merge, as plain JSON."""
    return {
        "revision": draft.revision,
        "base_number": draft.base_version.number if draft.base_version else None,
        "document": merge.spec.document(),
        "conflicts": [conflict.document() for conflict in merge.conflicts],
        "taken": list(merge.taken),
        "by": draft.updated_by_name,
        "at": draft.updated_at,
    }


def draft_comparison_document(comparison: DraftComparison) -> JsonObject:
    """A draft beside a version, as plain JSON."""
    return {
        "spec_hashes": [comparison.old.spec_hash, comparison.new.spec_hash],
        "changes": [asdict(change) for change in comparison.diff.changes],
        "risk": asdict(comparison.risk),
    }


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
