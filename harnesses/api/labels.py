"""Views of labels: parse, call a service or selector, answer."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.drafts import read
from harnesses.api.labels_serializers import (
    LabelMovedSerializer,
    LabelSerializer,
    MoveRowSerializer,
    MoveSerializer,
    PreviewSerializer,
    ProtectSerializer,
    UndoSerializer,
    label_document,
    move_document,
    preview_document,
)
from harnesses.models import Harness, HarnessLabel
from harnesses.selectors import label_get, label_list, label_moves, label_preview, version_get
from harnesses.services import MoveResult, label_move, label_protect, label_remove, label_undo
from ledger.api.authentication import calling_user
from ledger.api.idempotency import idempotent
from ledger.api.pagination import PAGE_PARAMETERS, paged
from ledger.api.preconditions import BadIfMatch, expected_revision, revision_etag
from ledger.core.tokens import Scope
from ledger.errors import Invalid

READ, WRITE = [Scope.HARNESSES_READ], [Scope.LABELS_WRITE]
REVISION = "l"
"""The prefix of a label's ETag: `"l4"`."""
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description='The revision of the label that you looked at: `"l4"`.'
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="`*`: make the label, but move none that is there."
)


class LabelListView(APIView):
    """The labels of a harness."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List labels", parameters=PAGE_PARAMETERS, responses=LabelSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        return paged(request, self, label_list(harness).order_by("name"), label_document)


class LabelView(APIView):
    """One label."""

    required_scopes = {"GET": READ, "PUT": WRITE, "PATCH": WRITE, "DELETE": WRITE}

    @extend_schema(summary="Read a label", responses=LabelSerializer)
    def get(self, request: Request, slug: str, name: str) -> Response:
        return _label_response(label_get(policy.harness_for(calling_user(request), slug), name))

    @extend_schema(
        summary="Move a label",
        description="Makes the label where there is none. A label that points there already stays as it is, so that a request may "
        "be repeated. What forbids a move is told in `blockers`.",
        parameters=[IF_MATCH, IF_NONE_MATCH],
        request=MoveSerializer,
        responses={200: LabelMovedSerializer, 201: LabelMovedSerializer},
    )
    def put(self, request: Request, slug: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        revision = _looked_at(request)
        values = read(MoveSerializer, request)
        result = label_move(
            harness=harness,
            name=name,
            version=version_get(harness, values.pop("number")),
            expected_revision=revision,
            acting_user=user,
            **values,
        )
        return _moved_response(harness, result)

    @extend_schema(
        summary="Protect a label", parameters=[IF_MATCH], request=ProtectSerializer, responses=LabelSerializer
    )
    def patch(self, request: Request, slug: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        revision = expected_revision(request, REVISION)
        values = read(ProtectSerializer, request)
        label_protect(harness=harness, name=name, expected_revision=revision, acting_user=user, **values)
        return _label_response(label_get(harness, name))

    @extend_schema(
        summary="Remove a label", parameters=[IF_MATCH, OpenApiParameter("reason", str)], responses={204: None}
    )
    def delete(self, request: Request, slug: str, name: str) -> Response:
        user = calling_user(request)
        label_remove(
            harness=policy.harness_for(user, slug),
            name=name,
            reason=request.query_params.get("reason", ""),
            expected_revision=expected_revision(request, REVISION),
            acting_user=user,
        )
        return Response(status=204)


class LabelPreviewView(APIView):
    """What moving a label would do."""

    required_scopes = {"GET": READ}

    @extend_schema(
        summary="Preview a move",
        parameters=[OpenApiParameter("number", int, required=True, description="The version to move to.")],
        responses=PreviewSerializer,
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        if not (number := request.query_params.get("number", "")):
            raise Invalid.field("number", "The version number is missing.", "Add ?number=3.", code="required")
        return Response(preview_document(label_preview(harness, name, version_get(harness, number), user)))


class LabelUndoView(APIView):
    """The way back."""

    required_scopes = {"POST": WRITE}

    @extend_schema(
        summary="Undo a label's last move",
        parameters=[IF_MATCH],
        request=UndoSerializer,
        responses=LabelMovedSerializer,
    )
    @idempotent
    def post(self, request: Request, slug: str, name: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        revision = expected_revision(request, REVISION)
        values = read(UndoSerializer, request)
        result = label_undo(harness=harness, name=name, expected_revision=revision, acting_user=user, **values)
        return _moved_response(harness, result)


class LabelMovesView(APIView):
    """The history of a label. It is still there when the label is gone."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List a label's moves", parameters=PAGE_PARAMETERS, responses=MoveRowSerializer(many=True))
    def get(self, request: Request, slug: str, name: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        moves = label_moves(harness, name)
        if not moves.exists():
            label_get(harness, name)
        return paged(request, self, moves, move_document)


def _looked_at(request: Request) -> int | None:
    """The revision that a move starts from; 0 where there must be no such label, None where the caller does not say."""
    header = request.headers.get("If-None-Match")
    if header is None:
        return expected_revision(request, REVISION)
    if header.strip() != "*":
        detail = "If-None-Match takes only * here: make the label, but move none that is there."
        raise BadIfMatch(detail, header="If-None-Match")
    return 0


def _label_response(label: HarnessLabel) -> Response:
    return Response(label_document(label), headers={"ETag": revision_etag(REVISION, label.revision)})


def _moved_response(harness: Harness, result: MoveResult) -> Response:
    label = label_get(harness, result.label.name)
    is_new = result.move is not None and result.move.from_version_id is None
    headers = {"ETag": revision_etag(REVISION, label.revision)}
    if is_new:
        headers["Location"] = reverse("harnesses_api:label", [harness.slug, label.name])
    body = {**label_document(label), "is_moved": result.is_moved}
    return Response(body, status=201 if is_new else 200, headers=headers)
