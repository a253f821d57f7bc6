"""What comes in: a specification as JSON, a file in a form or as the raw body."""

from __future__ import annotations

from dataclasses import dataclass

from rest_framework.request import Request

from harnesses.api.serializers import UploadSerializer
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.spec import HarnessSpec
from ledger.api.parsers import MAX_UPLOAD_BYTES, RawBody
from ledger.errors import FieldError, Invalid, TooLarge

NO_FILE = "The request holds no file. Send a form with the field file, or the file itself as the body with ?filename=…"
DEFAULT_FILENAME = "upload"


@dataclass(frozen=True)
class Upload:
    """A file to import."""

    filename: str
    content: bytes
    message: str


def read_spec(document: JsonValue) -> HarnessSpec:
    """A specification out of a request. Raises Invalid with every field that is wrong."""
    try:
        return spec_from_document(document)
    except SpecInputError as error:
        errors = [FieldError(_in_spec(problem.path), problem.message, code="bad_spec") for problem in error.problems]
        raise Invalid(
            str(error), code="bad_spec", title="The specification is malformed", field_errors=errors
        ) from error


def read_upload(request: Request) -> Upload:
    """The file of an import request. Raises ValidationError, TooLarge, Invalid."""
    if isinstance(request.data, RawBody):
        query = request.query_params
        if not request.data.content:
            raise Invalid.field("file", NO_FILE, code="required")
        return Upload(query.get("filename", DEFAULT_FILENAME), request.data.content, query.get("message", ""))
    if not request.data:
        raise Invalid.field("file", NO_FILE, code="required")
    serializer = UploadSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    file = serializer.validated_data["file"]
    if file.size > MAX_UPLOAD_BYTES:
        raise TooLarge(f"The file is larger than {MAX_UPLOAD_BYTES:,} bytes. Shorten it or split it.")
    return Upload(file.name, file.read(), serializer.validated_data["message"])


def _in_spec(path: str) -> str:
    return f"spec.{path}" if path else "spec"
