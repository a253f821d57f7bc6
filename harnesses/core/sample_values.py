"""A plausible value for a JSON Schema, so that a person can see what a result looks like before anything ran.

The value is made from the schema alone and is always the same for the same schema: the default, the first of the allowed values, a
text by its format, the least number that is allowed. It satisfies the schema wherever the keywords below say all there is to say;
a pattern or a rule across fields may ask for more, which is why callers still check it.
"""

from __future__ import annotations

from typing import Final

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.schemas import resolved

_MAX_DEPTH: Final = 8
_FORMATS: Final = {
    "date-time": "2026-01-31T20:00:00Z",
    "date": "2026-01-31",
    "time": "20:00:00Z",
    "email": "wren@example.com",
    "uri": "https://example.com/item",
    "uuid": "3f2c9a52-6a3b-4c58-9a65-0f0d3a9f8a11",
}
_PATTERNS: Final = {"^[A-Z]{3}$": "CNY"}


def sample_value(schema: JsonObject, name: str = "") -> JsonValue:
    """A value that a schema describes. `name` is what the value is called; texts are made from it."""
    return _sample(schema, schema, name, 0)


def _sample(schema: JsonValue, root: JsonObject, name: str, depth: int) -> JsonValue:
    node = resolved(schema, root)
    if node is None or depth > _MAX_DEPTH:
        return None
    for keyword in ("const", "default"):
        if keyword in node:
            return node[keyword]
    for keyword in ("enum", "examples"):
        if isinstance(node.get(keyword), list) and node[keyword]:
            return node[keyword][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(node.get(keyword), list) and node[keyword] and "type" not in node:
            return _sample(node[keyword][0], root, name, depth + 1)
    return _of_type(_type_of(node), node, root, name, depth)


def _type_of(node: JsonObject) -> str:
    kinds = node.get("type")
    named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    fitting = [kind for kind in named if isinstance(kind, str) and kind != "null"]
    if fitting:
        return fitting[0]
    return "null" if named else "object" if "properties" in node else "string"


def _of_type(kind: str, node: JsonObject, root: JsonObject, name: str, depth: int) -> JsonValue:
    if kind == "object":
        properties = node.get("properties")
        declared = properties if isinstance(properties, dict) else {}
        return {key: _sample(inner, root, key, depth + 1) for key, inner in declared.items()}
    if kind == "array":
        count = max(1, _whole(node.get("minItems"), 1))
        return [_sample(node.get("items", {}), root, name, depth + 1) for _ in range(min(count, 5))]
    if kind in ("integer", "number"):
        return _number(node)
    if kind == "boolean":
        return True
    return None if kind == "null" else _text(node, name)


def _number(node: JsonObject) -> int:
    least, most = _whole(node.get("minimum"), 0), _whole(node.get("maximum"), 10**12)
    return max(least, min(most, 12_900)) if least <= 1 else least


def _text(node: JsonObject, name: str) -> str:
    formatted = _FORMATS.get(str(node.get("format"))) or _PATTERNS.get(str(node.get("pattern")))
    text = formatted or (name.replace("_", " ") or "text")
    least, most = _whole(node.get("minLength"), 0), _whole(node.get("maxLength"), 10_000)
    return text.ljust(min(least, 200), "x")[: max(most, 0)]


def _whole(value: JsonValue, fallback: int) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and abs(value) < 10**15 else fallback
