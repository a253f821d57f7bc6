"""How lists are cut into pages: by a cursor, so that a list that grows meanwhile shows nothing twice and leaves nothing out.

A page's cost does not grow with how far it is from the start, and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound as NoSuchCursor
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ledger.errors import Invalid

BAD_CURSOR = "This is no cursor of this list."
BAD_CURSOR_MEND = "Follow the links `next` and `previous` of an answer, or leave it out."
NO_OFFSET = "Lists have no offset."
NO_OFFSET_MEND = "Follow the link `next` of an answer."


class CursorPages(CursorPagination):
    """`?cursor=…&limit=50`, at most 200 a page; answers with `next` and `previous` links and `results`.

    Pages follow the queryset's own order, made total by the key; its first field must be a column of the row itself.
    """

    page_size = 50
    page_size_query_param = "limit"
    page_size_query_description = "Entries on a page: 1 to 200, 50 if left out."
    cursor_query_description = "Where the page begins: follow `next` and `previous` of an answer."
    max_page_size = 200

    def paginate_queryset(
        self, queryset: QuerySet[Any] | Sequence[Any], request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        if "offset" in request.query_params:
            # Passed over in silence, it would let a program read the first page for ever.
            raise Invalid.field("offset", NO_OFFSET, NO_OFFSET_MEND, code="no_offset")
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, ValidationError, DataError) as error:
            raise Invalid.field("cursor", BAD_CURSOR, BAD_CURSOR_MEND, code="bad_cursor") from error

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: APIView | None) -> tuple[str, ...]:
        given = queryset.query.order_by or (queryset.model._meta.ordering if queryset.query.default_ordering else ())
        ordering = [name for name in given if isinstance(name, str)]
        if not {"pk", "-pk", "id", "-id"} & set(ordering):
            # In the direction of the first, or else the database could not walk one index backwards.
            ordering.append("-pk" if ordering and ordering[0].startswith("-") else "pk")
        return tuple(ordering)

    def decode_cursor(self, request: Request) -> Cursor | None:
        try:
            return super().decode_cursor(request)
        except NoSuchCursor as error:
            raise Invalid.field("cursor", BAD_CURSOR, BAD_CURSOR_MEND, code="bad_cursor") from error


PAGE_PARAMETERS = [
    OpenApiParameter("cursor", str, description=CursorPages.cursor_query_description),
    OpenApiParameter("limit", int, description=CursorPages.page_size_query_description),
]
"""For the schema of views that page by `paged`."""


def paged(request: Request, view: APIView, rows: QuerySet[Any], document: Callable[[Any], Any]) -> Response:
    """One page of `rows`, each written by `document`: for views that are no generic ones."""
    pages = CursorPages()
    page = pages.paginate_queryset(rows, request, view=view) or []
    return pages.get_paginated_response([document(row) for row in page])
