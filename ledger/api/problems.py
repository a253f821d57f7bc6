"""Every error of the REST API as a problem document (RFC 9457, `application/problem+json`).

Errors raised on purpose (`ledger.errors`) and those of Django REST Framework come out in one shape. Anything else is a bug: it
is logged with its traceback and the request id, and the caller gets a 500 that tells only the id.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions

from ledger.errors import FieldError, TackroomError
from ledger.request_context import current_request_id

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:tackroom:problem:"

_TITLES = {
    400: "Malformed request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    413: "The input is too large",
    415: "Unsupported media type",
    429: "Too many requests",
    500: "Internal error",
}
_CODES = {
    400: "malformed",
    401: "not_authenticated",
    403: "denied",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "internal",
}
_MENDS = {
    "required": "Add this field.",
    "null": "Give a value.",
    "blank": "Write something.",
    "empty": "Write something.",
    "max_length": "Shorten it.",
    "min_value": "Use a larger number.",
    "max_value": "Use a smaller number.",
    "invalid_choice": "Use one of the documented values.",
    "null_characters_not_allowed": "Remove the NUL character.",
    "surrogate_characters_not_allowed": "Remove the broken character.",
}
MAX_FIELD_ERRORS = 50
MAX_MESSAGE_CHARS = 300
"""What a refusal repeats of what was sent: a value of a megabyte is no help in it."""
_DEFAULT_MEND = "Correct the value; the schema is at /api/schema/."


@dataclass(frozen=True)
class Problem:
    """What a problem document says. `errors` name fields; `extra` holds members of one problem type alone."""

    status: int
    code: str
    title: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def problem_response(request: HttpRequest | None, problem: Problem) -> JsonResponse:
    """The HTTP response for a problem. It is no DRF response, so that no view's renderer can turn it into something else."""
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + problem.code,
        "code": problem.code,
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": request.path if request is not None else "",
        "request_id": current_request_id(),
        **problem.extra,
    }
    if problem.errors:
        body["errors"] = [asdict(error) for error in problem.errors]
    return JsonResponse(body, status=problem.status, content_type=CONTENT_TYPE, headers=dict(problem.headers))


def problem_handler(exc: Exception, context: Mapping[str, Any]) -> JsonResponse:
    """DRF's exception handler: turns any exception into a problem document."""
    request = context.get("request")
    return problem_response(request, problem_of(exc))


def problem_of(exc: Exception) -> Problem:
    """The problem that an exception amounts to."""
    if isinstance(exc, TackroomError):
        extra = getattr(exc, "problem_members", {})
        headers = getattr(exc, "headers", {})
        return Problem(exc.status, exc.code, exc.title, exc.detail, exc.field_errors, extra, headers)
    if isinstance(exc, exceptions.ValidationError):
        errors = tuple(_flatten(exc.detail)[:MAX_FIELD_ERRORS])
        detail = "; ".join(f"{error.field}: {error.message}" if error.field else error.message for error in errors[:5])
        return Problem(400, "invalid", "The input is not valid", detail, errors)
    if isinstance(exc, Http404):
        return _plain(404, "There is nothing at this address.")
    if isinstance(exc, PermissionDenied):
        return _plain(403, str(exc) or "You may not do that.")
    if isinstance(exc, RequestDataTooBig):
        return _plain(413, "The request body is too large. Shorten it.")
    if isinstance(exc, SuspiciousOperation):
        return _plain(400, f"The request is malformed: {exc}")
    if isinstance(exc, exceptions.APIException):
        return _api_exception(exc)
    logger.error("Unexpected error, request %s", current_request_id() or "-", exc_info=exc)
    return _plain(500, "Something broke on our side. Tell an administrator the request id; the log holds the cause.")


def _plain(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Problem:
    return Problem(status, _CODES[status], _TITLES[status], detail, headers=headers or {})


def _api_exception(exc: exceptions.APIException) -> Problem:
    status = exc.status_code
    headers: dict[str, str] = {}
    if auth_header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if isinstance(exc, exceptions.Throttled) and (wait_s := getattr(exc, "wait", None)) is not None:
        headers["Retry-After"] = str(max(1, round(wait_s)))
    detail = exc.detail if isinstance(exc.detail, str) else "; ".join(error.message for error in _flatten(exc.detail))
    if status not in _CODES:
        return Problem(status, "error", str(exc.default_detail), str(detail), headers=headers)
    return _plain(status, str(detail), headers)


def _flatten(detail: Any, path: str = "") -> list[FieldError]:
    """DRF's nested error details as a list by field path (`spec.tools[0].name`)."""
    if isinstance(detail, Mapping):
        return [error for key, value in detail.items() for error in _flatten(value, _join(path, key))]
    if isinstance(detail, Sequence) and not isinstance(detail, str):
        if all(isinstance(item, str) for item in detail):
            return [error for item in detail for error in _flatten(item, path)]
        return [error for index, item in enumerate(detail) for error in _flatten(item, f"{path}[{index}]")]
    code = getattr(detail, "code", "invalid") or "invalid"
    message = str(detail)
    if len(message) > MAX_MESSAGE_CHARS:
        message = f"{message[:MAX_MESSAGE_CHARS]}…"
    return [FieldError(path, message, _MENDS.get(code, _DEFAULT_MEND), code)]


def _join(path: str, key: object) -> str:
    if key == "non_field_errors":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)
