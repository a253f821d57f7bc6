"""Views of drafts: parse, call a service or selector, answer. What a content is that nobody has saved, tells `drafts_unsaved`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from harnesses import policy, presence
from harnesses.api.drafts_serializers import (
    DocumentSerializer,
    DraftCommitSerializer,
    DraftCreateSerializer,
    DraftDetailSerializer,
    DraftReasonSerializer,
    DraftSavedSerializer,
    DraftSerializer,
    EditsSerializer,
    MergedSerializer,
    NothingSerializer,
    PeopleHereSerializer,
    RestoreSerializer,
    RevisionSerializer,
    draft_detail,
    merged_document,
    saved_document,
)
from harnesses.api.serializers import CommitResultSerializer
from harnesses.api.views import commit_response
from harnesses.core.membership import HarnessAction
from harnesses.core.spec import HarnessSpec
from harnesses.documents import read_spec
from harnesses.models import DraftRevision, HarnessDraft
from harnesses.selectors import draft_check, draft_get, draft_list, draft_spec, revision_list, version_get
from harnesses.services import (
    SavedDraft,
    draft_commit,
    draft_discard,
    draft_open,
    draft_rebase,
    draft_reopen,
    draft_restore,
    draft_save,
)
from ledger.api.authentication import calling_user
from ledger.api.idempotency import idempotent
from ledger.api.preconditions import expected_revision, required_revision, revision_etag
from ledger.core.tokens import Scope
from ledger.errors import Invalid

READ, WRITE = [Scope.HARNESSES_READ], [Scope.HARNESSES_WRITE]
REVISION = "r"
"""The prefix of a draft's ETag: `"r12"`."""
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description='The revision you started from: `"r12"`.'
)
IF_MATCH_AT_WILL = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="Checked where it is sent.")
STATE = OpenApiParameter("state", str, enum=HarnessDraft.State.values)


