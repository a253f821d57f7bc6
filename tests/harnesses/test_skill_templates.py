"""Skill templates: each can be added to any harness as it stands."""

from __future__ import annotations

import pytest

from harnesses.core.skill_templates import SKILL_TEMPLATES, skill_from_template
from harnesses.core.spec import HarnessSpec, Skill
from harnesses.core.validation import validate
from tests.harnesses.small_specs import CATALOGUE, shop


@pytest.mark.parametrize("template", SKILL_TEMPLATES, ids=lambda template: template.id)
def test_every_template_adds_no_finding(template: Skill) -> None:
    spec = shop()
    added = spec.model_copy(update={"skills": (*spec.skills, skill_from_template(template, spec))})
    assert validate(added, CATALOGUE) == validate(spec, CATALOGUE)
    assert "Use when" in template.description or "Use for" in template.description


def test_a_template_can_be_taken_twice() -> None:
    spec = HarnessSpec()
    for template in (*SKILL_TEMPLATES, *SKILL_TEMPLATES):
        spec = spec.model_copy(update={"skills": (*spec.skills, skill_from_template(template, spec))})
    assert not [item for item in validate(spec, {}) if item.severity == "error"]
    assert len({skill.id for skill in spec.skills}) == len({skill.name for skill in spec.skills}) == 12
