"""The REST resources of the audit: entries, filtered, page by page or as a file."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ledger.api.authentication import calling_user
from ledger.api.pagination import paged
from ledger.audit_export import entry_document, export_response
from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.core.text import clean_text
from ledger.core.tokens import Scope
from ledger.errors import Denied, Invalid
from ledger.models import AuditEntry
from ledger.selectors import audit_list, audit_object_id

READ = [Scope.AUDIT_READ]
MAX_FILTER_CHARS = 200
_FILTERS = [
    OpenApiParameter("harness", str, description="Slug: entries of this harness and of everything in it."),
    OpenApiParameter("action", str, description="A whole action (harness.committed), or its first part (harness)."),
    OpenApiParameter("actor", str, description="User name."),
    OpenApiParameter("search", str, description="A text in the object, the person's name or the reason."),
    OpenApiParameter("since", str, description="Date, or date and time with zone (ISO 8601): from then on."),
    OpenApiParameter("until", str, description="The same: before then."),
]
_FORMAT = OpenApiParameter("format", str, enum=["csv", "jsonl"], required=True)


class AuditEntrySerializer(serializers.Serializer[Any]):
    """Who did what to what, when and why. Of a harness's part, the harness is the parent."""

    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    actor = serializers.CharField(help_text="The name at that time; system is the platform itself.")
    username = serializers.CharField(allow_null=True)
    action = serializers.CharField()
    object_type = serializers.CharField()
    object_id = serializers.CharField()
    object_label = serializers.CharField()
    parent_type = serializers.CharField(allow_null=True)
    parent_id = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    request_id = serializers.CharField()


class _FileRenderer(BaseRenderer):
    """Lets a caller ask for a file; the file itself is written by `ledger.audit_export`."""

    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> Any:
        return data


class CsvRenderer(_FileRenderer):
    media_type = "text/csv"
    format = "csv"


class JsonLinesRenderer(_FileRenderer):
    media_type = "application/jsonl"
    format = "jsonl"


class AuditListView(APIView):
    """Audit entries, newest first. Of one harness, to whoever may see it; of all, to those who may see the audit."""

    required_scopes = {"GET": READ}
    required_permissions: dict[str, list[str]] = {"GET": []}  # What it takes depends on the filter: see `_entries`.

    @extend_schema(summary="List audit entries", parameters=_FILTERS, responses=AuditEntrySerializer(many=True))
    def get(self, request: Request) -> Response:
        return paged(request, self, _entries(request), entry_document)


class AuditExportView(APIView):
    """The same entries as a file."""

    required_scopes = {"GET": READ}
    required_permissions: dict[str, list[str]] = {"GET": []}
    renderer_classes = (CsvRenderer, JsonLinesRenderer, JSONRenderer)

    @extend_schema(
        summary="Export audit entries",
        parameters=[*_FILTERS, _FORMAT],
        responses={(200, "text/csv"): OpenApiTypes.STR, (200, "application/jsonl"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        return export_response(_entries(request), request.accepted_renderer.format)


def _entries(request: Request) -> QuerySet[AuditEntry]:
    """The entries that a request asks for. Raises Denied, NotFound, Invalid."""
    user = calling_user(request)
    given = {name: _text(request, name) for name in ("harness", "action", "actor", "search", "since", "until")}
    harness = given["harness"]
    within = ("harness", audit_object_id(user, "harness", harness)) if harness else None
    if within is None:
        require_audit(user)
    return audit_list(
        viewer=user,
        within=within,
        action_prefix=given["action"],
        actor=given["actor"],
        search=given["search"],
        since=_moment("since", given["since"]),
        until=_moment("until", given["until"]),
    )


def require_audit(user: AbstractUser) -> None:
    """Raises Denied, naming the roles that may, where a person may not see the audit as a whole."""
    if not user.has_perm(Permission.VIEW_AUDIT):
        roles = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(Permission.VIEW_AUDIT)))
        raise Denied(f"The audit of everything takes one of these roles: {roles}. Ask for one harness: ?harness=…")


def _text(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    try:
        text = clean_text(text)
    except ValueError as error:
        raise Invalid.field(name, f"The text {error}.", code="control_character") from error
    if len(text) > MAX_FILTER_CHARS:
        raise Invalid.field(
            name, f"The text has more than {MAX_FILTER_CHARS} characters.", "Shorten it.", code="too_long"
        )
    return text


def _moment(name: str, text: str) -> dt.datetime | None:
    """A point in time; a date is its beginning in UTC. Raises Invalid."""
    if not text:
        return None
    try:
        if (day := parse_date(text)) is not None:
            return dt.datetime.combine(day, dt.time.min, tzinfo=dt.UTC)
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        mend = "Write 2026-03-01 or 2026-03-01T08:00:00Z."
        raise Invalid.field(name, f"{text[:40]!a} is no date, nor a time with its zone.", mend, code="bad_time")
    return moment
