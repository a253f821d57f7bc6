"""One SKILL.md in the Agent Skills format: reading and writing it.

The front matter holds `name`, `description`, `allowed-tools` (names of tools, as the model knows them), `metadata` (text by
key), and may hold `license` and `compatibility`, which are kept as metadata. Tackroom's own id and risk travel in the metadata
as `tackroom-id` and `tackroom-risk`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.spec import Skill, Tool
from harnesses.formats.outcome import FormatError
from harnesses.formats.texts import read_front_matter, write_front_matter

ID_KEY = "tackroom-id"
RISK_KEY = "tackroom-risk"
TOOL_IDS_KEY = "tackroom-allowed-tools"
_RESERVED = (ID_KEY, RISK_KEY, TOOL_IDS_KEY)
_KEPT_AS_METADATA = ("license", "compatibility")
_KNOWN = ("name", "description", "allowed-tools", "metadata", *_KEPT_AS_METADATA)


@dataclass(frozen=True)
class SkillDocument:
    """What one SKILL.md says. `allowed_tools` holds names; `tool_ids`, `skill_id` and `risk` are set in our own exports."""

    name: str
    description: str
    body: str
    allowed_tools: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    skill_id: str | None = None
    risk: str | None = None
    tool_ids: tuple[str, ...] | None = None
    unknown_fields: tuple[str, ...] = ()


def write_skill(skill: Skill, tools: tuple[Tool, ...]) -> bytes:
    """The SKILL.md of a skill; `tools` give the names of its allowed tools. Raises FormatError for reserved metadata keys."""
    if taken := [key for key in _RESERVED if key in skill.metadata]:
        raise FormatError([(f"skill {skill.name}", f"The metadata key {taken[0]} is reserved. Rename the key.")])
    fields: JsonObject = {"name": skill.name, "description": skill.description}
    metadata: JsonObject = dict(sorted(skill.metadata.items()))
    metadata |= {ID_KEY: skill.id, RISK_KEY: skill.risk}
    if skill.allowed_tools:
        names = _names_of(skill.allowed_tools, tools)
        if names is None:
            metadata[TOOL_IDS_KEY] = " ".join(skill.allowed_tools)
        else:
            fields["allowed-tools"] = " ".join(names)
    return write_front_matter(fields | {"metadata": metadata}, skill.body)


def _names_of(tool_ids: tuple[str, ...], tools: tuple[Tool, ...]) -> tuple[str, ...] | None:
    """Names of the tools, or None where names cannot say which tools are meant (unknown, used twice, with spaces)."""
    names_by_id = {tool.id: tool.name for tool in tools}
    all_names = [tool.name for tool in tools]
    names = tuple(names_by_id.get(tool_id, "") for tool_id in tool_ids)
    if all(all_names.count(name) == 1 and re.fullmatch(r"[^\s,()]+", name) for name in names):
        return names
    return None


def read_skill(data: bytes, where: str) -> SkillDocument:
    """Read one SKILL.md. Raises FormatError with everything wrong in its front matter."""
    fields, body = read_front_matter(data, where, as_strings=True)
    problems: list[tuple[str, str]] = []
    for key in ("name", "description"):
        if not isinstance(fields.get(key), str):
            problems.append((f"{where}: {key}", f"The front matter has no {key}. Add a line {key}: …"))
    metadata = _read_metadata(fields.get("metadata") or {}, where, problems)
    for key in _KEPT_AS_METADATA:
        if isinstance(fields.get(key), str):
            metadata.setdefault(key, fields[key])
    allowed_tools = _read_tool_names(fields.get("allowed-tools") or "", where, problems)
    if problems:
        raise FormatError(problems)
    tool_ids = metadata.pop(TOOL_IDS_KEY, None)
    return SkillDocument(
        name=fields["name"],
        description=fields["description"],
        body=body,
        allowed_tools=allowed_tools,
        skill_id=metadata.pop(ID_KEY, None),
        risk=metadata.pop(RISK_KEY, None),
        metadata=metadata,
        tool_ids=None if tool_ids is None else tuple(tool_ids.split()),
        unknown_fields=tuple(key for key in fields if key not in _KNOWN),
    )


def _read_metadata(value: JsonValue, where: str, problems: list[tuple[str, str]]) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return dict(value)
    problems.append((f"{where}: metadata", "The metadata must be lines of key: text. Flatten it or remove it."))
    return {}


def _read_tool_names(value: JsonValue, where: str, problems: list[tuple[str, str]]) -> tuple[str, ...]:
    """Names from a text (spaces or commas between them; parentheses belong to the name) or from a list."""
    if isinstance(value, str):
        return tuple(re.findall(r"(?:\([^)]*\)|[^\s,])+", value))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    problems.append((f"{where}: allowed-tools", "The allowed tools must be names with spaces between them, or a list."))
    return ()
