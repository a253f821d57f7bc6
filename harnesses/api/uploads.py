"""What comes in as a file: in a form or as the raw body."""

from __future__ import annotations

from dataclasses import dataclass

from rest_framework.request import Request

from harnesses.api.serializers import UploadSerializer
from ledger.api.parsers import MAX_UPLOAD_BYTES, RawBody
from ledger.errors import Invalid, TooLarge

NO_FILE = "The request holds no file. Send a form with the field file, or the file itself as the body with ?filename=…"
DEFAULT_FILENAME = "upload"


@dataclass(frozen=True)
class Upload:
    """A file to import."""

    filename: str
    content: bytes
    message: str


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
