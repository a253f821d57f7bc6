"""Views of the harness resources: parse, call a service or selector, answer."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.serializers import (
    CommitResultSerializer,
    CommitSerializer,
    HarnessCreateSerializer,
    HarnessSerializer,
    HarnessUpdateSerializer,
    ImportOutcomeSerializer,
    ImportPreviewSerializer,
    UploadSerializer,
    VersionDetailSerializer,
    VersionSerializer,
    preview_document,
)
from harnesses.api.uploads import read_upload
from harnesses.core.membership import HarnessAction
from harnesses.documents import read_spec
from harnesses.models import Harness, HarnessVersion
from harnesses.selectors import harness_list, version_export, version_get, version_list
from harnesses.services import (
    CommitResult,
    harness_commit,
    harness_create,
    harness_import,
    harness_import_preview,
    harness_update,
)
from ledger.api.authentication import calling_user
from ledger.api.idempotency import idempotent
from ledger.api.parsers import RawBodyParser
from ledger.api.preconditions import answer_if_known
from ledger.core.tokens import Scope

READ, WRITE = [Scope.HARNESSES_READ], [Scope.HARNESSES_WRITE]
_SEARCH = OpenApiParameter("search", str, description="A text in slug, title or description.")
_WORLD = OpenApiParameter("world", str)
_UPLOAD_QUERY = [
    OpenApiParameter("filename", str, description="Name of a file sent as the raw body."),
    OpenApiParameter("message", str, description="What changed and why, where the file is the raw body."),
]
_UPLOAD_BODY = {"multipart/form-data": UploadSerializer, "application/octet-stream": OpenApiTypes.BINARY}


class ZipRenderer(BaseRenderer):
    """Lets a caller ask for `application/zip`."""

    media_type = "application/zip"
    format = "zip"
    charset = None
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> Any:
        return data


@extend_schema_view(get=extend_schema(summary="List harnesses", parameters=[_SEARCH, _WORLD]))
class HarnessListView(generics.ListAPIView[Harness]):
    """All harnesses that are not archived."""

    serializer_class = HarnessSerializer
    required_scopes = {"GET": READ, "POST": WRITE}

    def get_queryset(self) -> QuerySet[Harness]:
        query = self.request.query_params
        harnesses = harness_list(search=query.get("search", ""), world=query.get("world", ""))
        return policy.visible_harnesses(calling_user(self.request), harnesses)

    @extend_schema(summary="Make a harness", request=HarnessCreateSerializer, responses={201: HarnessSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = HarnessCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        harness = harness_create(**serializer.validated_data, acting_user=calling_user(request))
        location = reverse("harnesses_api:harness", [harness.slug], request=request)
        return Response(HarnessSerializer(harness).data, status=201, headers={"Location": location})


class HarnessView(APIView):
    """One harness."""

    required_scopes = {"GET": READ, "PATCH": WRITE}

    @extend_schema(summary="Read a harness", responses=HarnessSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(HarnessSerializer(policy.harness_for(calling_user(request), slug)).data)

    @extend_schema(summary="Change a harness", request=HarnessUpdateSerializer, responses=HarnessSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.MANAGE)
        serializer = HarnessUpdateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        changed = harness_update(harness=harness, acting_user=user, **serializer.validated_data)
        return Response(HarnessSerializer(changed).data)


@extend_schema_view(get=extend_schema(summary="List the versions of a harness"))
class VersionListView(generics.ListAPIView[HarnessVersion]):
    """The versions of a harness, newest first."""

    serializer_class = VersionSerializer
    required_scopes = {"GET": READ, "POST": WRITE}
    queryset = HarnessVersion.objects.none()

    def get_queryset(self) -> QuerySet[HarnessVersion]:
        return version_list(policy.harness_for(calling_user(self.request), self.kwargs["slug"]))

    @extend_schema(
        summary="Commit a version",
        request=CommitSerializer,
        responses={201: CommitResultSerializer, 200: CommitResultSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug, HarnessAction.EDIT)
        serializer = CommitSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        result = harness_commit(
            harness=harness,
            spec=read_spec(values["spec"]),
            message=values["message"],
            expected_number=values.get("expected_number"),
            acting_user=calling_user(request),
        )
        return commit_response(request, result, CommitResultSerializer(result).data)


class VersionView(APIView):
    """One version with its whole content. Immutable: its ETag is its content hash."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Read a version", responses={200: VersionDetailSerializer, 304: None})
    def get(self, request: Request, slug: str, number: str) -> HttpResponseBase:
        version = version_get(policy.harness_for(calling_user(request), slug), number)
        headers = {"ETag": f'"{version.spec_hash}"', "Cache-Control": "private, no-cache"}
        if (known := answer_if_known(request, headers["ETag"], headers)) is not None:
            return known
        return Response(VersionDetailSerializer(version).data, headers=headers)


class VersionExportView(APIView):
    """One version as a zip of the folder layout."""

    required_scopes = {"GET": READ}
    renderer_classes = (ZipRenderer, JSONRenderer)

    @extend_schema(summary="Export a version", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: str) -> HttpResponse:
        harness = policy.harness_for(calling_user(request), slug)
        filename, content = version_export(version_get(harness, number))
        disposition = {"Content-Disposition": f'attachment; filename="{filename}"'}
        return HttpResponse(content, content_type="application/zip", headers=disposition)


class ImportView(APIView):
    """Import a file as the newest version."""

    required_scopes = {"POST": WRITE}
    parser_classes = (MultiPartParser, RawBodyParser)

    @extend_schema(
        summary="Import a file",
        parameters=_UPLOAD_QUERY,
        request=_UPLOAD_BODY,
        responses={201: ImportOutcomeSerializer, 200: ImportOutcomeSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug, HarnessAction.EDIT)
        upload = read_upload(request)
        outcome = harness_import(
            harness=harness,
            filename=upload.filename,
            data=upload.content,
            message=upload.message,
            acting_user=calling_user(request),
        )
        body = {**CommitResultSerializer(outcome.commit).data, "notes": list(outcome.notes)}
        return commit_response(request, outcome.commit, body)


class ImportPreviewView(APIView):
    """What an import would do, without doing it."""

    required_scopes = {"POST": WRITE}
    parser_classes = (MultiPartParser, RawBodyParser)

    @extend_schema(
        summary="Preview an import",
        parameters=_UPLOAD_QUERY,
        request=_UPLOAD_BODY,
        responses=ImportPreviewSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug, HarnessAction.EDIT)
        upload = read_upload(request)
        preview = harness_import_preview(harness=harness, filename=upload.filename, data=upload.content)
        return Response(preview_document(preview))


def commit_response(request: Request, result: CommitResult, body: Any) -> Response:
    """What a commit gave: 201 for a new version, 200 where the content was there already."""
    version = result.version
    location = reverse("harnesses_api:version", [version.harness.slug, version.number], request=request)
    headers = {"Location": location, "ETag": f'"{version.spec_hash}"'}
    return Response(body, status=201 if result.is_new else 200, headers=headers)
