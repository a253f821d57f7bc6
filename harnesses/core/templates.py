"""Templates in prompt sections, skill bodies and hook texts.

A template may show the declared context (the room, the host, the item on show …) and name components by id, so that a rename
is followed everywhere: `{{ tool("price") }}`. The language is Jinja's, cut down by a white list over the parsed template: no
assignment, no arithmetic, no import, no nested loop, no method call. What is left cannot reach Python and always ends, however it
is written; `sandboxed` Jinja and an output limit stand behind that. Values (a viewer's name) are never read as templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from jinja2 import StrictUndefined, Template, Undefined, UndefinedError, nodes
from jinja2.exceptions import SecurityError, TemplateRuntimeError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import HarnessSpec
from harnesses.core.template_functions import FUNCTION_NAMES, TemplateError, template_functions
from harnesses.core.template_rules import TemplateProblem, find_problems, fits_depth

__all__ = [
    "CONTEXT_SCHEMA",
    "MAX_OUTPUT_CHARS",
    "MAX_TAGS",
    "MAX_TEMPLATE_CHARS",
    "SAMPLE_CONTEXT",
    "Reference",
    "TemplateError",
    "TemplateProblem",
    "check_template",
    "render_template",
    "template_references",
    "template_variables",
]

MAX_TEMPLATE_CHARS: Final = 200_000
MAX_TAGS: Final = 2_000
MAX_OUTPUT_CHARS: Final = 400_000


def _object(**properties: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in properties.items()},
        "required": list(properties),
    }


_ITEM = _object(id="the item's id", name="the item's name")

CONTEXT_SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "shop": _object(name="the shop's name"),
        "room": _object(title="title of the live room", topic="what the stream is about today"),
        "host": _object(name="the host's name"),
        "viewer": _object(name="name of the viewer who asks"),
        "clock": _object(date="today, YYYY-MM-DD", time="now in the room, HH:MM"),
        "item": {**_ITEM, "type": ["object", "null"], "description": "the item on show; null when none is"},
        "items": {"type": "array", "items": _ITEM, "description": "the shelf: items that can be shown"},
    },
    "required": ["shop", "room", "host", "viewer", "clock"],
}
"""What a template may use, as a JSON Schema. `item` and `items` may be left out of a context: none on show, empty shelf."""

SAMPLE_CONTEXT: Final[JsonObject] = {
    "shop": {"name": "Juniper Lane"},
    "room": {"title": "Autumn knits", "topic": "wool and winter layers"},
    "host": {"name": "Mara"},
    "viewer": {"name": "wren_42"},
    "clock": {"date": "2026-12-01", "time": "19:30"},
    "item": {"id": "K07", "name": "Merino cardigan"},
    "items": [{"id": "K07", "name": "Merino cardigan"}, {"id": "K11", "name": "Ribbed beanie"}],
}
"""A context to preview and check templates with."""

_FIELDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(schema.get("items", schema).get("properties", ()))
    for name, schema in CONTEXT_SCHEMA["properties"].items()
}
_LISTS: Final = frozenset(name for name, schema in CONTEXT_SCHEMA["properties"].items() if schema["type"] == "array")


@dataclass(frozen=True)
class Reference:
    """One mention of a component: which function, and the component's id (for `param` and `call` the tool's)."""

    kind: Literal["tool", "skill", "param", "call"]
    id: str


class _Environment(ImmutableSandboxedEnvironment):
    """Looks only into mappings and lists: no Python attribute is ever reached, whatever the value is."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Mapping) and isinstance(argument, str) and argument in obj:
            return obj[argument]
        if isinstance(obj, list | tuple) and isinstance(argument, int) and -len(obj) <= argument < len(obj):
            return obj[argument]
        if isinstance(argument, str) and argument in LOOP_FIELDS and type(obj).__name__ == "LoopContext":
            return getattr(obj, argument)
        if isinstance(obj, Undefined):
            return obj
        why = "what it belongs to is empty" if obj is None else "it was not given"
        return self.undefined(hint=f'"{argument}": {why}')


LOOP_FIELDS: Final = frozenset({"index", "index0", "first", "last", "length"})


def _finalize(value: Any) -> Any:
    if value is None or type(value) is Undefined:  # a plain Undefined is `{{ a if b }}` without an else
        return ""
    if isinstance(value, str | int | float | StrictUndefined):
        return value
    raise TemplateError(
        "The template puts a whole object or list into the text.",
        "Name one of its fields, such as item.name; go over a list with {% for %}.",
        "template_whole_object",
    )


