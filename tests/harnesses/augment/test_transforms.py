"""What single transforms do and refuse: odd harnesses, odd schemas, names written out, and the same result everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from harnesses.augment import (
    POOLS,
    TRANSFORMS,
    NotApplicable,
    ParameterError,
    UnknownTransformError,
    apply_transform,
    draw_variant,
)
from harnesses.augment.naming import words_of
from harnesses.augment.skills import in_form
from harnesses.core.risk import assess
from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    HarnessSpec,
    Hook,
    PromptSection,
    Skill,
    Tool,
    ToolBinding,
)
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE
from tests.harnesses.augment.laws import assert_laws, surface_names
from tests.harnesses.augment.worlds import SHIPPED, shipped
from tests.harnesses.small_specs import CATALOGUE as SMALL
from tests.harnesses.small_specs import price_tool, shop

DEMO = demo_harness()


# --- naming what to apply ----------------------------------------------------------------------------------------------


def test_a_transform_can_be_applied_again_from_what_the_variant_says() -> None:
    for seed in range(30):
        variant = draw_variant(DEMO, CATALOGUE, seed, pool="unseen")
        spec = DEMO
        for item in variant.applied:
            spec = apply_transform(item.transform, spec, CATALOGUE, item.seed, item.params, item.pool).spec
        assert spec == variant.spec


def test_the_policy_leaves_one_in_six_as_it_is_and_applies_up_to_four() -> None:
    counts = [len(draw_variant(DEMO, CATALOGUE, seed).applied) for seed in range(1_000)]
    assert 150 <= counts.count(0) <= 200
    assert {0, 1, 2, 3, 4} == set(counts)
    families = {item.transform for seed in range(400) for item in draw_variant(DEMO, CATALOGUE, seed).applied}
    assert families == set(TRANSFORMS)


def test_unseen_names_are_never_drawn_for_training() -> None:
    names: dict[str, set[str]] = {"train": set(), "unseen": set()}
    for pool in names:
        for seed in range(40):
            params = {"style": "synonym", "share": "all"}
            spec = apply_transform("T1", DEMO, CATALOGUE, seed, params, pool).spec  # type: ignore[arg-type]
            names[pool] |= {tool.name for tool in spec.tools} - {tool.name for tool in DEMO.tools}
    assert len(names["train"]) > 100
    assert not names["train"] & names["unseen"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: apply_transform("T99", DEMO, CATALOGUE, 1), "no transform"),
        (lambda: draw_variant(DEMO, CATALOGUE, 1, "everything"), "no policy"),
        (lambda: draw_variant(DEMO, CATALOGUE, 1, ["T1", "T99"]), "no transform"),
    ],
)
def test_an_unknown_transform_or_policy_is_refused(call: Any, message: str) -> None:
    with pytest.raises(UnknownTransformError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: apply_transform("T1", DEMO, CATALOGUE, 1, {"colour": "red"}), 'no parameter "colour"'),
        (lambda: apply_transform("T1", DEMO, CATALOGUE, 1, {"style": "latin"}), "style is one of"),
        (lambda: apply_transform("T7", DEMO, CATALOGUE, 1, {"count": True}), "count is one of"),
        (lambda: apply_transform("T1", DEMO, CATALOGUE, 1, pool="test"), "no pool"),  # type: ignore[arg-type]
        (lambda: draw_variant(DEMO, CATALOGUE, 1, ["T1", "T1"]), "named twice"),
        (lambda: draw_variant(DEMO, CATALOGUE, 1, ["T1"], {"T2": {}}), "not applied"),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_possible(call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


# --- the same everywhere (law 4) ---------------------------------------------------------------------------------------

_SCRIPT = """
import json, random, sys
from harnesses.augment import draw_variant
from tests.harnesses.augment.worlds import shipped
random.seed(int(sys.argv[1]))
print(json.dumps([draw_variant(*shipped(name), seed).spec.spec_hash for name in ("demo", "retail") for seed in range(40)]))
"""


def test_another_process_with_another_hash_seed_draws_the_same_variants() -> None:
    here = [draw_variant(*shipped(name), seed).spec.spec_hash for name in SHIPPED for seed in range(40)]
    for hash_seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, hash_seed], env=environment, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == here


# --- odd harnesses -----------------------------------------------------------------------------------------------------


def every_transform(spec: HarnessSpec, catalogue: Any = SMALL) -> list[str]:
    """Apply every transform by itself with a few seeds, check the laws, and return the ids of those that applied."""
    applied: list[str] = []
    reasons: set[str] = set()
    for name in TRANSFORMS:
        for seed in range(6):
            try:
                variant = apply_transform(name, spec, catalogue, seed)
            except NotApplicable as refusal:
                reasons.add(refusal.reason)
                continue
            assert_laws(spec, variant, catalogue)
            applied.append(name)
    assert all(reason.endswith(".") for reason in reasons)
    return applied


def test_an_empty_harness_takes_nothing_but_what_adds_to_it() -> None:
    assert set(every_transform(HarnessSpec())) <= {"T7", "P4", "H5"}


def test_one_tool_alone_can_be_transformed() -> None:
    assert {"T1", "T2", "T3", "T5", "T6", "T7", "T8", "T9"} <= set(every_transform(HarnessSpec(tools=(price_tool(),))))


def test_two_hundred_tools_can_be_transformed() -> None:
    tools = tuple(price_tool(id=f"price-{n}", name=f"get_price_{n}") for n in range(200))
    variant = draw_variant(
        HarnessSpec(tools=tools),
        SMALL,
        5,
        ["T1", "T3", "T5", "T7"],
        {"T3": {"style": "synonym"}, "T5": {"style": "letters"}},
    )
    assert len(variant.applied) == 4
    assert len({tool.name for tool in variant.spec.tools}) == len(variant.spec.tools)


def test_synonyms_that_collide_are_told_apart_or_left() -> None:
    names = ("get_price", "fetch_price", "obtain_price", "retrieve_price", "get_cost")
    tools = tuple(price_tool(id=name.replace("_", "-"), name=name) for name in names)
    applied = 0
    for seed in range(40):
        try:
            params = {"style": "synonym", "share": "all"}
            spec = apply_transform("T1", HarnessSpec(tools=tools), SMALL, seed, params, POOLS[seed % 2]).spec
        except NotApplicable:
            continue
        applied += 1
        assert len({tool.name.casefold() for tool in spec.tools}) == len(tools)
    assert applied


def test_names_in_any_script_are_kept_or_replaced_whole() -> None:
    tool = price_tool(
        description="查价格 💰",
        input_schema={
            "type": "object",
            "properties": {"商品": {"type": "string", "description": "商品编号"}, "💱": {"enum": ["人民币", "美元"]}},
            "required": ["商品"],
        },
        binding=ToolBinding(
            cases=(BindingCase(operation="get_price", arguments=(ArgumentMap(argument="item", path="商品"),)),),
            ignored=(("💱",),),
        ),
    )
    hook = Hook(id="h", name="提示 🎉", event="SessionStart", action=AddContext(text="欢迎!", slot="system_tail"))
    spec = HarnessSpec(
        prompt=(
            PromptSection(id="a", title="角色", body="你是助手。"),
            PromptSection(id="b", title="规则", body="不要猜。"),
        ),
        tools=(tool,),
        hooks=(hook,),
    )
    assert {"T1", "T3", "H1", "P1"} <= set(every_transform(spec))


@pytest.mark.parametrize(
    "extra",
    [
        {"oneOf": [{"required": ["item"]}, {"required": ["currency"]}]},
        {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}},
        {"dependentRequired": {"currency": ["item"]}},
        {"properties": {"item": {"type": "string"}, "currency": {"$ref": "#/properties/item"}}},
        {"default": {"item": "X1"}},
    ],
)
def test_a_schema_that_speaks_of_its_parameters_elsewhere_is_left_as_it_is(extra: dict[str, Any]) -> None:
    tool = price_tool()
    odd = tool.model_copy(update={"input_schema": {**tool.input_schema, **extra}})
    for family in ("T3", "T5", "T6"):
        for seed in range(4):
            with pytest.raises(NotApplicable):
                apply_transform(family, HarnessSpec(tools=(odd,)), SMALL, seed)
    assert {"T1", "T2", "T9"} <= set(every_transform(HarnessSpec(tools=(odd,))))


# --- names written out by hand (law 3) ---------------------------------------------------------------------------------


def test_a_mention_by_hand_follows_in_skills_hooks_and_descriptions() -> None:
    spec = shop(
        skills=(
            Skill(id="sizing", name="size-advice", description="Sizes. Not for size-table.", body="See `size-advice`."),
        ),
        hooks=(
            Hook(
                id="h", name="h", event="SessionStart", action=AddContext(text="Load size-advice.", slot="system_tail")
            ),
        ),
    )
    variant = apply_transform("S1", spec, SMALL, 3, {"style": "opaque"})
    name = variant.spec.skills[0].name
    assert name != "size-advice"
    assert variant.spec.skills[0].body == f"See `{name}`."
    assert getattr(variant.spec.hooks[0].action, "text") == f"Load {name}."  # noqa: B009 - of a union
    assert_laws(spec, variant, SMALL)


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": (PromptSection(id="p", title="Rules", body="Prices come from get_price alone.", is_policy=True),)},
        {
            "hooks": (
                Hook(
                    id="h", name="h", event="Stop",
                    action=CheckReply(mode="forbid", phrases=("get_price",), on_violation="block"),
                ),
            )
        },
    ],
)  # fmt: skip
def test_a_name_in_a_rule_is_kept(change: dict[str, Any]) -> None:
    spec = shop(**change)
    for seed in range(10):
        variant = apply_transform("T1", spec, SMALL, seed, {"share": "all"})
        assert variant.spec.tools[0].name == "get_price"
        assert variant.spec.tools[1].name != "send_coupon"
        assert assess(spec, variant.spec, SMALL).verdict != "not_preserving"


def test_no_synonym_is_a_word_that_other_names_use() -> None:
    """tau2 retail has items and products, which are two things: neither may be called the other."""
    spec, catalogue = shipped("retail")
    old = {word for name in surface_names(spec, catalogue) for word in words_of(name)}
    for family in ("T1", "T3", "T9"):
        for seed in range(15):
            params = {"style": "synonym", "share": "all"}
            other = apply_transform(family, spec, catalogue, seed, params, POOLS[seed % 2]).spec
            for before, after in zip(spec.tools, other.tools, strict=True):
                assert ("product" in words_of(after.name)) <= ("product" in words_of(before.name))
                assert ("item" in words_of(after.name)) <= ("item" in words_of(before.name))
            new = set(surface_names(other, catalogue)) - set(surface_names(spec, catalogue))
            assert new
            words = {word for name in new for word in words_of(name)}
            assert {"product", "products", "item", "items"} & words <= old


# --- single families ---------------------------------------------------------------------------------------------------


def test_labels_that_say_nothing_come_with_a_legend() -> None:
    spec = apply_transform("T5", DEMO, CATALOGUE, 1, {"style": "letters", "share": "all"}).spec
    topic = next(tool for tool in spec.tools if tool.id == "policy").input_schema["properties"]["topic"]
    assert topic["enum"][0].casefold() == "a"
    assert "= shipping" in topic["description"]
    assert "= price protection" in topic["description"]


def test_a_stripped_tool_never_gets_an_opaque_name_nor_an_opaque_one_stripped() -> None:
    for first, second in (("T1", "T8"), ("T8", "T1"), ("T3", "T8"), ("T8", "T3"), ("T5", "T8")):
        params = {"T1": {"style": "opaque"}, "T3": {"style": "opaque"}, "T5": {"style": "letters"}}
        given = {key: {**params.get(key, {}), "share": "all"} for key in (first, second)}
        for seed in range(5):
            assert_laws(DEMO, draw_variant(DEMO, CATALOGUE, seed, [first, second], given), CATALOGUE)


def test_an_edited_text_is_not_replaced_by_a_wording_of_the_old_one() -> None:
    role = DEMO.prompt[0].model_copy(update={"body": DEMO.prompt[0].body + " Mention the raffle."})
    spec = DEMO.model_copy(update={"prompt": (role, *DEMO.prompt[1:])})
    for seed in range(10):
        other = apply_transform("P3", spec, CATALOGUE, seed).spec.section("role")
        assert other is not None
        assert "Mention the raffle." in other.body


def test_rules_are_reworded_only_when_asked_for_and_risk_says_so() -> None:
    variant = apply_transform("P3", DEMO, CATALOGUE, 2, {"rules": "reviewed"})
    rules = variant.spec.section("rules")
    assert rules is not None
    assert rules.body != DEMO.prompt[1].body
    assert assess(DEMO, variant.spec, CATALOGUE).verdict == "not_preserving"


def test_a_longer_wording_can_be_made_plain_again() -> None:
    longer = apply_transform("P5", DEMO, CATALOGUE, 1, {"length": "long"}).spec
    assert longer.prompt[0].body != DEMO.prompt[0].body
    assert apply_transform("P5", longer, CATALOGUE, 1, {"length": "plain"}).spec.prompt == DEMO.prompt


def test_forms_of_a_list_turn_into_one_another() -> None:
    steps = "1. Look it up.\n2. Say what it costs."
    assert in_form(steps, "bullets") == "- Look it up.\n- Say what it costs."
    assert in_form("- Look it up.\n- Say what it costs.", "numbered") == steps
    assert in_form(steps, "prose") == "First: Look it up. Then: Say what it costs."
    assert in_form("Just one sentence.", "bullets") is None
    assert in_form("1. {% if item %}One.\n2. Two.{% endif %}", "bullets") is None


def test_hooks_that_enforce_keep_their_order_and_what_the_reader_sees_between_them() -> None:
    tool: Tool = price_tool()
    note = AddContext(text="Say it.", slot="user_suffix")
    check = CheckReply(mode="forbid", phrases=("x",), on_violation="block")
    hooks = tuple(
        Hook(id=name, name=name, event="Stop", action=check if name.startswith("check") else note)
        for name in ("note-1", "note-2", "check-1", "note-3", "check-2")
    )
    spec = HarnessSpec(tools=(tool,), hooks=hooks)
    orders = set()
    for seed in range(10):
        try:
            order = [hook.id for hook in apply_transform("H5", spec, SMALL, seed, {"what": "order"}).spec.hooks]
        except NotApplicable:
            continue
        orders.add(tuple(order))
    assert orders == {("note-2", "note-1", "check-1", "note-3", "check-2")}
