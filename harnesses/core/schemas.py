"""JSON Schema (2020-12) as tools and operations use it: validation told in words, and looking things up in a schema.

Nothing here ever fetches a remote `$ref`: a schema is closed in itself or it is refused. Validators are kept by the
canonical JSON of their schema, since the same few schemas judge every call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from harnesses.core.jsonvalues import JsonObject, JsonValue, canonical_json
from harnesses.core.patterns import is_found, matching_limit, pattern_problem

_MAX_SHOWN = 80
_MAX_CHOICES = 30
_MAX_REF_HOPS = 20
_LITERAL_KEYWORDS = frozenset({"const", "enum", "default", "examples", "example"})
_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_UNLIMITED = "unevaluatedProperties and patternProperties do not go together here: use additionalProperties"
_ENDLESS = "judging a value by it takes too many steps; write it simpler"
_MAX_STEPS = 60_000
"""How many keywords may be asked about one value: a schema of 5,000 entries on a long list of objects stays far below."""
_steps: ContextVar[Iterator[int]] = ContextVar("schema_steps")
_TYPE_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class BrokenSchemaError(ValueError):
    """The schema itself cannot be used; the message says why."""


@dataclass(frozen=True)
class SchemaProblem:
    """One way in which a value does not satisfy a schema. `code` is stable, `path` leads to the value at fault."""

    code: str
    path: tuple[str, ...]
    message: str


def same_json(left: JsonValue, right: JsonValue) -> bool:
    """Equality of JSON values as the canonical form sees it: true is not 1, but 1.0 is 1; key order does not matter."""
    return canonical_json(left) == canonical_json(right)


def shown(value: JsonValue) -> str:
    """A JSON value as it is quoted in a message, cut to a readable length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def choices(values: Iterable[JsonValue]) -> str:
    """Values to choose from, quoted and in one line; a long list is cut with an ellipsis."""
    quoted = [shown(value) for value in islice(values, _MAX_CHOICES + 1)]
    return ", ".join([*quoted[:_MAX_CHOICES], "…"] if len(quoted) > _MAX_CHOICES else quoted)


# --- the keywords with patterns: as `jsonschema` has them, but for the time limit -------------------------------------


def _pattern(validator: Any, pattern: str, value: JsonValue, schema: JsonObject) -> Iterator[ValidationError]:
    if validator.is_type(value, "string") and not is_found(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, rules: JsonObject, value: JsonValue, schema: JsonObject
) -> Iterator[ValidationError]:
    if validator.is_type(value, "object"):
        for pattern, inner in rules.items():
            for key, item in value.items():
                if is_found(pattern, key):
                    yield from validator.descend(item, inner, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, rule: JsonValue, value: JsonValue, schema: JsonObject
) -> Iterator[ValidationError]:
    if not validator.is_type(value, "object"):
        return
    extra = _extra_keys(schema, value)
    if isinstance(rule, dict):
        for key in extra:
            yield from validator.descend(value[key], rule, path=key)
    elif not rule and extra:
        yield ValidationError(f"{', '.join(map(repr, extra))} is not expected")


