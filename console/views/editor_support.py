"""Two small JSON resources of the editor's scripts: what they must know of harnesses, and a Skill's Markdown as HTML."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_GET
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from console.editor_language import language_json
from console.markdown import markdown_html
from console.views.shared import page
from harnesses import ports
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import MAX_TEMPLATE_CHARS, SAMPLE_CONTEXT, TemplateError, render_template


@require_GET
@page()
def editor_language(request: HttpRequest) -> HttpResponseBase:
    """The shape of a harness, the template language and the rules of hooks; changes with the code alone, so it is cached."""
    body, etag = language_json()
    known = get_conditional_response(request, etag=etag)
    response = known or HttpResponse(body, content_type="application/json")
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


class MarkdownSerializer(serializers.Serializer):
    """`text` is the Markdown; `document` holds the harness parts that its template names (tools, skills, runtime)."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=MAX_TEMPLATE_CHARS)
    document = serializers.DictField(required=False)


class MarkdownPreviewView(APIView):
    """A Skill's body as the model gets it, filled in with a sample room, as HTML, with its number of tokens."""

    authentication_classes = (SessionAuthentication,)
    permission_classes = (IsAuthenticated,)

    @extend_schema(exclude=True)
    def post(self, request: Request) -> Response:
        serializer = MarkdownSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        text, note = serializer.validated_data["text"], ""
        document = serializer.validated_data.get("document")
        try:
            spec = spec_from_document(document) if document else HarnessSpec()
            text = render_template(text, spec, SAMPLE_CONTEXT)
        except TemplateError as error:
            note = f"Shown as written: {error.message} {error.mend}".strip()
        except SpecInputError:
            note = "Shown as written: names cannot be filled in while another part of the harness is broken."
        return Response({"html": markdown_html(text), "tokens": ports.token_counter()(text), "note": note})
