"""Views of drafts: parse, call a service or selector, answer.

Everything about a content that nobody has saved (`check`, `prompt` …) takes the document in the request, and writes nothing.
"""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.drafts_serializers import (
    DocumentSerializer,
    DraftCheckSerializer,
    DraftCreateSerializer,
    DraftDetailSerializer,
    DraftSavedSerializer,
    DraftSerializer,
    PromptSerializer,
    check_document,
    draft_detail,
    prompt_document,
    saved_document,
)
from harnesses.core.membership import HarnessAction
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import TemplateError
from harnesses.documents import read_spec
from harnesses.models import HarnessDraft
from harnesses.selectors import draft_check, draft_get, draft_list, draft_spec, spec_rendered, version_get
from harnesses.services import SavedDraft, draft_open, draft_save
from ledger.api.authentication import calling_user
from ledger.api.preconditions import required_revision, revision_etag
from ledger.core.tokens import Scope

READ, WRITE = [Scope.HARNESSES_READ], [Scope.HARNESSES_WRITE]
REVISION = "r"
"""The prefix of a draft's ETag: `"r12"`."""
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description='The revision you started from: `"r12"`.'
)


def read(serializer_class: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The checked body of a request. Raises ValidationError."""
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


class DraftListView(APIView):
    """The drafts of a harness."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(
        summary="List the drafts of a harness",
        parameters=[OpenApiParameter("state", str, enum=HarnessDraft.State.values)],
        responses=DraftSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        drafts = draft_list(harness, state=request.query_params.get("state", ""))
        return Response(DraftSerializer(drafts, many=True).data)

    @extend_schema(summary="Open a draft", request=DraftCreateSerializer, responses={201: DraftDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.EDIT)
        values = read(DraftCreateSerializer, request)
        number = values.get("from_version")
        draft = draft_open(
            harness=harness,
            from_version=version_get(slug, number) if number is not None else None,
            name=values["name"],
            document=values.get("document"),
            acting_user=user,
        )
        location = reverse("harnesses_api:draft", [slug, draft.pk], request=request)
        return _draft_response(draft, status=201, headers={"Location": location})


class DraftAPIView(APIView):
    """A view of one draft."""

    def draft(self, request: Request, action: HarnessAction = HarnessAction.VIEW) -> HarnessDraft:
        """The draft in the address, if the caller may do `action` with its harness. Raises NotFound, Denied."""
        harness = policy.harness_for(calling_user(request), self.kwargs["slug"], action)
        return draft_get(harness, self.kwargs["draft_id"])

    def sent_spec(self, request: Request) -> HarnessSpec:
        """The unsaved content in the body. Raises ValidationError, Invalid with every field that is wrong."""
        return read_spec(read(DocumentSerializer, request)["document"], "document")


class DraftView(DraftAPIView):
    """One draft with its content."""

    required_scopes = {"GET": READ, "PUT": WRITE, "PATCH": WRITE}

    @extend_schema(summary="Read a draft", responses=DraftDetailSerializer)
    def get(self, request: Request, slug: str, draft_id: str) -> HttpResponseBase:
        return _draft_response(self.draft(request))

    @extend_schema(
        summary="Save a draft", parameters=[IF_MATCH], request=DocumentSerializer, responses=DraftSavedSerializer
    )
    def put(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        revision = required_revision(request, REVISION)
        document = read(DocumentSerializer, request)["document"]
        return _saved_response(
            draft_save(draft=draft, document=document, revision=revision, acting_user=calling_user(request))
        )


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


def _draft_response(draft: HarnessDraft, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = draft_detail(draft, draft_check(draft, draft_spec(draft)))
    etag = revision_etag(REVISION, draft.revision)
    return Response(
        body, status=status, headers={"ETag": etag, "Cache-Control": "private, no-cache", **(headers or {})}
    )


def _saved_response(saved: SavedDraft) -> Response:
    body = saved_document(saved.draft, draft_check(saved.draft, saved.spec))
    return Response(body, headers={"ETag": revision_etag(REVISION, saved.draft.revision)})
