"""A harness as a folder that people can read, edit and keep in git.

    harness.yaml              schema_version, the ids of all components in order, runtime settings
    prompt/NN-<id>.md         front matter: title, is_policy; then the body
    skills/<name>/SKILL.md    Agent Skills format (`harnesses.formats.skill_md`)
    tools/<name>.json         id, the MCP fields, parameter_order, binding
    hooks.yaml                the hooks in order
    examples.yaml             the worked examples in order

The folder is a function of the spec's identity: equal hashes give equal bytes, and reading them gives the same hash. Written by
hand, the id lists in harness.yaml may be left out (files then count in the order of their names), and so may every field that
has its default value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from harnesses.core.jsonvalues import JsonInputError, JsonObject, JsonValue, parse_json
from harnesses.core.spec import SCHEMA_VERSION, HarnessSpec, PromptSection, Skill, Tool
from harnesses.formats.assembly import build_spec, compact
from harnesses.formats.outcome import FormatError
from harnesses.formats.safe_yaml import YamlInputError, dump_yaml, parse_yaml
from harnesses.formats.skill_md import read_skill, write_skill
from harnesses.formats.texts import decode_text, read_front_matter, slug, write_front_matter

MANIFEST = "harness.yaml"
HOOKS, EXAMPLES = "hooks.yaml", "examples.yaml"
_LISTS = {HOOKS: "hooks", EXAMPLES: "examples"}
LAYOUT = "harness.yaml, hooks.yaml, examples.yaml, prompt/NN-<id>.md, skills/<name>/SKILL.md, tools/<name>.json"
_SAFE_NAME = re.compile(r"^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$")
_PROMPT_PATH = re.compile(r"^prompt/\d+-([a-z0-9][a-z0-9_.-]{0,63})\.md$")
_SKILL_PATH = re.compile(r"^skills/([^/]+)/SKILL\.md$")
_TOOL_PATH = re.compile(r"^tools/([^/]+)\.json$")
_IGNORED = re.compile(r"^(?:README|LICENSE|CHANGELOG)[^/]*$|^\.[^/]+(?:/|$)", re.IGNORECASE)
_MANIFEST_FIELDS = ("schema_version", "name", "prompt", "skills", "tools", "runtime")
_PROMPT_FIELDS = ("title", "is_policy")
_MCP_KEYS = {"input_schema": "inputSchema", "output_schema": "outputSchema"}


# --- writing ---------------------------------------------------------------------------------------------------------


def export_folder(spec: HarnessSpec, name: str = "") -> dict[str, bytes]:
    """Files of the harness by relative path. `name` is a title for people, kept in harness.yaml, no part of the identity.

    Raises FormatError where a component id is used twice in one kind, or a skill's metadata uses a reserved key.
    """
    _refuse_twins(spec)
    width = max(2, len(str(len(spec.prompt))))
    files = {MANIFEST: _write_manifest(spec, name)}
    for number, section in enumerate(spec.prompt, start=1):
        files[f"prompt/{number:0{width}d}-{section.id}.md"] = _write_section(section)
    for folder, skill in zip(_file_stems(spec.skills), spec.skills, strict=True):
        files[f"skills/{folder}/SKILL.md"] = write_skill(skill, spec.tools)
    for stem, tool in zip(_file_stems(spec.tools), spec.tools, strict=True):
        files[f"tools/{stem}.json"] = _write_tool(tool)
    for path, key in _LISTS.items():
        if components := getattr(spec, key):
            files[path] = dump_yaml({key: [compact(component) for component in components]}).encode()
    return files


def _refuse_twins(spec: HarnessSpec) -> None:
    for kind, components in (("prompt", spec.prompt), ("skills", spec.skills), ("tools", spec.tools)):
        ids = [component.id for component in components]
        if twin := next((item for item in ids if ids.count(item) > 1), None):
            raise FormatError([(kind, f'The id "{twin}" is used twice. Give each component its own id.')])


def _file_stems(components: Sequence[Skill] | Sequence[Tool]) -> list[str]:
    """A file name for each component: its name where every file system takes it, else its id; twins get a number."""
    stems: list[str] = []
    for component in components:
        base = component.name if _SAFE_NAME.match(component.name) else component.id
        stem, number = base, 2
        while stem.casefold() in {taken.casefold() for taken in stems}:
            stem, number = f"{base}-{number}", number + 1
        stems.append(stem)
    return stems


def _write_manifest(spec: HarnessSpec, name: str) -> bytes:
    manifest: JsonObject = {"schema_version": SCHEMA_VERSION}
    if name:
        manifest["name"] = name
    manifest["prompt"] = [section.id for section in spec.prompt]
    manifest["skills"] = [skill.id for skill in spec.skills]
    manifest["tools"] = [tool.id for tool in spec.tools]
    manifest["runtime"] = spec.runtime.model_dump(mode="json")
    return dump_yaml(manifest).encode()


def _write_section(section: PromptSection) -> bytes:
    fields: JsonObject = {"title": section.title}
    if section.is_policy:
        fields["is_policy"] = True
    return write_front_matter(fields, section.body)


def _write_tool(tool: Tool) -> bytes:
    document = {_MCP_KEYS.get(key, key): value for key, value in compact(tool).items()}
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


# --- reading ---------------------------------------------------------------------------------------------------------


class _Parts:
    """Components read so far by kind, each with the file it came from, and the problems found on the way."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []
        self.has_failed: set[str] = set()
        self.found: dict[str, list[tuple[str, JsonObject]]] = {"prompt": [], "skills": [], "tools": []}

    def add(self, kind: str, where: str, read: Callable[[], JsonObject]) -> None:
        try:
            self.found[kind].append((where, read()))
        except FormatError as error:
            self.problems.extend(error.problems)
            self.has_failed.add(kind)


