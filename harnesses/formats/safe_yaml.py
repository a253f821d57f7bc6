"""YAML as Tackroom reads and writes it: the part of YAML 1.2 that is JSON written kindly.

Refused: anchors and aliases (a few lines can expand to gigabytes), tags, keys that are not text, duplicate keys, several
documents. Dates, `yes`, `.nan` and the like stay text. Written text is quoted wherever a YAML reader might misread it.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from harnesses.core.jsonvalues import MAX_JSON_DEPTH, JsonValue

MAX_YAML_BYTES = 5_000_000

_NULL, _BOOL = "tag:yaml.org,2002:null", "tag:yaml.org,2002:bool"
_INT, _FLOAT, _STR = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:str"
_RESOLVERS = (
    (_NULL, re.compile(r"^(?:null|~|)$"), ["n", "~", ""]),
    (_BOOL, re.compile(r"^(?:true|false)$"), ["t", "f"]),
    (_INT, re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789")),
    (
        _FLOAT,
        re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
        list("-+.0123456789"),
    ),
)


class YamlInputError(ValueError):
    """Text that is not acceptable YAML; the message says what was found and what to do."""


class _Loader(yaml.CSafeLoader):
    """Safe loader with the resolvers above; mappings refuse duplicate and non-text keys."""

    yaml_implicit_resolvers: dict[str, Any] = {}


class _StringLoader(_Loader):
    """The same, but every scalar stays the text that was written."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(_tag, _pattern, _first)


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != _STR:
            raise YamlInputError(f"A key on line {line} is not text. Put it in quotes.")
        key = key_node.value
        if key in result:
            raise YamlInputError(f'The key "{key}" on line {line} appears twice. Keep one of the two.')
        result[key] = loader.construct_object(value_node, deep=True)
    return result


def _construct_int(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(node.value)


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float:
    value = float(node.value)
    if not math.isfinite(value):
        raise YamlInputError(f"The number {node.value[:40]} is too large. Use a finite number.")
    return value


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
_Loader.add_constructor(_INT, _construct_int)
_Loader.add_constructor(_FLOAT, _construct_float)


def parse_yaml(text: str, *, as_strings: bool = False) -> JsonValue:
    """Read untrusted YAML as JSON values; with `as_strings` numbers, booleans and nulls stay the text that was written.

    Raises YamlInputError.
    """
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    if size_bytes > MAX_YAML_BYTES:
        raise YamlInputError(f"The YAML is {size_bytes:,} bytes; the limit is {MAX_YAML_BYTES:,}. Shorten its texts.")
    try:
        _check_events(text)
        return yaml.load(text, Loader=_StringLoader if as_strings else _Loader)  # noqa: S506 - a safe loader's child
    except YamlInputError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise YamlInputError(f"Not valid YAML{where}: {error.problem or error.context}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise YamlInputError(f"Not valid YAML: {str(error).splitlines()[0]}.") from error


def _check_events(text: str) -> None:
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise YamlInputError(f"Line {line} uses an anchor or alias (& or *). Write the value out in full.")
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            raise YamlInputError(f"Line {line} uses a tag ({tag}). Write a plain value.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_JSON_DEPTH:
                raise YamlInputError(f"The YAML is nested deeper than {MAX_JSON_DEPTH} levels. Flatten it.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise YamlInputError(f"A second YAML document starts on line {line}. Keep one document.")


class _Dumper(yaml.SafeDumper):
    """Safe dumper that quotes what the readers of YAML 1.1 or 1.2 could misread, and writes long texts as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_PLAIN = re.compile(r"^[^\W\d_][\w ./,()'-]*(?<! )$")
_BLOCK = re.compile(r"^[^\s\x00-\x1f](?:[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\n(?![ \n]))*\S\n?$")


def _represent_text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style: str | None = '"'
    if "\n" in value and _BLOCK.match(value):
        style = "|"
    elif _PLAIN.match(value) and dumper.resolve(yaml.ScalarNode, value, (True, False)) == _STR:
        style = None
    return dumper.represent_scalar(_STR, value, style=style)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: JsonValue) -> str:
    """Write a JSON value as block-style YAML, keys in the order given; `parse_yaml` gives back the same value."""
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000, default_flow_style=False
    )
