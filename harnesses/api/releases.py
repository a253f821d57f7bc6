"""Views of planned releases and freeze windows: parse, call a service or selector, answer."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.drafts import read
from harnesses.api.labels import READ, WRITE
from harnesses.api.labels_serializers import (
    FreezeCreateSerializer,
    FreezeSerializer,
    ReleaseCreateSerializer,
    ReleaseSerializer,
    freeze_document,
    release_document,
)
from harnesses.api.members import ReasonSerializer
from harnesses.models import Harness
from harnesses.selectors import freeze_get, freeze_list, release_get, release_list, version_get
from harnesses.services import freeze_cancel, freeze_create, release_cancel, release_schedule
from ledger.api.authentication import calling_user
from ledger.api.idempotency import idempotent
from ledger.api.pagination import PAGE_PARAMETERS, paged


class ReleaseListView(APIView):
    """The planned releases of a harness, the newest plan first."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(summary="List planned releases", parameters=PAGE_PARAMETERS, responses=ReleaseSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        harness = policy.harness_for(calling_user(request), slug)
        return paged(request, self, release_list(harness), release_document)

    @extend_schema(summary="Plan a release", request=ReleaseCreateSerializer, responses={201: ReleaseSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug)
        values = read(ReleaseCreateSerializer, request)
        release = release_schedule(
            harness=harness,
            name=values["label"],
            version=version_get(harness, values["number"]),
            due_at=values["due_at"],
            reason=values["reason"],
            confirm=values["confirm"],
            acting_user=user,
        )
        location = reverse("harnesses_api:release", [slug, release.pk], request=request)
        return Response(release_document(release), status=201, headers={"Location": location})


class ReleaseView(APIView):
    """One planned release."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Read a planned release", responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, release_id: str) -> Response:
        return Response(release_document(release_get(policy.harness_for(calling_user(request), slug), release_id)))


class ReleaseCancelView(APIView):
    """Calling a planned release off."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Cancel a planned release", request=ReasonSerializer, responses=ReleaseSerializer)
    def post(self, request: Request, slug: str, release_id: str) -> Response:
        user = calling_user(request)
        release = release_get(policy.harness_for(user, slug), release_id)
        reason = read(ReasonSerializer, request)["reason"]
        return Response(release_document(release_cancel(release=release, reason=reason, acting_user=user)))


class FreezeListView(APIView):
    """The freeze windows of a harness, those of all harnesses included; without a harness, those of all alone."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(summary="List freeze windows", parameters=PAGE_PARAMETERS, responses=FreezeSerializer(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        return paged(request, self, freeze_list(_harness(request, slug)).order_by("-id"), freeze_document)

    @extend_schema(summary="Freeze releases", request=FreezeCreateSerializer, responses={201: FreezeSerializer})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        harness = _harness(request, slug)
        values = read(FreezeCreateSerializer, request)
        values.setdefault("starts_at", timezone.now())
        freeze = freeze_create(harness=harness, acting_user=calling_user(request), **values)
        return Response(freeze_document(freeze), status=201)


class FreezeCancelView(APIView):
    """The early end of a freeze window."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="End a freeze window", request=ReasonSerializer, responses=FreezeSerializer)
    def post(self, request: Request, freeze_id: str, slug: str | None = None) -> Response:
        freeze = freeze_get(_harness(request, slug), freeze_id)
        reason = read(ReasonSerializer, request)["reason"]
        return Response(freeze_document(freeze_cancel(freeze=freeze, reason=reason, acting_user=calling_user(request))))


def _harness(request: Request, slug: str | None) -> Harness | None:
    return policy.harness_for(calling_user(request), slug) if slug is not None else None
