"""Families of skills besides renames: S2 description, S3 body, S4 order, S5 distractors."""

from __future__ import annotations

import re
from typing import Final

from harnesses.augment.renames import shared
from harnesses.augment.rewording import in_length, reworded
from harnesses.augment.transform import Changed, NotApplicable, Scene, reordered, with_components
from harnesses.core.checks_names import MAX_SKILL_DESCRIPTION
from harnesses.core.editing.copies import fresh_id, fresh_name
from harnesses.core.spec import HarnessSpec, Skill

_ITEM: Final = re.compile(r"(?:\d{1,2}[.)]|[-*]) +(\S.*)")
_HEADING: Final = re.compile(r"^#{1,4} +(?!\d|step\b)\S.*$", re.IGNORECASE | re.MULTILINE)
_LINKS: Final = ("First", "Then", "After that", "Next")


def paraphrase_descriptions(spec: HarnessSpec, scene: Scene) -> Changed:
    """S2: descriptions of skills in other words."""
    skills = shared(spec.skills, [_described(skill, scene) for skill in spec.skills], scene)
    return with_components(spec, "skill", skills, "No skill has a description to put into other words.")


def _described(skill: Skill, scene: Scene) -> Skill:
    text = reworded(skill.description, scene, "skill")
    is_new = text is not None and len(text) <= MAX_SKILL_DESCRIPTION
    return skill.model_copy(update={"description": text}) if is_new else skill


def rewrite_bodies(spec: HarnessSpec, scene: Scene) -> Changed:
    """S3: bodies of skills in another form: numbered, bulleted, in prose, in other words, shorter, longer, sections moved."""
    skills = tuple(_rewritten(skill, scene) for skill in spec.skills)
    return with_components(spec, "skill", skills, f'No body of a skill can be given the form "{scene.text("form")}".')


def _rewritten(skill: Skill, scene: Scene) -> Skill:
    form = scene.text("form")
    if form == "words":
        body = reworded(skill.body, scene)
    elif form in ("terse", "long"):
        body = in_length(skill.body, form, scene)
    elif form == "sections":
        body = _sections_moved(skill.body, scene)
    else:
        body = in_form(skill.body, form)
    return skill if body is None or body == skill.body else skill.model_copy(update={"body": body})


def in_form(body: str, form: str) -> str | None:
    """A body that is one list, as numbered steps, bullets or prose; None for a body that is no such list.

    A template tag such as `{% if %}` may span lines, so a body with one stays as it is.
    """
    lines = [line for line in body.strip().split("\n") if line.strip()]
    matches = [_ITEM.fullmatch(line) for line in lines]
    if "{%" in body or len(lines) < 2 or not all(matches):
        return None
    items = [match.group(1) for match in matches if match]
    if form == "numbered":
        return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    if form == "bullets":
        return "\n".join(f"- {item}" for item in items)
    is_ordered = lines[0][0].isdigit()
    return " ".join(_sentence(item, index, is_ordered) for index, item in enumerate(items))


def _sentence(item: str, index: int, is_ordered: bool) -> str:
    """One item as a sentence. Steps are linked by words of order; rules, which have none, are not."""
    text = item if item.rstrip().endswith((".", "!", "?", ":")) else f"{item.rstrip()}."
    if not is_ordered:
        return text
    link = _LINKS[0] if index == 0 else _LINKS[1 + (index - 1) % 3]
    return f"{link}: {text}"


def _sections_moved(body: str, scene: Scene) -> str | None:
    """The parts under headings in another order; what comes before the first one stays first."""
    starts = [match.start() for match in _HEADING.finditer(body)]
    if "{%" in body or "```" in body or len(starts) < 2 or len(starts) != len(re.findall(r"^#", body, re.MULTILINE)):
        return None
    parts = [body[start:end].strip() for start, end in zip(starts, [*starts[1:], len(body)], strict=True)]
    order = scene.rng.sample(parts, len(parts))
    order = order if order != parts else [*parts[1:], parts[0]]
    return "\n\n".join([*([body[: starts[0]].strip()] if body[: starts[0]].strip() else []), *order])


def reorder_skills(spec: HarnessSpec, scene: Scene) -> Changed:
    """S4: skills in another order."""
    return reordered(spec, "skill", scene.rng)


def distractor_skills(spec: HarnessSpec, scene: Scene) -> Changed:
    """S5: skills of other trades, put among the harness's own."""
    if not spec.skills:
        raise NotApplicable("The harness has no skills: the first one would also bring the tool that loads skills.")
    known = {skill.id for skill in spec.skills}
    free = [skill for skill in scene.banks.skills[scene.pool] if skill.id not in known]
    count = scene.count("count")
    if len(free) < count:
        raise NotApplicable("The harness has these skills already.")
    skills, added = list(spec.skills), []
    for skill in scene.rng.sample(free, count):
        place = HarnessSpec(skills=tuple(skills), tools=spec.tools, runtime=spec.runtime)
        update = {
            "id": fresh_id(skill.id, {item.id for item in skills}),
            "name": fresh_name("skill", skill.name, place),
        }
        skills.insert(scene.rng.randint(0, len(skills)), skill.model_copy(update=update))
        added.append(f"skill:{update['id']}")
    return Changed(spec.model_copy(update={"skills": tuple(skills)}), tuple(added))
