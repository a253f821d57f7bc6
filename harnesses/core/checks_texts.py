"""Checks of the texts that the model reads: templates that cannot be filled, and names written out by hand.

A name written by hand does not follow a rename. A name that nothing has any more is a stale mention, the commonest way in which
a harness change goes wrong without a sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harnesses.core.caching import cached_by_identity
from harnesses.core.checks_names import WIRE_WORDS
from harnesses.core.findings import Finding, Place
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import AddContext, CheckReply, Deny, HarnessSpec, Hook, ResultMap, Tool
from harnesses.core.templates import CONTEXT_SCHEMA, check_template

_OPENING = re.compile(r"\{[{%#]")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED = re.compile(r"`([A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)(?:\(\))?`")
"""`get_price`, `size-advice`, `getPrice`, `get_price()` between backticks."""
_SNAKE = re.compile(r"(?<![\w./@-])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\w/@-]|\.\w)")
"""get_price without backticks: no English word looks like that."""
_SAMPLE_VALUE = re.compile(r"""(["'])[A-Za-z0-9_]*[0-9]+\1""")
"""'sara_doe_496', "gift_card_0000000": a made-up value, not a name."""
_ID_OF_A_THING = re.compile(r".*[0-9]{2,}")
"""sara_doe_496, without quotes too: what ends in several digits is the id of a person or an order, not of a tool."""
_MAX_PER_TEXT = 10


def without_placeholders(text: str) -> str:
    """A template's own words: everything but what Jinja replaces or leaves out."""
    pieces, position = [], 0
    while opening := _OPENING.search(text, position):
        closing = text.find(_CLOSING[opening.group()], opening.end())
        if closing < 0:
            break
        pieces.append(text[position : opening.start()])
        position = closing + 2
    return " ".join([*pieces, text[position:]])


@dataclass(frozen=True)
class _Free:
    """A text of a component. Only templates are filled in; descriptions are shown as they are."""

    place: Place
    field: str
    text: str
    is_template: bool


def check_texts(spec: HarnessSpec, catalogue: OperationCatalogue) -> Iterator[Finding]:
    """Templates, stale mentions and names written by hand, in every text that reaches the model."""
    names = {skill.name: f'{{{{ skill("{skill.id}") }}}}' for skill in spec.skills}
    names.update({tool.name: f'{{{{ tool("{tool.id}") }}}}' for tool in spec.tools})
    words = _known_words(spec, catalogue)
    for free in _texts(spec):
        if free.is_template:
            for problem in check_template(free.text, spec):
                yield free.place.error(problem.code, free.field, problem.message, problem.mend)
        yield from _mentions(free, names, words)


def _texts(spec: HarnessSpec) -> Iterator[_Free]:
    for section in spec.prompt:
        yield _Free(Place("prompt", section.id), "body", section.body, True)
    for skill in spec.skills:
        yield _Free(Place("skill", skill.id), "description", skill.description, False)
        yield _Free(Place("skill", skill.id), "body", skill.body, True)
    for tool in spec.tools:
        yield from _tool_texts(tool)
    for hook in spec.hooks:
        yield from _hook_texts(hook)
    for example in spec.examples:
        yield _Free(Place("example", example.id), "reply", example.reply, False)


def _tool_texts(tool: Tool) -> Iterator[_Free]:
    place = Place("tool", tool.id)
    yield _Free(place, "description", tool.description, False)
    properties = tool.input_schema.get("properties")
    for name, schema in sorted(properties.items()) if isinstance(properties, dict) else ():
        description = schema.get("description") if isinstance(schema, dict) else None
        if isinstance(description, str):
            yield _Free(place, f"input_schema.{name}.description", description, False)


def _hook_texts(hook: Hook) -> Iterator[_Free]:
    place, action = Place("hook", hook.id), hook.action
    if isinstance(action, AddContext):
        yield _Free(place, "action.text", action.text, True)
    elif isinstance(action, Deny):
        yield _Free(place, "action.reason", action.reason, True)
    elif isinstance(action, CheckReply):
        yield _Free(place, "action.replacement", action.replacement, True)
        yield _Free(place, "action.message", action.message, True)


def _mentions(free: _Free, names: dict[str, str], words: set[str]) -> Iterator[Finding]:
    plain = _SAMPLE_VALUE.sub(" ", without_placeholders(free.text))
    found = {match.group(1) for match in _QUOTED.finditer(plain)} | set(_SNAKE.findall(plain))
    for word in sorted(found)[:_MAX_PER_TEXT]:
        if word in names:
            if free.is_template:
                yield free.place.info(
                    "name_by_hand",
                    free.field,
                    f'The name "{word}" is written by hand.',
                    f"Write {names[word]} so that it follows a rename.",
                )
        elif word not in words and not _ID_OF_A_THING.fullmatch(word):
            yield free.place.warning(
                "stale_mention",
                free.field,
                f'"{word}" looks like the name of a tool, skill or parameter, but nothing has that name.',
                'Write {{ tool("…") }}, {{ skill("…") }} or {{ param("…", "…") }} with ids, or reword the text.'
                if free.is_template
                else "Use a present name, or reword the text.",
            )


def _known_words(spec: HarnessSpec, catalogue: OperationCatalogue) -> set[str]:
    """Words that a text may use: parameters, their values, result keys as they are shown, hooks, the context."""
    words = {spec.runtime.skill_tool_name, *WIRE_WORDS, *_schema_words(CONTEXT_SCHEMA)}
    words.update(hook.name for hook in spec.hooks)
    for tool in spec.tools:
        words |= _tool_words(tool)
        for case in tool.binding.cases if tool.binding else ():
            if case.operation in catalogue:
                words |= _shown_words(case.result, _schema_words(catalogue[case.operation].output_schema))
    return words


@cached_by_identity
def _tool_words(tool: Tool) -> frozenset[str]:
    return frozenset(_schema_words(tool.input_schema) | _schema_words(tool.output_schema or {}))


def _shown_words(result: ResultMap, words: set[str]) -> set[str]:
    """The words of a result after its keys were renamed and its values recoded."""
    replaced: set[str] = {item.path[-1] for item in result.fields if item.name or item.is_hidden}
    shown = {item.name for item in result.fields if item.name} | set(result.wrap)
    for pair in (pair for item in result.fields for pair in item.recode):
        replaced.update(value for value in (pair.operation,) if isinstance(value, str))
        shown.update(value for value in (pair.surface,) if isinstance(value, str))
    return (words - replaced) | shown


def _schema_words(schema: JsonValue) -> set[str]:
    """Property names and literal texts anywhere in a schema."""
    words: set[str] = set()
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            stack.extend(node.values())
            properties, options = node.get("properties"), node.get("enum")
            literals = [*(options if isinstance(options, list) else ()), node.get("const"), node.get("default")]
            words.update(properties if isinstance(properties, dict) else ())
            words.update(literal for literal in literals if isinstance(literal, str))
    return words