def _extra_keys(schema: JsonObject, value: JsonObject) -> list[str]:
    """The keys that neither `properties` nor `patternProperties` of a schema names."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in value if key not in known and not any(is_found(pattern, key) for pattern in patterns)]


Keyword = Callable[[Any, JsonValue, JsonValue, JsonObject], Iterable[ValidationError] | None]


def _counted(keyword: Keyword) -> Keyword:
    """The keyword, but that it raises BrokenSchemaError once `_MAX_STEPS` were taken: references can double at every step."""

    def check(
        validator: Any, rule: JsonValue, value: JsonValue, schema: JsonObject
    ) -> Iterable[ValidationError] | None:
        if next(_steps.get(), None) is None:
            raise BrokenSchemaError(_ENDLESS)
        return keyword(validator, rule, value, schema)

    return check


_KEYWORDS: dict[str, Keyword] = {
    **Draft202012Validator.VALIDATORS,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
_Validator = extend(Draft202012Validator, {name: _counted(keyword) for name, keyword in _KEYWORDS.items()})


@lru_cache(maxsize=2048)
def _validator(canonical_schema: str) -> Draft202012Validator:
    schema = json.loads(canonical_schema)
    if _is_unlimited(schema):
        raise BrokenSchemaError(_UNLIMITED)
    return cast(Draft202012Validator, _Validator(schema, registry=Registry()))


def _is_unlimited(schema: JsonObject) -> bool:
    """Whether a schema has the one pair of keywords whose patterns `jsonschema` matches itself, without a limit."""
    nodes = list(_nodes(schema))
    return all(any(word in node for node in nodes) for word in ("unevaluatedProperties", "patternProperties"))


def schema_problems(schema: JsonObject, value: JsonValue) -> tuple[SchemaProblem, ...]:
    """Every way in which `value` does not satisfy `schema`, in a fixed order.

    Raises BrokenSchemaError if the schema itself cannot be used (use `broken_schema_reasons` to learn why beforehand).
    """
    try:
        with matching_limit():
            token = _steps.set(iter(range(_MAX_STEPS)))
            try:
                errors = list(_validator(canonical_json(schema)).iter_errors(value))
            finally:
                _steps.reset(token)
    except BrokenSchemaError:
        raise
    except (
        SchemaError,
        UnknownType,
        Unresolvable,
        RecursionError,
        ArithmeticError,
        TypeError,
        AttributeError,
        ValueError,
    ) as error:
        raise BrokenSchemaError(f"the schema cannot be used: {str(error)[:200] or type(error).__name__}") from error
    problems = [_in_words(error) for error in errors]
    return tuple(sorted(problems, key=lambda problem: (problem.path, problem.code, problem.message)))


def _in_words(error: ValidationError) -> SchemaProblem:
    path = tuple(str(part) for part in error.absolute_path)
    name = f'"{dotted(path)}"' if path else "The value"
    rule, limit, value = str(error.validator), cast(JsonValue, error.validator_value), error.instance
    if rule == "required" and isinstance(value, dict):
        missing = next((key for key in limit if error.message.startswith(f"{key!r} is a required")), "?")
        wanted = type_in_words(schema_at(cast(JsonObject, error.schema), (missing,)))
        inner = (*path, missing)
        return SchemaProblem("missing_argument", inner, f'"{dotted(inner)}" is missing; give {wanted}.')
    if rule == "additionalProperties" and limit is False and isinstance(value, dict):
        known = cast(JsonObject, error.schema).get("properties", {})
        extra = sorted(_extra_keys(cast(JsonObject, error.schema), value))
        inner = (*path, extra[0]) if extra else path
        return SchemaProblem("unknown_argument", inner, f'"{dotted(inner)}" is not known here; {_takes(known)}.')
    if rule == "type":
        wanted = type_in_words({"type": limit})
        return SchemaProblem("wrong_type", path, f"{name} must be {wanted}, not {shown(value)}.")
    if rule == "enum":
        return SchemaProblem("wrong_value", path, f"{name} must be one of {choices(limit)}, not {shown(value)}.")
    if rule == "const":
        return SchemaProblem("wrong_value", path, f"{name} must be {shown(limit)}, not {shown(value)}.")
    return SchemaProblem("wrong_value", path, f"{name} breaks the rule {rule} ({shown(limit)}): {shown(value)}.")


def _takes(known: JsonObject) -> str:
    return f"possible are {names_in_line(known)}" if known else "nothing can be given"


def names_in_line(names: Iterable[str]) -> str:
    """Names in one line, sorted; a long list is cut with an ellipsis."""
    ordered = sorted(names)
    return ", ".join([*ordered[:_MAX_CHOICES], "…"] if len(ordered) > _MAX_CHOICES else ordered)


def dotted(path: tuple[str, ...]) -> str:
    """A path as people write it: keys joined by dots."""
    return ".".join(path)


def type_in_words(schema: JsonObject | None) -> str:
    """What a schema asks for, in words: "a whole number", "a text or null", "one of "a", "b"", "a value"."""
    if not schema:
        return "a value"
    if isinstance(schema.get("enum"), list):
        return f"one of {choices(schema['enum'])}"
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    return " or ".join(_TYPE_WORDS.get(str(name), str(name)) for name in names) or "a value"


def resolved(schema: JsonValue, root: JsonObject) -> JsonObject | None:
    """The schema behind local `$ref`s (`#/…` pointers); None where there is no object schema."""
    for _ in range(_MAX_REF_HOPS):
        if not isinstance(schema, dict):
            return None
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = _pointed_at(reference, root)
    return None


def _pointed_at(reference: str, root: JsonObject) -> JsonValue:
    if not reference.startswith("#"):
        return None
    node: JsonValue = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def schema_at(root: JsonObject, path: tuple[str, ...], *, through_lists: bool = False) -> JsonObject | None:
    """The schema of the value at `path` below an object schema; None if it declares no such property.

    With `through_lists`, a list on the way counts as its elements, as in the paths of result fields.
    """
    node = resolved(root, root)
    for key in path:
        while through_lists and node is not None and "items" in node and "properties" not in node:
            node = resolved(node["items"], root)
        properties = node.get("properties") if node is not None else None
        if not isinstance(properties, dict) or key not in properties:
            return None
        node = resolved(properties[key], root)
        if node is None:
            return None
    return node


def required_keys(schema: JsonObject | None) -> tuple[str, ...]:
    """The `required` of an object schema, empty where it has none or nonsense."""
    required = schema.get("required") if schema else None
    return tuple(key for key in required if isinstance(key, str)) if isinstance(required, list) else ()


def is_required(root: JsonObject, path: tuple[str, ...]) -> bool:
    """Whether a value must be given at `path`: every key on the way is required."""
    return all(path[depth] in required_keys(schema_at(root, path[:depth])) for depth in range(len(path)))


def leaf_paths(root: JsonObject) -> tuple[tuple[str, ...], ...]:
    """Paths of the declared properties that hold no further declared properties, sorted."""
    found: list[tuple[str, ...]] = []
    seen_refs = 0

    def walk(node: JsonObject | None, path: tuple[str, ...]) -> None:
        nonlocal seen_refs
        properties = node.get("properties") if node else None
        if isinstance(properties, dict) and properties and len(path) < _MAX_REF_HOPS and seen_refs < 10_000:
            for key in sorted(properties):
                seen_refs += 1
                walk(resolved(properties[key], root), (*path, key))
        elif path:
            found.append(path)

    walk(resolved(root, root), ())
    return tuple(found)


def broken_schema_reasons(schema: JsonObject) -> tuple[tuple[str, str], ...]:
    """Why a schema cannot be used: pairs of a stable code and a reason in words; empty if it can.

    Codes: `schema_invalid`, `schema_not_object`, `schema_remote_ref`, `schema_dangling_ref`, `schema_endless`.
    """
    return _broken_schema_reasons(canonical_json(schema))


@lru_cache(maxsize=4096)
def _broken_schema_reasons(canonical_schema: str) -> tuple[tuple[str, str], ...]:
    schema: JsonObject = json.loads(canonical_schema)
    reasons: list[tuple[str, str]] = []
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = dotted(tuple(str(part) for part in error.absolute_path)) or "the root"
        reasons.append(("schema_invalid", f"at {where}: {error.message[:200]}"))
    except RecursionError:
        reasons.append(("schema_invalid", "it is nested too deeply"))
    if reasons:
        return tuple(reasons)
    if schema.get("type") != "object":
        reasons.append(
            ("schema_not_object", f'the root must say "type": "object"; it says {shown(schema.get("type"))}')
        )
    if _is_unlimited(schema):
        reasons.append(("schema_invalid", _UNLIMITED))
    anchors = {node["$anchor"] for node in _nodes(schema) if isinstance(node.get("$anchor"), str)}
    for node in _nodes(schema):
        reasons.extend(_node_reasons(node, schema, anchors))
    if not reasons:
        try:
            schema_problems(schema, {})
        except BrokenSchemaError as error:
            reasons.append(("schema_endless", str(error)))
    return tuple(sorted(set(reasons)))


def _node_reasons(node: JsonObject, root: JsonObject, anchors: set[str]) -> Iterator[tuple[str, str]]:
    for keyword in ("$ref", "$dynamicRef"):
        reference = node.get(keyword)
        if not isinstance(reference, str):
            continue
        if not reference.startswith("#"):
            yield "schema_remote_ref", f"{keyword} points outside the schema: {shown(reference)}"
        elif reference[1:] and reference[1:] not in anchors and _pointed_at(reference, root) is None:
            yield "schema_dangling_ref", f"{keyword} points to nothing: {shown(reference)}"
    patterns = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    if isinstance(node.get("patternProperties"), dict):
        patterns.extend(node["patternProperties"])
    for pattern in patterns:
        if problem := pattern_problem(pattern):
            yield "schema_invalid", problem


def _nodes(schema: JsonValue) -> Iterator[JsonObject]:
    """Every schema within a schema; literal values (enum, const, default) and property names are left out."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            yield node
            for key, item in node.items():
                if key in _MAPS_OF_SCHEMAS and isinstance(item, dict):
                    stack.extend(item.values())
                elif key not in _LITERAL_KEYWORDS:
                    stack.append(item)
