"""Documents and edits that people and programs send in: every wrong field is told as a field of the request."""

from __future__ import annotations

import re

from harnesses.core.editing import Edited, EditError, apply_edits
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.spec import HarnessSpec
from ledger.errors import FieldError, Invalid

_IN_DOCUMENT = re.compile(r"(?:(?:prompt|skills|tools|hooks|examples)\[\d+\]|runtime)\.?(?P<rest>.*)", re.DOTALL)
_CARRIERS = {"set": "fields", "add": "component", "rename": "name", "replace_text": "replace"}
"""The field of an edit in which a value comes in that the harness then turns out not to hold."""


def read_spec(document: JsonValue, field: str = "spec") -> HarnessSpec:
    """The specification in a document; `field` is what the request calls it. Raises Invalid with every field that is wrong."""
    try:
        return spec_from_document(document)
    except SpecInputError as error:
        errors = [
            FieldError(f"{field}.{problem.path}" if problem.path else field, problem.message, code="bad_spec")
            for problem in error.problems
        ]
        raise Invalid(
            str(error), code="bad_spec", title="The specification is malformed", field_errors=errors
        ) from error


def edit_spec(spec: HarnessSpec, edits: JsonValue) -> Edited:
    """The specification after edits, all or none. Raises Invalid naming the field at fault (`edits[2].fields.name`)."""
    try:
        return apply_edits(spec, edits)
    except EditError as error:
        place = _place(edits, error)
        raise Invalid(
            f"{place}: {error}",
            code="bad_edit",
            title="An edit cannot be made",
            field_errors=[FieldError(place, error.message, error.mend, "bad_edit")],
        ) from error


def _place(edits: JsonValue, error: EditError) -> str:
    """The field at fault as a field of the request, also where it came to light in the harness as a whole."""
    if not isinstance(edits, list) or error.index >= len(edits):
        return "edits"
    edit, path = edits[error.index], error.path
    if match := _IN_DOCUMENT.fullmatch(path):
        op = edit.get("op") if isinstance(edit, dict) else ""
        rest = match["rest"] if op in ("set", "add") else ""
        path = ".".join(part for part in (_CARRIERS.get(str(op), ""), rest) if part)
    return ".".join(part for part in (f"edits[{error.index}]", path) if part)