_ENVIRONMENT: Final = _Environment(
    undefined=StrictUndefined,
    autoescape=False,
    finalize=_finalize,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@dataclass(frozen=True)
class _Parsed:
    """A template after the white list: what is wrong with it, or the compiled template; and what it mentions."""

    problems: tuple[TemplateProblem, ...]
    references: tuple[Reference, ...] = ()
    calls: tuple[nodes.Call, ...] = ()
    variables: frozenset[str] = frozenset()
    template: Template | None = None


def check_template(text: str, spec: HarnessSpec) -> tuple[TemplateProblem, ...]:
    """Everything wrong with a template in this harness; empty when it will render in every declared context.

    Besides syntax, names and references it renders the sample context, once with and once without an item on show.
    """
    if _is_plain(text):
        return () if len(text) <= MAX_TEMPLATE_CHARS else (_too_long(text),)
    parsed = _parse(text)
    return parsed.problems or _unresolved(parsed, spec) or _problems_when_rendered(parsed, spec)


def _problems_when_rendered(parsed: _Parsed, spec: HarnessSpec) -> tuple[TemplateProblem, ...]:
    bare = {**SAMPLE_CONTEXT, "item": None, "items": []}
    for context, where in ((SAMPLE_CONTEXT, ""), (bare, " (with no item on show and an empty shelf)")):
        try:
            _render(parsed, spec, context)
        except TemplateError as error:
            return (TemplateProblem(error.code, f"{error.message.removesuffix('.')}{where}.", error.mend),)
    return ()


def _unresolved(parsed: _Parsed, spec: HarnessSpec) -> tuple[TemplateProblem, ...]:
    """References to what the harness does not have, also in branches that no sample context reaches."""
    functions = template_functions(spec)
    found: dict[TemplateProblem, None] = {}
    for call in parsed.calls:
        name = call.node.name  # type: ignore[attr-defined]
        arguments = [argument.as_const() for argument in call.args]
        try:
            functions[name](*arguments, **{item.key: item.value.as_const() for item in call.kwargs})
        except TemplateError as error:
            found[TemplateProblem(error.code, error.message, error.mend)] = None
        except TypeError:
            message = f"{name}() got arguments that it does not take."
            found[TemplateProblem("template_bad_call", message, f"Write {FUNCTION_NAMES[name]}.")] = None
    return tuple(found)


def template_references(text: str) -> tuple[Reference, ...]:
    """Components that a template mentions, each once, in order; empty for a template that does not parse."""
    return () if _is_plain(text) else _parse(text).references


def template_variables(text: str) -> frozenset[str]:
    """Names of the declared context that a template uses; empty for a template that does not parse."""
    return frozenset() if _is_plain(text) else _parse(text).variables


def render_template(text: str, spec: HarnessSpec, context: Mapping[str, Any]) -> str:
    """The text of a template in this harness and context. Raises TemplateError."""
    if _is_plain(text):
        if len(text) > MAX_TEMPLATE_CHARS:
            raise TemplateError.of(_too_long(text))
        return text
    parsed = _parse(text)
    if parsed.problems:
        raise TemplateError.of(parsed.problems[0])
    return _render(parsed, spec, context)


def _is_plain(text: str) -> bool:
    return "{{" not in text and "{%" not in text and "{#" not in text


def _too_long(text: str) -> TemplateProblem:
    return TemplateProblem(
        "template_too_long",
        f"The text has {len(text):,} characters; the limit is {MAX_TEMPLATE_CHARS:,}.",
        "Shorten it, or move parts of it into skills.",
    )


@lru_cache(maxsize=1024)
def _parse(text: str) -> _Parsed:
    if len(text) > MAX_TEMPLATE_CHARS:
        return _Parsed((_too_long(text),))
    tags = text.count("{{") + text.count("{%")
    if tags > MAX_TAGS:
        message = f"The text has {tags:,} template tags; the limit is {MAX_TAGS:,}."
        return _Parsed((TemplateProblem("template_too_long", message, "Write more of it as plain text."),))
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        problem = TemplateProblem(
            "template_syntax",
            f"The template cannot be read: {error.message} (line {error.lineno}).",
            'Mend that line. To show "{{" itself, write {{ "{{" }}.',
        )
        return _Parsed((problem,))
    except (RecursionError, MemoryError):
        return _Parsed((_too_deep(),))
    if not fits_depth(tree):
        return _Parsed((_too_deep(),))
    problems = find_problems(tree, fields=_FIELDS, lists=_LISTS, functions=FUNCTION_NAMES, loop_fields=LOOP_FIELDS)
    if problems:
        return _Parsed(problems)
    calls = tuple(tree.find_all(nodes.Call))
    references = {Reference(call.node.name, call.args[0].as_const()): None for call in calls}  # type: ignore[attr-defined]
    variables = frozenset(node.name for node in tree.find_all(nodes.Name) if node.name in _FIELDS)
    try:
        template = Template.from_code(_ENVIRONMENT, _ENVIRONMENT.compile(tree), {})
    except (TemplateSyntaxError, SyntaxError, RecursionError, MemoryError):
        return _Parsed((_too_deep(),))
    return _Parsed((), tuple(references), calls, variables, template)


def _too_deep() -> TemplateProblem:
    return TemplateProblem(
        "template_too_deep",
        "The template is nested too deeply.",
        "Write it flatter: fewer conditions inside conditions.",
    )


def _render(parsed: _Parsed, spec: HarnessSpec, context: Mapping[str, Any]) -> str:
    assert parsed.template is not None
    variables = {"item": None, "items": (), **context, **template_functions(spec)}
    pieces: list[str] = []
    size = 0
    try:
        for piece in parsed.template.root_render_func(parsed.template.new_context(variables)):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_OUTPUT_CHARS:
                raise TemplateError(
                    f"The template writes more than {MAX_OUTPUT_CHARS:,} characters.",
                    "Shorten it, or show fewer items.",
                    "template_output_too_long",
                )
    except UndefinedError as error:
        raise TemplateError(
            f"The template uses a value that is not there: {error.message}.",
            "Ask for it with {% if … %} first, for example {% if item %}{{ item.name }}{% endif %}.",
            "template_missing_value",
        ) from error
    except (TemplateRuntimeError, SecurityError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError(
            f"The template cannot be filled in: {error}.", "Check the filters and comparisons in it.", "template_failed"
        ) from error
    return "".join(pieces)
