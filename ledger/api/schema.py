"""What drf-spectacular must be told: the token scheme, and that every error is a problem document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from ledger.api.problems import CONTENT_TYPE

_METHODS = ("get", "post", "put", "patch", "delete")
_TEXT = {"type": "string"}
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457 problem document.",
    "required": ["type", "code", "title", "status", "detail", "instance"],
    "properties": {
        "type": {**_TEXT, "description": "Stable name of the kind of problem, for programs.", "format": "uri"},
        "code": {**_TEXT, "description": "The last part of the type."},
        "title": {**_TEXT, "description": "The same for every problem of this type."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {**_TEXT, "description": "What happened this time, and what to do."},
        "instance": {**_TEXT, "description": "The path that was asked for."},
        "request_id": {**_TEXT, "description": "Find this request in the logs and the audit trail."},
        "errors": {
            "type": "array",
            "description": "What is wrong, field by field.",
            "items": {
                "type": "object",
                "required": ["field", "message", "mend", "code"],
                "properties": {"field": _TEXT, "message": _TEXT, "mend": _TEXT, "code": _TEXT},
            },
        },
    },
}


class ApiTokenScheme(OpenApiAuthenticationExtension):
    """Documents `ApiTokenAuthentication` as a bearer scheme."""

    target_class = "ledger.api.authentication.ApiTokenAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "tkr_…", "description": "A scoped API token."}


def add_problem_responses(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A spectacular post-processing hook: every operation answers errors with a problem document."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path in result.get("paths", {}).values():
        for method in _METHODS:
            if method in path:
                path[method]["responses"].setdefault("default", {"description": "A problem.", "content": content})
    return result