def import_folder(files: Mapping[str, bytes]) -> HarnessSpec:
    """Read a harness from its files. Raises FormatError with every problem, each at its file and field."""
    if MANIFEST not in files:
        raise FormatError([(MANIFEST, "The file is missing. A harness folder holds harness.yaml at its top.")])
    parts = _Parts()
    tool_ids: dict[str, list[str]] = {}
    for path in sorted(files, key=_natural_order):
        if _TOOL_PATH.match(path):
            parts.add("tools", path, partial(_read_tool, files[path], path))
    for _, tool in parts.found["tools"]:
        tool_ids.setdefault(str(tool.get("name")), []).append(str(tool.get("id")))
    for path in sorted(files, key=_natural_order):
        if match := _PROMPT_PATH.match(path):
            parts.add("prompt", path, partial(_read_section, files[path], path, match[1]))
        elif _SKILL_PATH.match(path):
            parts.add("skills", path, partial(_read_skill, files[path], path, tool_ids))
        elif not _TOOL_PATH.match(path) and path not in (MANIFEST, *_LISTS) and not _IGNORED.match(path):
            parts.problems.append((path, f"The file is not part of a harness folder. Expected {LAYOUT}."))
    return _assemble(files, parts)


def _natural_order(path: str) -> list[str]:
    return [part.zfill(12) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def _assemble(files: Mapping[str, bytes], parts: _Parts) -> HarnessSpec:
    manifest = _read_manifest(files, parts.problems)
    document: JsonObject = {key: manifest[key] for key in ("schema_version", "runtime") if key in manifest}
    places = {"runtime": MANIFEST}
    for path, key in _LISTS.items():
        document[key] = _read_list(files, path, key, parts.problems)
        places |= {f"{key}.{index}": f"{path}: {key[:-1]} {index + 1}" for index in range(len(document[key]))}
    for kind, found in parts.found.items():
        ordered = _in_order(kind, found, manifest.get(kind), parts)
        document[kind] = [component for _, component in ordered]
        places |= {f"{kind}.{index}": where for index, (where, _) in enumerate(ordered)}
    if parts.problems:
        raise FormatError(parts.problems)
    return build_spec(document, places)


def _in_order(
    kind: str, found: list[tuple[str, JsonObject]], order: JsonValue, parts: _Parts
) -> list[tuple[str, JsonObject]]:
    where, problems = f"{MANIFEST}: {kind}", parts.problems
    by_id: dict[str, tuple[str, JsonObject]] = {}
    for path, component in found:
        component_id = str(component.get("id"))
        if component_id in by_id:
            message = f'The id "{component_id}" is also used in {by_id[component_id][0]}. Give it its own id.'
            problems.append((path, message))
        by_id[component_id] = (path, component)
    if order is None:
        return found
    if not isinstance(order, list) or not all(isinstance(item, str) for item in order):
        problems.append((where, "Expected a list of component ids in the order the model reads them."))
        return found
    for component_id in dict.fromkeys(order):
        if component_id not in by_id and kind not in parts.has_failed:
            problems.append((where, f'No file holds the component "{component_id}". Add the file or remove the id.'))
        if order.count(component_id) > 1:
            problems.append((where, f'The id "{component_id}" is listed twice. Keep one.'))
    for component_id, (path, _) in by_id.items():
        if component_id not in order:
            problems.append((where, f'The component "{component_id}" ({path}) is not listed. Add its id to the order.'))
    return [by_id[component_id] for component_id in order if component_id in by_id]


def _read_yaml(data: bytes, where: str) -> JsonObject:
    try:
        value = parse_yaml(decode_text(data, where))
    except YamlInputError as error:
        raise FormatError([(where, str(error))]) from error
    if not isinstance(value, dict):
        raise FormatError([(where, "Expected lines of key: value.")])
    return value


def _read_manifest(files: Mapping[str, bytes], problems: list[tuple[str, str]]) -> JsonObject:
    try:
        manifest = _read_yaml(files[MANIFEST], MANIFEST)
    except FormatError as error:
        problems.extend(error.problems)
        return {}
    problems.extend(_unknown_fields(manifest, _MANIFEST_FIELDS, MANIFEST))
    if "schema_version" not in manifest:
        problems.append((MANIFEST, f"schema_version is missing. Add a line schema_version: {SCHEMA_VERSION}."))
    return manifest


def _read_list(files: Mapping[str, bytes], path: str, key: str, problems: list[tuple[str, str]]) -> list[JsonValue]:
    """The components of a file that holds all of a kind; none where there is no such file."""
    if path not in files:
        return []
    try:
        document = _read_yaml(files[path], path)
    except FormatError as error:
        problems.extend(error.problems)
        return []
    problems.extend(_unknown_fields(document, (key,), path))
    components = document.get(key)
    if isinstance(components, list):
        return components
    problems.append((path, f"Expected the key {key} with a list of {key}."))
    return []


def _read_section(data: bytes, where: str, section_id: str) -> JsonObject:
    fields, body = read_front_matter(data, where)
    if problems := _unknown_fields(fields, _PROMPT_FIELDS, where):
        raise FormatError(problems)
    return fields | {"id": section_id, "body": body}


def _read_skill(data: bytes, where: str, tool_ids: Mapping[str, list[str]]) -> JsonObject:
    skill = read_skill(data, where)
    if skill.unknown_fields:
        raise FormatError(
            (where, f"The field {name} is not known. Move it into metadata.") for name in skill.unknown_fields
        )
    return {
        "id": skill.skill_id or slug(skill.name),
        "name": skill.name,
        "description": skill.description,
        "body": skill.body,
        "allowed_tools": list(skill.tool_ids)
        if skill.tool_ids is not None
        else _ids_of(skill.allowed_tools, where, tool_ids),
        "risk": skill.risk or "low",
        "metadata": dict(skill.metadata),
    }


def _ids_of(names: Sequence[str], where: str, tool_ids: Mapping[str, list[str]]) -> list[str]:
    wrong = [name for name in names if len(tool_ids.get(name, [])) != 1]
    if wrong:
        message = "No tool, or more than one, has the name {}. Name a tool of this harness."
        raise FormatError((f"{where}: allowed-tools", message.format(name)) for name in wrong)
    return [tool_ids[name][0] for name in names]


def _read_tool(data: bytes, where: str) -> JsonObject:
    try:
        document = parse_json(data)
    except JsonInputError as error:
        raise FormatError([(where, str(error))]) from error
    if not isinstance(document, dict):
        raise FormatError([(where, "Expected a JSON object with id, name and inputSchema.")])
    tool = dict(document)
    for field_name, mcp_name in _MCP_KEYS.items():
        if mcp_name in tool:
            if field_name in tool:
                raise FormatError([(where, f"Both {mcp_name} and {field_name} are given. Keep {mcp_name}.")])
            tool[field_name] = tool.pop(mcp_name)
    if "name" in tool:
        tool.setdefault("id", slug(str(tool["name"])))
    return tool


def _unknown_fields(fields: JsonObject, known: Sequence[str], where: str) -> list[tuple[str, str]]:
    expected = ", ".join(known)
    return [(where, f'The field "{key}" is not known. Expected: {expected}.') for key in fields if key not in known]
