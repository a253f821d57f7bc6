"""How a tool's result, or why there is none, is written for the model.

Values are shown in full in every format; keys come in the order of the binding's result map, then by name, so that the text does
not depend on how a JSON object happened to be stored. Tool results travel as user messages, because compact models know no
other role for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from harnesses.core.bindings import surface_argument_name, to_surface_result
from harnesses.core.call_writing import CallFormat
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.operations import OperationError
from harnesses.core.spec import BindingCase
from harnesses.runtime.wire_guard import guard_text

ResultFormat = Literal["json", "lines", "table", "prose"]
_LAST: Final = 10_000
_MAX_NAME_CHARS: Final = 64


def shown_result(case: BindingCase, value: JsonObject) -> str:
    """An operation's result as the model reads it. Raises BindingError if the binding cannot show it."""
    surface = to_surface_result(case, value)
    ranks = {field.name or field.path[-1]: rank for rank, field in reversed(list(enumerate(case.result.fields)))}
    return guard_text(write_result(_ordered(surface, ranks), case.result.format))


def write_result(value: JsonObject, result_format: ResultFormat) -> str:
    """A result object in one of the four formats."""
    if result_format == "json":
        return _json(value)
    if result_format == "lines":
        return "\n".join(f"{key}: {text}" for key, text in _flat(value, "")) or "nothing"
    if result_format == "table":
        return _table(value)
    sentence = _clause(value)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing."


def operation_error_text(case: BindingCase, error: OperationError) -> str:
    """Why an operation refused, by the name the model knows the argument under."""
    name = surface_argument_name(case, error.argument) if error.argument else ""
    message = guard_text(error.message)
    return f'"{name}": {message}' if name else message


def write_response(call_format: CallFormat, name: str, text: str) -> str:
    """One tool response, as it stands in the message that goes back to the model."""
    if call_format == "hermes":
        return f"<tool_response>\n{text}\n</tool_response>"
    shown_name = guard_text(" ".join(name.split())[:_MAX_NAME_CHARS]) or "call"
    separator = "\n" if "\n" in text else " "
    return f"RESULT {shown_name}:{separator}{text}"


def _ordered(value: JsonValue, ranks: dict[str, int]) -> JsonValue:
    if isinstance(value, list):
        return [_ordered(item, ranks) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: (ranks.get(key, _LAST), key))
    return {key: _ordered(value[key], ranks) for key in keys}


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(value: JsonValue) -> str:
    return " ".join(value.split()) if isinstance(value, str) else _json(value)


def _is_flat(value: JsonValue) -> bool:
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)


def _flat(value: JsonValue, path: str) -> Iterator[tuple[str, str]]:
    """Every value with its dotted path; list elements are numbered from 1."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and not _is_flat(value):
        for number, item in enumerate(value, 1):
            yield from _flat(item, f"{path}[{number}]")
    elif isinstance(value, list):
        yield path, ", ".join(_text(item) for item in value) or "none"
    elif path:
        yield path, "none" if isinstance(value, dict) else _text(value)


def _table(value: JsonObject) -> str:
    plain = {key: item for key, item in value.items() if not _rows(item)}
    blocks: list[str] = []
    pairs = list(_flat(plain, ""))
    if pairs:
        blocks.append(_grid(["field", "value"], [[key, text] for key, text in pairs]))
    for key, item in value.items():
        rows = _rows(item)
        if rows:
            columns = list(dict.fromkeys(column for row in rows for column in row))
            blocks.append(f"{key}:\n" + _grid(columns, [[row.get(column, "") for column in columns] for row in rows]))
    return "\n".join(blocks) or "nothing"


def _rows(value: JsonValue) -> list[dict[str, str]]:
    """The rows of a non-empty list of objects; anything else has none."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) and item for item in value):
        return []
    return [dict(_flat(item, "")) for item in value]


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _clause(value: JsonValue, subject: str = "") -> str:
    """`{"price": 12, "sizes": ["S", "M"]}` → "price is 12; sizes are S and M"."""
    if isinstance(value, dict) and value:
        return "; ".join(_clause(item, f"{subject} {_words(key)}".strip()) for key, item in value.items())
    if isinstance(value, list) and value and not _is_flat(value):
        parts = (f"({number}) {_clause(item) or 'nothing'}" for number, item in enumerate(value, 1))
        return f"{subject}: {', '.join(parts)}"
    if isinstance(value, list | dict):
        items = [_text(item) for item in value]
        joined = f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items) or "none"
        return f"{subject} are {joined}" if subject else joined
    return f"{subject} is {_text(value)}" if subject else _text(value)


def _words(key: str) -> str:
    return key.replace("_", " ")
