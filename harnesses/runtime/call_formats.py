"""Reading tool calls out of what a model wrote.

Whatever the model wrote, reading it gives a result: the text for the viewer, and the calls, each either usable or with an error
that tells the model what was wrong and how to write it. Nothing is guessed: a broken call is reported, never mended in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harnesses.core.call_writing import (
    HERMES_CLOSE,
    HERMES_OPEN,
    MERGED_KEY,
    PLAIN_MARK,
    CallFormat,
    reads_as_scalar,
    write_call,
)
from harnesses.core.jsonvalues import JsonInputError, JsonObject, JsonValue, parse_json
from harnesses.core.parameters import parameter_names
from harnesses.core.spec import HarnessSpec, Tool
from harnesses.runtime.tool_documents import skill_loader

__all__ = ["MAX_CALLS", "CallFormat", "ParsedCall", "ParsedOutput", "call_instructions", "parse_output", "write_call"]

MAX_CALLS: Final = 8
"""Calls read from one output; the rest becomes one error."""

HERMES_SHAPE: Final = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'
PLAIN_SHAPE: Final = "CALL name; key: value; key: value"

Parameters = Callable[[str], Collection[str] | None]
"""Tool name → names of its parameters; None for a tool that is not known."""


@dataclass(frozen=True)
class ParsedCall:
    """One call as written (`raw`). `error` is None when `name` and `arguments` can be used.

    `bare_texts`: arguments that the plain format reads as a number, true, false or null because they were written without
    quotes, as they were written: a schema that asks for a string can take them so.
    """

    raw: str
    name: str = ""
    arguments: JsonObject | None = None
    error: str | None = None
    bare_texts: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class ParsedOutput:
    """`reply_text` is what remains for the viewer once the calls are taken out."""

    reply_text: str
    calls: tuple[ParsedCall, ...] = ()


def parse_output(call_format: CallFormat, text: str, parameters: Parameters | None = None) -> ParsedOutput:
    """Read a model's output. Never raises.

    `parameters` sharpens the plain format: with it only the names of a tool's own parameters count as run-together
    arguments, and only known tools are read as calls in the middle of a line.
    """
    if call_format == "hermes":
        found = _parse_hermes(text)
        if not found.calls and _starts_plain(text):
            found = ParsedOutput("", (ParsedCall(text, error=f"Calls are written as {HERMES_SHAPE} here."),))
        return found
    found = _parse_plain(text, parameters)
    if not found.calls and (HERMES_OPEN in text or _is_bare_call_object(text)):
        found = ParsedOutput("", (ParsedCall(text, error=f"Calls are written as one line here: {PLAIN_SHAPE}"),))
    return found


def call_instructions(call_format: CallFormat, spec: HarnessSpec) -> str:
    """What the model is told about calling tools, with an example made from the harness's first tool; empty without tools."""
    loader = skill_loader(spec)
    tool = spec.tools[0] if spec.tools else loader
    if tool is None:
        return ""
    example = write_call(call_format, tool.name, _example_arguments(tool))
    if call_format == "hermes":
        return (
            f"To use a tool, write only this, filled in: {HERMES_SHAPE}\nFor example: {example}\n"
            "The result comes back inside <tool_response>. Then answer the viewer in plain words."
        )
    return (
        f"To use a tool, write only this line, filled in: {PLAIN_SHAPE}\nFor example: {example}\n"
        "The result comes back as a line that starts with RESULT. Then answer the viewer in plain words."
    )


def _example_arguments(tool: Tool) -> JsonObject:
    required = tool.input_schema.get("required")
    names = [name for name in parameter_names(tool) if isinstance(required, list) and name in required]
    properties = tool.input_schema.get("properties", {})
    return {name: _example_value(name, properties[name]) for name in names}


def _example_value(name: str, schema: Any) -> JsonValue:
    if not isinstance(schema, dict):
        return f"<{name}>"
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("type") in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "array": [], "object": {}}.get(str(schema.get("type")), f"<{name}>")


# --- hermes ----------------------------------------------------------------------------------------------------------


def _parse_hermes(text: str) -> ParsedOutput:
    calls: list[ParsedCall] = []
    prose: list[str] = []
    position = 0
    while (start := text.find(HERMES_OPEN, position)) >= 0:
        prose.append(text[position:start])
        if len(calls) == MAX_CALLS:
            calls.append(ParsedCall(text[start:], error=f"Only {MAX_CALLS} calls are read at once. Write fewer."))
            position = len(text)
            break
        call, position = _hermes_call(text, start)
        calls.append(call)
    rest = text[position:]
    if not calls and (HERMES_CLOSE in rest or _is_bare_call_object(rest)):
        error = f"The call does not start with {HERMES_OPEN}. Write {HERMES_SHAPE}"
        return ParsedOutput("", (ParsedCall(text, error=error),))
    return ParsedOutput(_prose([*prose, rest], bool(calls)), tuple(calls))


