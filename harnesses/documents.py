"""Documents that people and programs send in, read as harnesses: every wrong field is told as a field of the request."""

from __future__ import annotations

from harnesses.core.jsonvalues import JsonValue
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.spec import HarnessSpec
from ledger.errors import FieldError, Invalid


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
