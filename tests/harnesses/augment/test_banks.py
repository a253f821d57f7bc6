"""The banks: large enough, without repeats, nothing shared between what is trained on and what is measured, every fact kept."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from harnesses.augment.banks import Banks, banks
from harnesses.augment.naming import is_legal, is_speaking
from harnesses.augment.result_keys import result_places
from harnesses.core.editing.texts import placeholder_spans
from harnesses.core.skill_templates import SKILL_TEMPLATES
from harnesses.core.spec import HarnessSpec
from harnesses.core.validation import Severity, validate
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE

BANKS = banks()
DEMO = demo_harness()
NAME_BANKS = (
    "tool_names",
    "parameter_names",
    "result_names",
    "skill_names",
    "hook_names",
    "section_titles",
    "labels",
    "words",
)


def demo_texts(spec: HarnessSpec) -> dict[str, str]:
    """The texts of the demo harness that have to have other wordings, by place."""
    texts = {f"section {item.id}": item.body for item in spec.prompt}
    texts |= {f"skill {item.id}": item.body for item in spec.skills}
    texts |= {f"description of skill {item.id}": item.description for item in spec.skills}
    texts |= {f"description of tool {tool.id}": tool.description for tool in spec.tools}
    texts |= {
        f"parameter {tool.id}.{name}": inner["description"]
        for tool in spec.tools
        for name, inner in tool.input_schema["properties"].items()
    }
    hooks = {hook.id: getattr(hook.action, "text", "") or getattr(hook.action, "reason", "") for hook in spec.hooks}
    return texts | {f"hook {key}": text for key, text in hooks.items() if text}


def test_every_component_of_the_demo_harness_has_twenty_other_names() -> None:
    names = {
        **{tool.id: BANKS.tool_names[tool.binding.cases[0].operation] for tool in DEMO.tools if tool.binding},
        **{skill.id: BANKS.skill_names[skill.name] for skill in DEMO.skills},
        **{hook.id: BANKS.hook_names[hook.name] for hook in DEMO.hooks},
        **{section.id: BANKS.section_titles[section.title] for section in DEMO.prompt},
    }
    assert len(names) == len((*DEMO.tools, *DEMO.skills, *DEMO.hooks, *DEMO.prompt))
    for component, pools in names.items():
        assert len(pools["train"]) + len(pools["unseen"]) >= 20, component
        assert len(pools["unseen"]) >= 5, component


def test_parameters_results_and_values_of_the_demo_harness_have_other_names() -> None:
    for tool in DEMO.tools:
        for name, inner in tool.input_schema["properties"].items():
            assert len(BANKS.parameter_names[name]["train"]) >= 8, name
            for value in inner.get("enum", ()):
                assert BANKS.labels[value]["train"], value
                assert BANKS.labels[value]["unseen"], value
    for name in set(result_places(DEMO, CATALOGUE)) - {
        "id",
        "code",
        "discount_minor",
        "delivered",
        "ticket",
        "explained",
    }:
        if name in BANKS.result_names:
            assert BANKS.result_names[name]["train"]
            assert BANKS.result_names[name]["unseen"]


@pytest.mark.parametrize("bank", NAME_BANKS)
def test_no_name_is_in_both_pools_or_twice_in_one(bank: str) -> None:
    for key, pools in getattr(BANKS, bank).items():
        every = [name.casefold() for name in (*pools["train"], *pools["unseen"], key)]
        assert [name for name, count in Counter(every).items() if count > 1] == [], f"{bank}: {key}"


@pytest.mark.parametrize("bank", ["tool_names", "skill_names", "hook_names"])
def test_no_name_stands_for_two_things(bank: str) -> None:
    every = Counter(name for pools in getattr(BANKS, bank).values() for pool in pools.values() for name in pool)
    assert [name for name, count in every.items() if count > 1] == []


def test_names_are_legal_and_speak_and_are_no_operation() -> None:
    kinds = {"tool_names": "tool", "skill_names": "skill", "parameter_names": "parameter", "result_names": "result"}
    for bank, kind in kinds.items():
        for pools in getattr(BANKS, bank).values():
            for name in (*pools["train"], *pools["unseen"]):
                assert is_legal(kind, name), name  # type: ignore[arg-type]
                assert is_speaking(name), name
                assert name not in CATALOGUE, name


def test_names_of_results_keep_their_unit() -> None:
    for key, pools in BANKS.result_names.items():
        if key.endswith("_yuan"):
            assert all(name.endswith("_yuan") for pool in pools.values() for name in pool), key


def test_every_text_of_the_demo_harness_has_six_other_wordings() -> None:
    for place, text in demo_texts(DEMO).items():
        same = BANKS.wordings[text].same
        assert len(same["train"]) + len(same["unseen"]) >= 6, place
        assert len(same["unseen"]) >= 2, place


def test_every_entry_of_the_wordings_is_a_text_of_the_demo_harness() -> None:
    assert set(BANKS.wordings) == set(demo_texts(DEMO).values())


def test_wordings_differ_and_no_pool_shares_one() -> None:
    for original, entry in BANKS.wordings.items():
        every = [
            original,
            *(text for pools in (entry.same, entry.terse, entry.long) for pool in pools.values() for text in pool),
        ]
        assert len({text.casefold() for text in every}) == len(every), original


def test_every_wording_keeps_every_placeholder_and_number() -> None:
    for original, entry in BANKS.wordings.items():
        for pools in (entry.same, entry.terse, entry.long):
            for text in (*pools["train"], *pools["unseen"]):
                assert set(_placeholders(text)) == set(_placeholders(original)), text
                assert "%}" not in original or _tags(text) == _tags(original), text


def _placeholders(text: str) -> list[str]:
    return [found for start, end in placeholder_spans(text) if (found := text[start:end]).startswith("{{")]


def _tags(text: str) -> Counter[str]:
    return Counter(re.findall(r"\{%.*?%\}", text))


def test_every_wording_of_the_rules_keeps_what_each_rule_forbids_or_demands() -> None:
    rules = next(section for section in DEMO.prompt if section.id == "rules")
    facts = [
        *("price", "stock figure", "shop rule", "tool", "guess", "figures", "nothing else", "discount", "promise"),
        *("best", "cures anything", "elsewhere", "cannot help", "upset", "comments", "viewers", "never change"),
    ]
    for pool in BANKS.wordings[rules.body].same.values():
        for text in pool:
            for fact in facts:
                assert re.search(fact, text.casefold()), f"{fact}: {text}"


def test_there_are_thirty_tools_and_twenty_skills_of_other_trades_and_none_of_a_shop() -> None:
    tools = [tool for pool in BANKS.tools.values() for tool in pool]
    skills = [skill for pool in BANKS.skills.values() for skill in pool]
    assert len(tools) >= 30
    assert len(skills) >= 20
    assert len({tool.id for tool in tools} | {skill.id for skill in skills}) == len(tools) + len(skills)
    shop = re.compile(r"\b(coupon|voucher|viewer|stock|shelf|price|refund)", re.IGNORECASE)
    texts = [f"{tool.name} {tool.description}" for tool in tools] + [f"{skill.name} {skill.body}" for skill in skills]
    assert [text for text in texts if shop.search(text)] == []
    assert not {skill.name for skill in skills} & {skill.name for skill in SKILL_TEMPLATES}
    spec = HarnessSpec(tools=tuple(tools), skills=tuple(skills))
    assert [item for item in validate(spec, CATALOGUE) if item.severity is Severity.ERROR] == []


def test_pools_of_personas_additions_frames_and_parameters_share_nothing() -> None:
    pooled = [
        BANKS.personas,
        BANKS.persona_titles,
        BANKS.additions,
        *BANKS.frames.values(),
        BANKS.namespaces,
        BANKS.prefixes,
    ]
    for pools in pooled:
        assert pools["train"]
        assert pools["unseen"]
        assert not set(pools["train"]) & set(pools["unseen"])
    names = [{item.name for item in BANKS.optional_parameters[pool]} for pool in ("train", "unseen")]
    assert not names[0] & names[1]
    assert len(BANKS.personas["train"]) + len(BANKS.personas["unseen"]) >= 12
    assert all("TEXT" in frame for pools in BANKS.frames.values() for pool in pools.values() for frame in pool)
    for one, other in combinations(("train", "unseen"), 2):
        assert not {tool.name for tool in BANKS.tools[one]} & {tool.name for tool in BANKS.tools[other]}


def test_the_banks_are_read_once() -> None:
    assert isinstance(BANKS, Banks)
    assert banks() is BANKS
