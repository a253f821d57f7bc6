"""Django's own error pages, for addresses outside any view: problem documents under `/api/`, pages elsewhere."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views import defaults

from ledger.api.problems import Problem, problem_response
from ledger.request_context import current_request_id

API_PREFIX = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler400."""
    if request.path.startswith(API_PREFIX):
        return problem_response(request, Problem(400, "malformed", "Malformed request", "The request is malformed."))
    return defaults.bad_request(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler404."""
    if request.path.startswith(API_PREFIX):
        detail = "There is nothing at this address. The addresses are listed at /api/schema/."
        return problem_response(request, Problem(404, "not_found", "Not found", detail))
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """handler500."""
    if request.path.startswith(API_PREFIX):
        detail = (
            f"Something broke on our side. Tell an administrator the request id, {current_request_id() or 'unknown'}."
        )
        return problem_response(request, Problem(500, "internal", "Internal error", detail))
    return defaults.server_error(request)
