"""Check the arguments of an operation against its schema and say what is wrong so that a model can mend it.

Messages never name operations or arguments: a model knows both by the names of its harness, and the runtime puts the right one in
front (`OperationError.argument`).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from harnesses.core.jsonvalues import JsonObject, JsonValue, clean_text
from harnesses.core.operations import OperationError, OperationSpec

_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
_SHOWN = 60


class OperationFailed(Exception):
    """An operation cannot give a result; carries the error to report. Raised inside a world, never out of it."""

    def __init__(self, code: str, message: str, argument: str | None = None) -> None:
        super().__init__(message)
        self.error = OperationError(code, message, argument)


def checked_arguments(spec: OperationSpec, arguments: JsonObject) -> JsonObject:
    """The arguments with the schema's defaults filled in. Raises OperationFailed (`invalid_argument`).

    A null for an argument that may be left out counts as left out: models write null where they have nothing to say.
    """
    required = spec.required_arguments
    given = {name: value for name, value in arguments.items() if value is not None or name in required}
    errors = sorted(_validator(spec.name, json.dumps(spec.input_schema)).iter_errors(given), key=_rank)
    if errors:
        raise OperationFailed("invalid_argument", _explain(errors[0]), _argument_at_fault(errors[0], spec, given))
    for name, value in given.items():
        _refuse_control_characters(name, value)
    defaults = {
        name: schema["default"]
        for name, schema in spec.input_schema.get("properties", {}).items()
        if "default" in schema and name not in given
    }
    return {**defaults, **given}


def _refuse_control_characters(name: str, value: JsonValue) -> None:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            try:
                clean_text(part)
            except ValueError as error:
                raise OperationFailed("invalid_argument", f"The text {error}.", name) from error


@lru_cache(maxsize=256)
def _validator(_name: str, schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _rank(error: ValidationError) -> tuple[int, str]:
    order = {"required": 0, "type": 1, "additionalProperties": 3}
    return order.get(str(error.validator), 2), error.json_path


def _argument_at_fault(error: ValidationError, spec: OperationSpec, given: JsonObject) -> str | None:
    if error.path:
        return str(error.path[0])
    if error.validator == "required":
        return next((name for name in spec.required_arguments if name not in given), None)
    if error.validator == "additionalProperties":
        return next((name for name in given if name not in spec.argument_names), None)
    return None


def _explain(error: ValidationError) -> str:
    instance: Any = error.instance
    found = _shown(instance)
    expected: Any = error.validator_value
    match error.validator:
        case "required":
            return "A value is missing; give one."
        case "type":
            return f"Expected {_type_words(expected)}, found {found}."
        case "enum":
            return f"{found} is not a choice. Choose one of: {', '.join(str(choice) for choice in expected)}."
        case "minimum":
            return f"{found} is too small; the least is {expected}."
        case "maximum":
            return f"{found} is too large; the most is {expected}."
        case "minLength":
            return "The text is empty; give a value."
        case "maxLength":
            return f"The text has {len(instance)} characters; at most {expected} are allowed."
        case "maxItems":
            return f"The list has {len(instance)} entries; at most {expected} are allowed."
        case "minItems":
            return f"The list has {len(instance)} entries; at least {expected} are needed."
        case "additionalProperties":
            return "Nothing by this name is expected here; leave it out."
        case _:
            return f"{found} does not have the expected form."


def _type_words(expected: str | list[str]) -> str:
    kinds = [expected] if isinstance(expected, str) else expected
    return " or ".join(_TYPES.get(kind, kind) for kind in kinds)


def _shown(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"