def _hermes_call(text: str, start: int) -> tuple[ParsedCall, int]:
    """The call whose opening tag is at `start`, and where reading goes on."""
    body_start = start + len(HERMES_OPEN)
    while body_start < len(text) and text[body_start].isspace():
        body_start += 1
    body_end = _json_end(text, body_start)
    if body_end is not None:
        close = _skip_space(text, body_end)
        if text.startswith(HERMES_CLOSE, close):
            end = close + len(HERMES_CLOSE)
            return _read_hermes(text[start:end], text[body_start:body_end]), end
    close = text.find(HERMES_CLOSE, body_start)
    if close < 0:
        following = text.find(HERMES_OPEN, body_start)
        end = len(text) if following < 0 else following
        error = f"The call is not closed. End it with {HERMES_CLOSE}"
        name = "" if body_end is None else _read_hermes("", text[body_start:body_end]).name
        return ParsedCall(text[start:end], name, error=error), end
    end = close + len(HERMES_CLOSE)
    return _read_hermes(text[start:end], text[body_start:close]), end


def _json_end(text: str, start: int) -> int | None:
    """Where the JSON object or list that starts at `start` ends; None if it does not."""
    if text[start : start + 1] not in ("{", "["):
        return None
    depth = 0
    in_string = False
    position = start
    while position < len(text):
        char = text[position]
        if in_string:
            if char == "\\":
                position += 1
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _read_hermes(raw: str, body: str) -> ParsedCall:
    try:
        value = parse_json(body)
    except JsonInputError as problem:
        return ParsedCall(raw, error=f"The call is not valid JSON. {problem}")
    if not isinstance(value, dict):
        return ParsedCall(raw, error=f"A call is one JSON object. Write {HERMES_SHAPE}")
    name = value.get("name")
    if not isinstance(name, str) or not name:
        return ParsedCall(raw, error='The call has no "name". Put the tool\'s name there.')
    strays = [key for key in value if key not in ("name", "arguments")]
    if strays:
        error = f'Put "{strays[0]}" inside "arguments"; beside it only "name" may stand.'
        return ParsedCall(raw, name, error=error)
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        return ParsedCall(raw, name, error='"arguments" must be a JSON object, such as {"key": "value"}.')
    return ParsedCall(raw, name, arguments)


def _is_bare_call_object(text: str) -> bool:
    stripped = _without_fences(text).strip()
    return stripped.startswith("{") and '"name"' in stripped and '"arguments"' in stripped


# --- plain -----------------------------------------------------------------------------------------------------------

_LINE_START: Final = re.compile(rf"[^\S\n]*[`*-]*[^\S\n]*{PLAIN_MARK}(?=\s|;|:|\Z)")
# A line that `wire_guard` marked with "> " is something a viewer wrote: a model that repeats it makes no call.
_MID_LINE: Final = re.compile(rf"(?<![\w\"])(?<!> ){PLAIN_MARK} ([^\W\d][\w.-]*)[^\S\n]*(?=;|`|\Z)")
_JSON_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def _starts_plain(text: str) -> bool:
    line = _without_fences(text).strip().split("\n", 1)[0]
    return _LINE_START.match(line) is not None and ";" in line


def _parse_plain(text: str, parameters: Parameters | None) -> ParsedOutput:
    calls: list[ParsedCall] = []
    prose: list[str] = []
    for line in text.split("\n"):
        start = _call_start(line, parameters)
        if start is None:
            prose.append(line)
            continue
        before, written = line[:start], line[start:].strip()
        prose.append(before.rstrip("`*- \t"))
        if before.endswith("`"):
            written = written.rstrip("`").rstrip()
        if len(calls) < MAX_CALLS:
            calls.append(_read_plain(written, parameters))
        elif len(calls) == MAX_CALLS:
            calls.append(ParsedCall(written, error=f"Only {MAX_CALLS} calls are read at once. Write fewer."))
    return ParsedOutput(_prose(["\n".join(prose)], bool(calls)), tuple(calls))


def _call_start(line: str, parameters: Parameters | None) -> int | None:
    if PLAIN_MARK not in line:
        return None
    opening = _LINE_START.match(line)
    if opening is not None:
        name, rest, _ = _read_name(line[opening.end() :].lstrip())
        if parameters is None or parameters(name) is not None or rest[:1] in ("", ":") or ";" in rest:
            return opening.end() - len(PLAIN_MARK)
    for match in _MID_LINE.finditer(line):
        if parameters is None or parameters(match[1]) is not None:
            return match.start()
    return None