def read(serializer_class: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The checked body of a request. Raises ValidationError."""
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


@extend_schema_view(get=extend_schema(summary="List the drafts of a harness", parameters=[STATE]))
class DraftListView(generics.ListAPIView[HarnessDraft]):
    """The drafts of a harness, changed last first."""

    serializer_class = DraftSerializer
    required_scopes = {"GET": READ, "POST": WRITE}
    queryset = HarnessDraft.objects.none()

    def get_queryset(self) -> Any:
        state = self.request.query_params.get("state", "")
        if state and state not in HarnessDraft.State.values:
            mend = f"Choose among {', '.join(HarnessDraft.State.values)}."
            raise Invalid.field("state", f"There is no state {state[:40]!a}.", mend, code="unknown_state")
        harness = policy.harness_for(calling_user(self.request), self.kwargs["slug"])
        return draft_list(harness, state=state)

    @extend_schema(summary="Open a draft", request=DraftCreateSerializer, responses={201: DraftDetailSerializer})
    @idempotent
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
        return draft_response(draft, status=201, headers={"Location": location})


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
        return draft_response(self.draft(request))

    @extend_schema(
        summary="Save a draft", parameters=[IF_MATCH], request=DocumentSerializer, responses=DraftSavedSerializer
    )
    def put(self, request: Request, slug: str, draft_id: str) -> Response:
        return self._save(request, DocumentSerializer)

    @extend_schema(
        summary="Save edits of a draft",
        parameters=[IF_MATCH],
        request=EditsSerializer,
        responses=DraftSavedSerializer,
    )
    def patch(self, request: Request, slug: str, draft_id: str) -> Response:
        return self._save(request, EditsSerializer)

    def _save(self, request: Request, serializer_class: type[Serializer[Any]]) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        revision = required_revision(request, REVISION)
        values = read(serializer_class, request)
        return saved_response(draft_save(draft=draft, revision=revision, acting_user=calling_user(request), **values))


class DraftCommitView(DraftAPIView):
    """A draft becomes a version."""

    required_scopes = {"POST": WRITE}

    @extend_schema(
        summary="Commit a draft",
        request=DraftCommitSerializer,
        responses={201: CommitResultSerializer, 200: CommitResultSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        result = draft_commit(draft=draft, acting_user=calling_user(request), **read(DraftCommitSerializer, request))
        return commit_response(request, result, CommitResultSerializer(result).data)


class DraftDiscardView(DraftAPIView):
    """A draft is put away."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Discard a draft", request=DraftReasonSerializer, responses=DraftDetailSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        reason = read(DraftReasonSerializer, request)["reason"]
        return draft_response(draft_discard(draft=draft, reason=reason, acting_user=calling_user(request)))


class DraftReopenView(DraftAPIView):
    """A discarded draft is taken up again."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Reopen a draft", request=DraftReasonSerializer, responses=DraftDetailSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        reason = read(DraftReasonSerializer, request)["reason"]
        return draft_response(draft_reopen(draft=draft, reason=reason, acting_user=calling_user(request)))


@extend_schema_view(get=extend_schema(summary="List the saves of a draft"))
class DraftRevisionListView(DraftAPIView, generics.ListAPIView[DraftRevision]):
    """The saves of a draft that are still kept, newest first."""

    serializer_class = RevisionSerializer
    required_scopes = {"GET": READ}
    queryset = DraftRevision.objects.none()

    def get_queryset(self) -> Any:
        return revision_list(self.draft(self.request))


class DraftRestoreView(DraftAPIView):
    """An earlier save is taken up again."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Restore an earlier save", request=RestoreSerializer, responses=DraftSavedSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        revision = read(RestoreSerializer, request)["revision"]
        return saved_response(draft_restore(draft=draft, revision=revision, acting_user=calling_user(request)))


class DraftRebaseView(DraftAPIView):
    """What was committed meanwhile comes into a draft."""

    required_scopes = {"POST": WRITE}

    @extend_schema(
        summary="Bring a draft up to date",
        description="Merges the newest version into the saved draft, saves it, and makes that version its base. Where both "
        "changed the same, the draft's own stays; `conflicts` holds the edits that choose otherwise.",
        parameters=[IF_MATCH_AT_WILL],
        request=NothingSerializer,
        responses=MergedSerializer,
    )
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        read(NothingSerializer, request)
        revision = expected_revision(request, REVISION)
        rebased = draft_rebase(draft=draft, revision=revision, acting_user=calling_user(request))
        saved = rebased.saved.draft
        return Response(
            merged_document(saved, rebased.merge), headers={"ETag": revision_etag(REVISION, saved.revision)}
        )


class DraftPresenceView(DraftAPIView):
    """Who edits a draft now: say it every ten seconds or so; after thirty one is forgotten."""

    required_scopes = {"POST": WRITE, "DELETE": WRITE}

    @extend_schema(summary="Say that you edit a draft", request=NothingSerializer, responses=PeopleHereSerializer)
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request, HarnessAction.EDIT)
        people = presence.arrive(draft.pk, calling_user(request))
        people_here = [asdict(person) for person in people]
        return Response({"people": people_here, "revision": draft.revision, "state": draft.state})

    @extend_schema(summary="Say that you leave a draft", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, draft_id: str) -> Response:
        presence.leave(self.draft(request).pk, calling_user(request))
        return Response(status=204)


def draft_response(draft: HarnessDraft, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A draft with its content and findings, and its revision as ETag."""
    body = draft_detail(draft, draft_check(draft, draft_spec(draft)))
    etag = revision_etag(REVISION, draft.revision)
    return Response(
        body, status=status, headers={"ETag": etag, "Cache-Control": "private, no-cache", **(headers or {})}
    )


def saved_response(saved: SavedDraft) -> Response:
    """What a save gave, and the new revision as ETag."""
    body = saved_document(saved.draft, draft_check(saved.draft, saved.spec))
    return Response(body, headers={"ETag": revision_etag(REVISION, saved.draft.revision)})
