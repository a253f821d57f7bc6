"""`If-Match`: a change names what it started from, so that nobody overwrites what they have not seen."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from ledger.errors import FieldError, TackroomError

MISSING = 'Say which revision you started from: send its ETag as If-Match, such as If-Match: "{prefix}12".'
MALFORMED = 'If-Match holds no revision. Send the ETag of the answer you started from, such as "{prefix}12".'


class PreconditionRequired(TackroomError):
    """A change that does not say what it started from."""

    code = "precondition_required"
    title = "A precondition is required"
    status = 428


class PreconditionFailed(TackroomError):
    """An `If-Match` that names another content than there is."""

    code = "precondition_failed"
    title = "The precondition does not hold"
    status = 412


def revision_etag(prefix: str, revision: int) -> str:
    """The strong ETag of a revision: `"r12"`."""
    return f'"{prefix}{revision}"'


def expected_revision(request: Request, prefix: str) -> int | None:
    """The revision that `If-Match` names; None where the header is not sent. Raises BadIfMatch for anything else."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    match = re.fullmatch(rf'\s*"{prefix}(\d{{1,9}})"\s*', header, re.ASCII)
    if match is None:
        raise BadIfMatch(MALFORMED.format(prefix=prefix))
    return int(match[1])


def answer_if_known(request: Request, etag: str, headers: Mapping[str, str]) -> HttpResponse | None:
    """The empty 304 for a caller who has this very answer (`If-None-Match`), with these headers; None for anybody else.

    Raises PreconditionFailed where `If-Match` asks for another.
    """
    known: HttpResponse | None = get_conditional_response(request._request, etag=etag)
    if known is None:
        return None
    if known.status_code == PreconditionFailed.status:
        raise PreconditionFailed(f"If-Match asks for another content: the ETag here is {etag}.")
    for name, value in headers.items():
        known[name] = value
    return known


def required_revision(request: Request, prefix: str) -> int:
    """The revision that `If-Match` names. Raises PreconditionRequired where it is not sent, BadIfMatch where it is no revision."""
    revision = expected_revision(request, prefix)
    if revision is None:
        raise PreconditionRequired(MISSING.format(prefix=prefix))
    return revision


class BadIfMatch(TackroomError):
    """An `If-Match` header that names no revision."""

    code = "bad_if_match"
    title = "The If-Match header is malformed"
    status = 400

    def __init__(self, detail: str, *, header: str = "If-Match") -> None:
        super().__init__(detail, field_errors=[FieldError(header, detail, code=self.code)])