@dataclass(frozen=True)
class _Pair:
    """One `key: value`, and what follows the `;` after it. `bare` is the value's text if it was written without quotes."""

    key: str
    value: JsonValue = None
    rest: str = ""
    error: str | None = None
    bare: str | None = None


def _read_plain(raw: str, parameters: Parameters | None) -> ParsedCall:
    name, rest, error = _read_name(raw[len(PLAIN_MARK) :].strip())
    more_words, semicolon, following = rest.partition(";")
    if error is None and more_words and semicolon and ":" not in more_words:
        # A name of several words is no tool's, but it is what the model meant: better told so than passed on as a reply.
        name, rest = f"{name} {more_words.strip()}", f";{following}"
    if error is None and rest and not rest.startswith(";"):
        error = f'After the tool\'s name comes ";". Write {PLAIN_SHAPE}'
    if error is None and not name:
        error = f"The call names no tool. Write {PLAIN_SHAPE}"
    if error is not None:
        return ParsedCall(raw, name, error=error)
    known = parameters(name) if parameters is not None else None
    arguments: JsonObject = {}
    bare_texts: dict[str, str] = {}
    rest = rest[1:].strip()
    while rest:
        pair = _read_pair(rest, known)
        error = f'"{pair.key}" is given twice. Give it once.' if pair.key in arguments else pair.error
        if error is not None:
            return ParsedCall(raw, name, error=error)
        arguments[pair.key] = pair.value
        if pair.bare is not None and not isinstance(pair.value, str):
            bare_texts[pair.key] = pair.bare
        rest = pair.rest
    return ParsedCall(raw, name, arguments, bare_texts=bare_texts)


def _read_name(text: str) -> tuple[str, str, str | None]:
    """A tool name or key at the start of `text`: the name, what follows it, and an error."""
    if text.startswith('"'):
        match = _JSON_STRING.match(text)
        if match is None:
            return "", text, "A quotation mark is not closed."
        value, error = _json_value(match[0])
        return str(value), text[match.end() :].lstrip(), error
    match = re.match(r"[^\s;:]+", text)
    name = match[0] if match else ""
    return name, text[len(name) :].lstrip(), None


def _read_pair(text: str, known: Collection[str] | None) -> _Pair:
    key, rest, error = _read_name(text)
    if error is not None:
        return _Pair(key, error=error)
    if not rest.startswith(":") or (not key and not text.startswith('"')):
        shown = text.split(";", 1)[0][:60]
        return _Pair(key, error=f'"{shown}" is not "key: value". Write {PLAIN_SHAPE}')
    rest = rest[1:].lstrip()
    if rest[:1] in ('"', "{", "["):
        return _read_json(key, rest)
    bare, _, following = rest.partition(";")
    bare = bare.strip()
    merged = _merged_key(bare, known)
    if merged is not None:
        return _Pair(key, error=f'"{key}" and "{merged}" run together. Put ; between two arguments.')
    return _Pair(key, _bare_value(bare), following.strip(), bare=bare)


def _read_json(key: str, text: str) -> _Pair:
    if text.startswith('"'):
        match = _JSON_STRING.match(text)
        end = match.end() if match else None
    else:
        end = _json_end(text, 0)
    if end is None:
        return _Pair(key, error=f'The value of "{key}" is not closed. Close its quotes or brackets.')
    value, error = _json_value(text[:end])
    if error is not None:
        return _Pair(key, error=f'The value of "{key}" cannot be read. {error}')
    rest = text[end:].lstrip()
    if rest and not rest.startswith(";"):
        return _Pair(key, error=f'After the value of "{key}" comes ";" or nothing.')
    return _Pair(key, value, rest[1:].strip())


def _json_value(text: str) -> tuple[JsonValue, str | None]:
    try:
        return parse_json(text), None
    except JsonInputError as error:
        return None, str(error)


def _bare_value(text: str) -> JsonValue:
    if not reads_as_scalar(text):
        return text
    value, error = _json_value(text)
    return text if error is not None else value


def _merged_key(value: str, known: Collection[str] | None) -> str | None:
    for match in MERGED_KEY.finditer(value):
        if known is None or match[1] in known:
            return match[1]
    return None


# --- what remains ----------------------------------------------------------------------------------------------------

_FENCE: Final = re.compile(r"^[^\S\n]*```[\w-]*[^\S\n]*$\n?", re.MULTILINE)


def _without_fences(text: str) -> str:
    return _FENCE.sub("", text)


def _prose(pieces: list[str], has_calls: bool) -> str:
    text = "".join(pieces)
    return (_without_fences(text) if has_calls else text).strip()
