"""The errors that services raise on purpose: something was asked for that cannot be done, and here is why.

Each carries what a problem document (RFC 9457) or a form needs, so that the REST API, the console and the command line all
tell the same story. A bug is never one of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field: where, what was found, and what to do. `code` is stable."""

    field: str
    message: str
    mend: str = ""
    code: str = "invalid"


class TackroomError(Exception):
    """Base of all errors raised on purpose.

    `code` is stable and becomes the problem type; `status` is the HTTP status; `title` is the same for every case of a code;
    `detail` tells this case, with what to do; `field_errors` say it by field.
    """

    code = "error"
    title = "That could not be done"
    status = 400

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        title: str | None = None,
        field_errors: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.title = title or self.title
        self.field_errors = tuple(field_errors)


class NotFound(TackroomError):
    """There is no such thing."""

    code = "not_found"
    title = "Not found"
    status = 404


class Conflict(TackroomError):
    """The thing is not in the state that the request assumed."""

    code = "conflict"
    title = "Conflict"
    status = 409


class Invalid(TackroomError):
    """The input cannot be accepted; `field_errors` say why by field."""

    code = "invalid"
    title = "The input is not valid"
    status = 422

    @classmethod
    def field(cls, field: str, message: str, mend: str = "", *, code: str = "invalid") -> Invalid:
        """An error about one field."""
        return cls(f"{field}: {message} {mend}".strip(), field_errors=[FieldError(field, message, mend, code)])


class TooLarge(Invalid):
    """The input is larger than is taken."""

    code = "too_large"
    title = "The input is too large"
    status = 413


class Denied(TackroomError):
    """This person may not do that."""

    code = "denied"
    title = "Not allowed"
    status = 403


class Unavailable(TackroomError):
    """Something that is needed (the model engine, the broker) does not answer now."""

    code = "unavailable"
    title = "Not available now"
    status = 503
