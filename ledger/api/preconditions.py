"""`If-Match`: a change names what it started from, so that nobody overwrites what they have not seen."""

from __future__ import annotations

import re

from rest_framework.request import Request

from ledger.errors import TackroomError

MISSING = 'Say which revision you started from: send its ETag as If-Match, such as If-Match: "{prefix}12".'
MALFORMED = 'If-Match holds no revision. Send the ETag of the answer you started from, such as "{prefix}12".'


class PreconditionRequired(TackroomError):
    """A change that does not say what it started from."""

    code = "precondition_required"
    title = "A precondition is required"
    status = 428


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
