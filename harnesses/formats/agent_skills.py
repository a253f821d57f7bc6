"""Skills in the public Agent Skills format (folders with a SKILL.md each), taken into a harness.

A skill whose name the harness already has replaces that skill and keeps its id; others are added at the end. Only SKILL.md is
kept: scripts and assets beside it are noted and left out, since a harness holds texts, never code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import SCHEMA_VERSION, HarnessSpec
from harnesses.formats.assembly import build_spec
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.formats.skill_md import SkillDocument, read_skill
from harnesses.formats.texts import unique_slug

_SKILL_FILE = "SKILL.md"
_NAME = re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
_MAX_NAME, _MAX_DESCRIPTION = 64, 1_024


def import_skills(files: Mapping[str, bytes], base: HarnessSpec | None = None) -> ImportResult:
    """Read every SKILL.md among `files` into `base` (or an empty harness).

    Raises FormatError with all problems; the harness is then unchanged as a whole.
    """
    paths = sorted(path for path in files if path.rpartition("/")[2] == _SKILL_FILE)
    if not paths:
        raise FormatError([("", "There is no SKILL.md. Expected a folder for each skill with a SKILL.md in it.")])
    problems: list[tuple[str, str]] = []
    found: list[tuple[str, SkillDocument]] = []
    for path in paths:
        try:
            document = read_skill(files[path], path)
        except FormatError as error:
            problems.extend(error.problems)
            continue
        problems.extend(_rules_broken(document, path, found))
        found.append((path, document))
    if problems:
        raise FormatError(problems)
    notes = _notes_on_files(files, paths)
    return _merge(base or HarnessSpec(), found, notes)


def _rules_broken(
    document: SkillDocument, path: str, earlier: list[tuple[str, SkillDocument]]
) -> list[tuple[str, str]]:
    problems: list[tuple[str, str]] = []
    if len(document.name) > _MAX_NAME or not _NAME.match(document.name):
        found = f'The name "{document.name[:_MAX_NAME]}" is not allowed.'
        problems.append((f"{path}: name", f"{found} Use up to 64 lower-case letters, digits and single hyphens."))
    if not 1 <= len(document.description.strip()) <= _MAX_DESCRIPTION:
        found = f"It has {len(document.description):,} characters; expected 1 to {_MAX_DESCRIPTION:,}."
        problems.append((f"{path}: description", f"{found} Say in short what the skill does and when to use it."))
    if twin := next((other for other, known in earlier if known.name == document.name), None):
        problems.append((f"{path}: name", f'The name "{document.name}" is also used in {twin}. Rename one of the two.'))
    return problems


def _notes_on_files(files: Mapping[str, bytes], paths: list[str]) -> list[str]:
    return [f"{path} was left out: only SKILL.md files are taken." for path in sorted(files) if path not in paths]


def _merge(base: HarnessSpec, found: list[tuple[str, SkillDocument]], notes: list[str]) -> ImportResult:
    document = base.document()
    skills: list[JsonObject] = document["skills"]
    tool_ids = {tool.name: tool.id for tool in base.tools}
    places: dict[str, str] = {}
    for path, skill in found:
        folder = path.split("/")[-2] if "/" in path else skill.name
        if folder != skill.name:
            notes.append(
                f'{path}: the folder is called "{folder}"; the skill was taken as "{skill.name}", its own name.'
            )
        notes += [
            f"{path}: the field {name} is not part of the format and was left out." for name in skill.unknown_fields
        ]
        index = next((i for i, known in enumerate(skills) if known["name"] == skill.name), len(skills))
        known = skills[index] if index < len(skills) else None
        taken = [item["id"] for item in skills]
        wanted = skill.skill_id if skill.skill_id not in (None, *taken) else None
        skill_id = known["id"] if known else wanted or unique_slug(skill.name, taken)
        unknown_tools = [name for name in skill.allowed_tools if name not in tool_ids]
        if unknown_tools:
            notes.append(f"{path}: the harness has no tools called {', '.join(unknown_tools)}; they were left out.")
        skills[index : index + 1] = [_skill_json(skill, skill_id, tool_ids, known)]
        places[f"skills.{index}"] = path
        notes.append(f'The skill "{skill.name}" was {"replaced" if known else "added"}.')
    return ImportResult(build_spec(document | {"schema_version": SCHEMA_VERSION}, places), tuple(notes))


def _skill_json(
    skill: SkillDocument, skill_id: str, tool_ids: Mapping[str, str], known: JsonObject | None
) -> JsonObject:
    allowed = [tool_ids[name] for name in skill.allowed_tools if name in tool_ids]
    if skill.tool_ids is not None:
        allowed = [tool_id for tool_id in skill.tool_ids if tool_id in tool_ids.values()]
    return {
        "id": skill_id,
        "name": skill.name,
        "description": skill.description,
        "body": skill.body,
        "allowed_tools": allowed,
        "risk": skill.risk or (known["risk"] if known else "low"),
        "metadata": dict(skill.metadata),
    }
