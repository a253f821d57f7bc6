"""Families of the prompt: P1 order, P2 heading style, P3 paraphrase, P4 persona, P5 verbosity.

The body of a section that sets rules is never touched, but for P3 with the parameter `rules` set to `reviewed`: then the
wordings of the bank, each written rule by rule after the original, may stand in its place. Risk, which sees words only, calls
that a change of a rule.
"""

from __future__ import annotations

from harnesses.augment.rewording import in_length, reworded
from harnesses.augment.texts import follow, is_fixed
from harnesses.augment.transform import Changed, NotApplicable, Scene, reordered, with_components
from harnesses.core.checks_names import twin_key
from harnesses.core.editing.copies import fresh_id, fresh_name
from harnesses.core.spec import HarnessSpec, PromptSection
from harnesses.core.templates import template_variables


def reorder_sections(spec: HarnessSpec, scene: Scene) -> Changed:
    """P1: prompt sections in another order."""
    return reordered(spec, "prompt", scene.rng)


def restyle_headings(spec: HarnessSpec, scene: Scene) -> Changed:
    """P2: headings of the prompt written in another style."""
    style = scene.text("style")
    if not spec.prompt and not spec.tools and not spec.skills:
        raise NotApplicable("The prompt is empty: it has no headings.")
    if style == spec.runtime.heading_style:
        raise NotApplicable(f'The headings are in the style "{style}" already.')
    runtime = spec.runtime.model_copy(update={"heading_style": style})
    return Changed(spec.model_copy(update={"runtime": runtime}), ("runtime:runtime",))


def paraphrase_sections(spec: HarnessSpec, scene: Scene) -> Changed:
    """P3: titles and bodies of sections in other words."""
    titles = {twin_key(section.title.strip()) for section in spec.prompt}
    renames: dict[str, str] = {}
    sections = []
    for section in spec.prompt:
        title = _other_title(section, spec, scene, titles)
        if title is not None:
            titles.add(twin_key(title))
            renames[section.title] = title
        sections.append(_paraphrased(section, title, scene))
    changed = with_components(
        spec, "prompt", tuple(sections), "No section has a title or text that bank or rule can put into other words."
    )
    return Changed(follow(changed.spec, "prompt", renames), changed.components)


def _other_title(section: PromptSection, spec: HarnessSpec, scene: Scene, taken: set[str]) -> str | None:
    bank = scene.banks.section_titles.get(section.title)
    options = [text for text in bank[scene.pool] if twin_key(text) not in taken] if bank else []
    if not options or is_fixed(spec, "prompt", section.title):
        return None
    return scene.rng.choice(options)


def _paraphrased(section: PromptSection, title: str | None, scene: Scene) -> PromptSection:
    update: dict[str, object] = {} if title is None else {"title": title}
    if not section.is_policy or (scene.text("rules") == "reviewed" and section.body in scene.banks.wordings):
        body = reworded(section.body, scene)
        if body is not None:
            update["body"] = body
    return section.model_copy(update=update) if update else section


def set_persona(spec: HarnessSpec, scene: Scene) -> Changed:
    """P4: a persona and a tone, in a section of its own or at the end of one that sets no rules and does not change by turn."""
    persona = scene.rng.choice(scene.banks.personas[scene.pool])
    if scene.text("place") == "own_section":
        return _with_section(spec, scene, "persona", scene.rng.choice(scene.banks.persona_titles[scene.pool]), persona)
    return _appended(spec, persona)


def set_verbosity(spec: HarnessSpec, scene: Scene) -> Changed:
    """P5: sections that set no rules in fewer or more words, or plain again where a bank wording stands."""
    length = scene.text("length")
    sections = tuple(section if section.is_policy else _in_length(section, length, scene) for section in spec.prompt)
    if sections != spec.prompt:
        return with_components(spec, "prompt", sections, "")
    if length == "long":
        return _appended(spec, " ".join(scene.rng.sample(scene.banks.additions[scene.pool], 2)))
    raise NotApplicable(f"The bank has no {length} wording of any section that sets no rules.")


def _in_length(section: PromptSection, length: str, scene: Scene) -> PromptSection:
    found = _original_of(section.body, scene) if length == "plain" else in_length(section.body, length, scene)
    return section if found is None or found == section.body else section.model_copy(update={"body": found})


def _original_of(body: str, scene: Scene) -> str | None:
    """The text that this one is a shorter or longer wording of."""
    for original, entry in scene.banks.wordings.items():
        if any(body in texts for pooled in (entry.terse, entry.long) for texts in pooled.values()):
            return original
    return None


def _appended(spec: HarnessSpec, text: str) -> Changed:
    for index, section in enumerate(spec.prompt):
        if not section.is_policy and section.body.strip() and "{%" not in section.body and not _varies(section):
            joint = "\n" if "\n" in section.body.strip() else " "
            longer = section.model_copy(update={"body": f"{section.body.rstrip()}{joint}{text}"})
            prompt = (*spec.prompt[:index], longer, *spec.prompt[index + 1 :])
            return Changed(spec.model_copy(update={"prompt": prompt}), (f"prompt:{section.id}",))
    raise NotApplicable("Every section sets rules or changes from turn to turn: there is none to add a sentence to.")


def _varies(section: PromptSection) -> bool:
    return bool(template_variables(section.body) & {"item", "items", "viewer", "clock"})


def _with_section(spec: HarnessSpec, scene: Scene, wanted_id: str, title: str, body: str) -> Changed:
    section = PromptSection(
        id=fresh_id(wanted_id, {item.id for item in spec.prompt}), title=fresh_name("prompt", title, spec), body=body
    )
    place = scene.rng.randint(0, min(2, len(spec.prompt)))
    prompt = (*spec.prompt[:place], section, *spec.prompt[place:])
    return Changed(spec.model_copy(update={"prompt": prompt}), (f"prompt:{section.id}",))
