"""Skills out of a file, for the editor to take into a draft: read, and nothing stored."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from harnesses.api.drafts import READ, DraftAPIView
from harnesses.api.serializers import UploadSerializer
from harnesses.api.uploads import read_upload
from harnesses.core.spec import HarnessSpec
from harnesses.formats.agent_skills import import_skills
from harnesses.formats.archive import read_zip
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.selectors import draft_spec
from ledger.errors import FieldError, Invalid


class SkillFileSerializer(serializers.Serializer[Any]):
    """The skills that a file holds, as components of a harness; `notes` say what was left out."""

    skills = serializers.ListField(child=serializers.DictField())
    notes = serializers.ListField(child=serializers.CharField())


class SkillFileView(DraftAPIView):
    """A SKILL.md, or a zip of folders with one each, as components. Tools are looked up by name among the draft's."""

    required_scopes = {"POST": READ}
    parser_classes = (MultiPartParser,)

    @extend_schema(
        summary="Read skills from a file",
        request={"multipart/form-data": UploadSerializer},
        responses=SkillFileSerializer,
    )
    def post(self, request: Request, slug: str, draft_id: str) -> Response:
        draft = self.draft(request)
        upload = read_upload(request)
        read = _read_skills(upload.content, HarnessSpec(tools=draft_spec(draft).tools))
        return Response({"skills": read.spec.document()["skills"], "notes": list(read.notes)})


def _read_skills(content: bytes, base: HarnessSpec) -> ImportResult:
    """Raises Invalid with everything that is wrong in the file."""
    try:
        files = read_zip(content) if content[:2] == b"PK" else {"SKILL.md": content}
        return import_skills(files, base)
    except FormatError as error:
        errors = [FieldError(problem.where or "file", problem.message, code="bad_format") for problem in error.problems]
        raise Invalid(str(error), code="bad_format", title="The file holds no skill", field_errors=errors) from error
