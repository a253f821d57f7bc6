"""How lists are cut into pages."""

from __future__ import annotations

from rest_framework.pagination import LimitOffsetPagination


class BoundedPagination(LimitOffsetPagination):
    """`?limit=50&offset=0`, at most 200 a page."""

    default_limit = 50
    max_limit = 200
