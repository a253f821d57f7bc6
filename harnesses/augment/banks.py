"""The banks: names, wordings, personas and distractors that the transforms draw from, read from the data files beside this module.

Each list is kept in two pools, `train` and `unseen`, that share nothing. A wording belongs to the text it rewords, not to an id: it
applies wherever that very text stands, and never to a text that somebody has edited since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import Skill, Tool

Pooled = Mapping[str, tuple[str, ...]]
"""Values by pool."""


@dataclass(frozen=True)
class Wordings:
    """Other wordings of one text, by pool; `terse` and `long` by pool too, empty where none was written."""

    original: str
    same: Pooled
    terse: Pooled
    long: Pooled


@dataclass(frozen=True)
class OptionalParameter:
    """A parameter that changes nothing: every tool can do without it."""

    name: str
    schema: JsonObject


@dataclass(frozen=True)
class Banks:
    """Everything the transforms draw from. Names are keyed by what they are other names for (tools: by the operation)."""

    tool_names: Mapping[str, Pooled]
    parameter_names: Mapping[str, Pooled]
    result_names: Mapping[str, Pooled]
    skill_names: Mapping[str, Pooled]
    hook_names: Mapping[str, Pooled]
    section_titles: Mapping[str, Pooled]
    labels: Mapping[str, Pooled]
    words: Mapping[str, Pooled]
    namespaces: Pooled
    prefixes: Pooled
    opaque_stems: Mapping[str, Pooled]
    wordings: Mapping[str, Wordings]
    frames: Mapping[str, Pooled]
    personas: Pooled
    persona_titles: Pooled
    additions: Pooled
    tools: Mapping[str, tuple[Tool, ...]]
    skills: Mapping[str, tuple[Skill, ...]]
    optional_parameters: Mapping[str, tuple[OptionalParameter, ...]]


@cache
def banks() -> Banks:
    """The banks that ship with Tackroom, read once."""
    names, texts = _read("names.yaml"), _read("wordings.yaml")
    generic, distractors = _read("generic.yaml"), _read("distractors.yaml")
    return Banks(
        tool_names=_named(names["tools"]),
        parameter_names=_named(names["parameters"]),
        result_names=_named(names["results"]),
        skill_names=_named(names["skills"]),
        hook_names=_named(names["hooks"]),
        section_titles={key: _pooled(value) for key, value in names["titles"].items()},
        labels=_named(names["labels"]),
        words=_named(generic["words"]),
        namespaces=_split(generic["namespaces"]),
        prefixes=_split(generic["prefixes"]),
        opaque_stems=_named(generic["opaque_stems"]),
        wordings={entry["original"]: _wordings(entry) for entry in texts["wordings"]},
        frames={key: _pooled(value) for key, value in generic["frames"].items()},
        personas=_pooled(texts["personas"]),
        persona_titles=_pooled(texts["persona_titles"]),
        additions=_pooled(texts["additions"]),
        tools={pool: tuple(_tool(row) for row in rows) for pool, rows in distractors["tools"].items()},
        skills={pool: tuple(_skill(row) for row in rows) for pool, rows in distractors["skills"].items()},
        optional_parameters={
            pool: tuple(OptionalParameter(row["name"], row["schema"]) for row in rows)
            for pool, rows in distractors["optional_parameters"].items()
        },
    )


def _read(name: str) -> dict[str, Any]:
    text = (resources.files("harnesses.augment") / "banks" / name).read_text("utf-8")
    document = yaml.safe_load(text)
    assert isinstance(document, dict), f"{name} is no mapping"
    return document


def _named(document: Mapping[str, Any]) -> dict[str, Pooled]:
    return {str(key): _split(value) for key, value in document.items()}


def _split(value: Mapping[str, str]) -> Pooled:
    """Names written in one line, with spaces between."""
    return {pool: tuple(value.get(pool, "").split()) for pool in ("train", "unseen")}


def _pooled(value: Mapping[str, list[str]]) -> Pooled:
    return {pool: tuple(str(text).strip() for text in value.get(pool, ())) for pool in ("train", "unseen")}


def _wordings(entry: Mapping[str, Any]) -> Wordings:
    same, terse, long = (_pooled(entry.get(key, {})) for key in ("same", "terse", "long"))
    return Wordings(original=entry["original"], same=same, terse=terse, long=long)


def _tool(row: Mapping[str, Any]) -> Tool:
    properties = {name: _parameter(text) for name, text in row.get("parameters", {}).items()}
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(row.get("required", properties)),
        "additionalProperties": False,
    }
    return Tool(
        id=f"other-{row['name'].replace('_', '-')}",
        name=row["name"],
        description=row["description"],
        input_schema=schema,
        parameter_order=tuple(properties),
    )


def _parameter(text: str) -> JsonObject:
    """`type: description`; the type is a text where none is given."""
    kind, mark, description = text.partition(": ")
    return {"type": kind, "description": description} if mark else {"type": "string", "description": text}


def _skill(row: Mapping[str, str]) -> Skill:
    return Skill(id=f"other-{row['name']}", name=row["name"], description=row["description"], body=row["body"].strip())
