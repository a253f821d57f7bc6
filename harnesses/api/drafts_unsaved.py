"""Views of a draft's content that nobody has saved: it comes in the request, and nothing is written.

Findings as one types, the prompt as the model would read it, edits, search, mentions of a name, a merge with what was saved.
"""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from harnesses.api.drafts import READ, DraftAPIView, read
from harnesses.api.drafts_serializers import (
    AppliedSerializer,
    ApplySerializer,
    DocumentSerializer,
    DraftCheckSerializer,
    MentionsFoundSerializer,
    MentionsSerializer,
    MergedSerializer,
    MergeSerializer,
    PromptSerializer,
    SearchFoundSerializer,
    SearchSerializer,
    check_document,
    draft_comparison_document,
    merged_document,
    prompt_document,
)
from harnesses.api.serializers import ComparisonSerializer
from harnesses.core.editing import count_references, find_mentions, search_text
from harnesses.core.editing.search import MAX_FOUND
from harnesses.core.templates import TemplateError
from harnesses.documents import edit_spec, read_spec
from harnesses.selectors import draft_check, draft_compare, draft_merge, spec_rendered, version_get
from ledger.services import checked_text

MAX_FIND_CHARS = 1_000


class DraftCheckView(DraftAPIView):
    """What is to be said of an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(summary="Check an unsaved draft", request=DocumentSerializer, responses=DraftCheckSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request)
        return Response(check_document(draft_check(draft, self.sent_spec(request))))


class DraftPromptView(DraftAPIView):
    """What the model would read of an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(summary="Render an unsaved draft", request=DocumentSerializer, responses=PromptSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        self.draft(request)
        spec = self.sent_spec(request)
        try:
            return Response(prompt_document(spec_rendered(spec)))
        except TemplateError as error:
            problem = {"message": error.message, "mend": error.mend, "code": error.code}
            budget = spec.runtime.context_budget_tokens
            return Response({"parts": [], "prompt_tokens": None, "budget_tokens": budget, "problem": problem})


class DraftApplyView(DraftAPIView):
    """Edits on an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(summary="Apply edits to an unsaved draft", request=ApplySerializer, responses=AppliedSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        self.draft(request)
        values = read(ApplySerializer, request)
        edited = edit_spec(read_spec(values["document"], "document"), values["edits"])
        return Response({"document": edited.spec.document(), "applied": list(edited.applied)})


class DraftMergeView(DraftAPIView):
    """What was saved meanwhile, put into an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(
        summary="Merge an unsaved draft with the saved one",
        description="For a save that was refused as stale: saves nothing. Where both changed the same, the document sent "
        "stays; `conflicts` holds the edits that choose otherwise.",
        request=MergeSerializer,
        responses=MergedSerializer,
    )
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request)
        values = read(MergeSerializer, request)
        merge = draft_merge(draft, read_spec(values["document"], "document"), values["base_revision"])
        return Response(merged_document(draft, merge))


class DraftMentionsView(DraftAPIView):
    """Where a component's name is mentioned in an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(
        summary="Find the mentions of a component",
        description="Asked before a rename: what a rename with `follow` would change too, the first 2,000 places. "
        "References by id follow by themselves.",
        request=MentionsSerializer,
        responses=MentionsFoundSerializer,
    )
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        self.draft(request)
        values = read(MentionsSerializer, request)
        spec, place = read_spec(values["document"], "document"), (values["kind"], values["component_id"])
        mentions = [asdict(mention) for mention in find_mentions(spec, *place)[:MAX_FOUND]]
        return Response({"mentions": mentions, "references": count_references(spec, *place)})


class DraftSearchView(DraftAPIView):
    """Where a text stands in an unsaved content."""

    required_scopes = {"POST": READ}

    @extend_schema(summary="Search an unsaved draft", request=SearchSerializer, responses=SearchFoundSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        self.draft(request)
        values = read(SearchSerializer, request)
        if len(values["find"]) > MAX_FIND_CHARS or not values["find"]:
            checked_text("find", values["find"], max_chars=MAX_FIND_CHARS, is_required=True)
        spec = read_spec(values["document"], "document")
        found = search_text(spec, values["find"], is_case_sensitive=values["is_case_sensitive"], kinds=values["kinds"])
        return Response({"matches": [asdict(line) for line in found]})


class DraftCompareView(DraftAPIView):
    """The saved draft beside a version."""

    required_scopes = {"GET": READ}

    @extend_schema(
        summary="Compare a draft with a version",
        parameters=[OpenApiParameter("with", int, description="A version of the harness; left out, the draft's base.")],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request)
        number = request.query_params.get("with")
        version = version_get(draft.harness, number) if number else None
        return Response(draft_comparison_document(draft_compare(draft, version)))
