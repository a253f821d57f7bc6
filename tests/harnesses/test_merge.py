"""Three-way merge of harnesses: what both sides did is there, or is a conflict that tells all three values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.editing import apply_edits
from harnesses.core.fieldpaths import format_path, parse_path
from harnesses.core.kinds import KIND_FIELDS
from harnesses.core.merge import MergeConflict, MergeResult, merge_specs
from harnesses.core.merge.sequences import merge_order, merge_sequences
from harnesses.core.spec import HarnessSpec, PromptSection
from tests.harnesses.small_specs import shop, specs

KINDS = ("prompt", "skills", "tools", "hooks", "examples", "runtime")


def edited(spec: HarnessSpec, *edits: dict[str, Any]) -> HarnessSpec:
    return apply_edits(spec, list(edits)).spec


def put(kind: str, component_id: str, **fields: Any) -> dict[str, Any]:
    return {"op": "set", "kind": kind, "id": component_id, "fields": fields}


def atoms(value: Any, place: tuple[str, ...] = ()) -> set[tuple[Any, ...]]:
    """Everything a JSON value says: each line of each text and each other value, with the keys that lead to it."""
    if isinstance(value, dict):
        named = [value["id"]] if isinstance(value.get("id"), str) else []
        return {atom for key, item in value.items() for atom in atoms(item, (*place, *named, key))}
    if isinstance(value, list):
        return {atom for item in value for atom in atoms(item, place)}
    if isinstance(value, str):
        return {(*place, line) for line in value.split("\n")}
    return {(*place, repr(value))}


def said_in_conflicts(result: MergeResult, side: str) -> set[str]:
    return {str(atom[-1]) for conflict in result.conflicts for atom in atoms(getattr(conflict, side))}


# --- laws ----------------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(base=specs, other=specs)
def test_merging_with_somebody_who_did_nothing_changes_nothing(base: HarnessSpec, other: HarnessSpec) -> None:
    assert merge_specs(base, other, base) == MergeResult(other, (), ())
    assert merge_specs(base, base, other).spec == other
    assert merge_specs(base, base, other).conflicts == ()
    assert merge_specs(base, other, other) == MergeResult(other, (), ())


@settings(max_examples=20, deadline=None)
@given(base=specs, mine=specs, theirs=specs, split=st.sets(st.sampled_from(KINDS)))
def test_changes_of_different_kinds_of_components_never_conflict(
    base: HarnessSpec, mine: HarnessSpec, theirs: HarnessSpec, split: set[str]
) -> None:
    left = base.model_copy(update={kind: getattr(mine, kind) for kind in split})
    right = base.model_copy(update={kind: getattr(theirs, kind) for kind in KINDS if kind not in split})
    result = merge_specs(base, left, right)
    assert result.conflicts == ()
    for kind in KINDS:
        assert getattr(result.spec, kind) == getattr(mine if kind in split else theirs, kind)


@settings(max_examples=40, deadline=None)
@given(base=specs, mine=specs, theirs=specs)
def test_nothing_that_either_side_wrote_is_silently_lost(
    base: HarnessSpec, mine: HarnessSpec, theirs: HarnessSpec
) -> None:
    result = merge_specs(base, mine, theirs)
    before, left, right = (atoms(spec.document()) for spec in (base, mine, theirs))
    merged = atoms(result.spec.document())
    assert left - before - right <= merged | right, "what I wrote is gone"
    told = said_in_conflicts(result, "theirs")
    assert not [atom for atom in right - before if atom not in merged and str(atom[-1]) not in told]
    # What they took away is away, unless a conflict over it is told, or I wrote it myself.
    if not result.conflicts:
        assert not [
            atom for atom in before - right if atom in merged and atom in before & left and _is_lone(atom, base)
        ]


def _is_lone(atom: tuple[Any, ...], base: HarnessSpec) -> bool:
    """Whether an atom stands once in the base: of several equal lines nobody can say which one went."""
    return str(base.document()).count(str(atom[-1])) == 1


@settings(max_examples=40, deadline=None)
@given(base=specs, mine=specs, theirs=specs)
def test_choosing_theirs_in_every_conflict_leaves_none(
    base: HarnessSpec, mine: HarnessSpec, theirs: HarnessSpec
) -> None:
    result = merge_specs(base, mine, theirs)
    chosen = result.spec
    for conflict in result.conflicts:
        chosen = apply_edits(chosen, list(conflict.edits("theirs"))).spec
    for conflict in result.conflicts:
        assert value_at(chosen, conflict) == value_at(theirs, conflict)


def value_at(spec: HarnessSpec, conflict: MergeConflict) -> Any:
    """What a harness holds in the place of a conflict."""
    document = spec.document()
    if conflict.kind == "runtime":
        node = document["runtime"]
    else:
        components = document[KIND_FIELDS[conflict.kind]]
        if conflict.field == "order":
            return [item["id"] for item in components if item["id"] in conflict.theirs]
        node = next((item for item in components if item["id"] == conflict.component_id), None)
    for step in parse_path(conflict.field):
        node = node.get(step, "absent") if isinstance(node, dict) else node[step]
    return node


@settings(max_examples=15, deadline=None)
@given(base=specs, mine=specs, theirs=specs)
def test_the_keys_of_conflicts_are_unique(base: HarnessSpec, mine: HarnessSpec, theirs: HarnessSpec) -> None:
    keys = [conflict.key for conflict in merge_specs(base, mine, theirs).conflicts]
    assert len(keys) == len(set(keys))


# --- fields --------------------------------------------------------------------------------------------------------------


def test_different_fields_of_one_tool_merge() -> None:
    base = shop()
    mine = edited(base, put("tool", "price", name="fetch_price"))
    theirs = edited(
        base,
        put("tool", "price", **{"input_schema.properties.item.description": "Name of the item."}),
        put("tool", "price", **{"input_schema.properties.note": {"type": "string"}}),
    )
    result = merge_specs(base, mine, theirs)
    tool = result.spec.tool("price")
    assert result.conflicts == ()
    assert tool is not None
    assert tool.name == "fetch_price"
    assert tool.input_schema["properties"]["item"]["description"] == "Name of the item."
    assert list(tool.input_schema["properties"]) == ["item", "currency", "note"]
    assert len(result.taken) == 2


def test_one_field_changed_by_both_is_a_conflict_that_tells_all_three_values() -> None:
    base = shop()
    mine = edited(base, put("tool", "price", description="Mine."), put("runtime", "", deadline_ms=900))
    theirs = edited(base, put("tool", "price", description="Theirs."), put("runtime", "", deadline_ms=700))
    result = merge_specs(base, mine, theirs)
    first, second = result.conflicts
    assert (first.key, first.component_name) == ("tool:price:description", "get_price")
    assert (first.base, first.mine, first.theirs) == ("Look up the price of an item.", "Mine.", "Theirs.")
    assert (second.kind, second.field, second.base) == ("runtime", "deadline_ms", 8000)
    assert result.spec == mine
    assert apply_edits(result.spec, [*first.edits("theirs"), *second.edits("base")]).spec == edited(
        mine, put("tool", "price", description="Theirs."), put("runtime", "", deadline_ms=8000)
    )


def test_two_texts_changed_on_different_lines_merge() -> None:
    base = edited(shop(), put("prompt", "persona", body="One.\nTwo.\nThree."))
    mine = edited(base, put("prompt", "persona", body="One!\nTwo.\nThree."))
    theirs = edited(base, put("prompt", "persona", body="One.\nTwo.\nThree?\nFour."))
    result = merge_specs(base, mine, theirs)
    assert result.conflicts == ()
    assert result.spec.prompt[0].body == "One!\nTwo.\nThree?\nFour."


def test_the_same_line_changed_by_both_keeps_mine_and_tells_theirs() -> None:
    base = edited(shop(), put("prompt", "persona", body="One.\nTwo."))
    mine = edited(base, put("prompt", "persona", body="One!\nTwo."))
    theirs = edited(base, put("prompt", "persona", body="One?\nTwo."))
    result = merge_specs(base, mine, theirs)
    assert [conflict.field for conflict in result.conflicts] == ["body"]
    assert result.spec.prompt[0].body == "One!\nTwo."
    assert result.conflicts[0].theirs == "One?\nTwo."


def test_lists_of_names_merge_by_entry() -> None:
    base = shop()
    mine = edited(base, put("skill", "prices", allowed_tools=["price", "coupon"]))
    theirs = edited(base, put("skill", "prices", allowed_tools=[]), put("hook", "no-promise", name="never-promise"))
    result = merge_specs(base, mine, theirs)
    assert result.conflicts == ()
    assert result.spec.skills[1].allowed_tools == ("coupon",)


def test_arguments_of_one_binding_merge_by_operation_argument() -> None:
    base = shop()
    recode = [{"operation": "CNY", "surface": "yuan"}, {"operation": "USD", "surface": "dollar"}]
    mine = edited(base, put("tool", "price", **{"binding.cases[0].arguments[1].recode": recode}))
    extra = {"argument": "quantity", "path": ["pieces"]}
    theirs = edited(base, put("tool", "price", **{"binding.cases[0].arguments[2]": extra}))
    result = merge_specs(base, mine, theirs)
    tool = result.spec.tool("price")
    assert tool is not None
    assert tool.binding is not None
    assert result.conflicts == ()
    assert [item.argument for item in tool.binding.cases[0].arguments] == ["item", "currency", "quantity"]
    assert len(tool.binding.cases[0].arguments[1].recode) == 2


def test_a_removed_schema_key_against_a_changed_one_can_be_chosen_either_way() -> None:
    base = shop()
    mine = edited(base, put("tool", "price", **{"input_schema.properties.item.description": "New."}))
    theirs = edited(base, {"op": "set", "kind": "tool", "id": "price", "unset": ["input_schema.properties.item"]})
    result = merge_specs(base, mine, theirs)
    (conflict,) = result.conflicts
    assert (conflict.field, conflict.missing) == ("input_schema.properties.item", ("theirs",))
    chosen = edited(result.spec, *conflict.edits("theirs")).tool("price")
    assert chosen is not None
    assert "item" not in chosen.input_schema["properties"]


def test_an_action_of_another_type_is_never_mixed_with_the_old_one() -> None:
    base = shop()
    mine = edited(base, put("hook", "clock", action={"type": "deny", "reason": "Closed."}))
    theirs = edited(base, put("hook", "clock", **{"action.text": "It is night."}))
    result = merge_specs(base, mine, theirs)
    assert [conflict.field for conflict in result.conflicts] == ["action"]
    assert result.spec == mine


def test_a_list_that_may_not_be_empty_is_not_emptied_by_merging() -> None:
    base = edited(shop(), put("hook", "no-promise", **{"action.phrases": ["a", "b"]}))
    mine = edited(base, put("hook", "no-promise", **{"action.phrases": ["a"]}))
    theirs = edited(base, put("hook", "no-promise", **{"action.phrases": ["b"]}))
    result = merge_specs(base, mine, theirs)
    assert [conflict.field for conflict in result.conflicts] == ["action.phrases"]
    assert result.spec == mine


# --- components and their order ------------------------------------------------------------------------------------------


def test_a_component_removed_here_and_changed_there_is_a_conflict_both_ways() -> None:
    base = shop()
    changed = edited(base, put("skill", "sizing", body="Ask for the weight."))
    removed = edited(base, {"op": "remove", "kind": "skill", "id": "sizing"})
    (kept,) = merge_specs(base, changed, removed).conflicts
    assert (kept.field, kept.missing, kept.theirs) == ("", ("theirs",), None)
    assert merge_specs(base, changed, removed).spec == changed
    assert edited(changed, *kept.edits("theirs")) == removed
    (gone,) = merge_specs(base, removed, changed).conflicts
    assert gone.missing == ("mine",)
    assert edited(removed, *gone.edits("theirs")) == changed


def test_two_components_added_under_one_id_are_a_conflict() -> None:
    base = shop()
    section = {"id": "gifts", "title": "Gifts", "body": "Mine."}
    mine = edited(base, {"op": "add", "kind": "prompt", "component": section})
    theirs = edited(base, {"op": "add", "kind": "prompt", "component": section | {"body": "Theirs."}, "after": None})
    (conflict,) = merge_specs(base, mine, theirs).conflicts
    assert conflict.missing == ("base",)
    assert edited(mine, *conflict.edits("theirs")).section("gifts") == PromptSection(
        id="gifts", title="Gifts", body="Theirs."
    )


def test_both_sides_moves_and_additions_are_kept_in_order() -> None:
    base = shop(prompt=tuple(PromptSection(id=name, title=name, body=name) for name in "abcd"))
    added = {"id": "n", "title": "n", "body": "n"}
    mine = edited(base, {"op": "move", "kind": "prompt", "id": "d", "after": None})
    theirs = edited(base, {"op": "add", "kind": "prompt", "component": added, "after": "b"})
    theirs = edited(theirs, {"op": "move", "kind": "prompt", "id": "c", "after": "a"})
    result = merge_specs(base, mine, theirs)
    assert result.conflicts == ()
    assert [section.id for section in result.spec.prompt] == ["d", "a", "c", "b", "n"]


def test_moves_that_go_round_in_a_circle_are_a_conflict_of_order() -> None:
    base = shop(prompt=tuple(PromptSection(id=name, title=name, body=name) for name in "abc"))
    mine = base.model_copy(update={"prompt": tuple(base.prompt[index] for index in (1, 0, 2))})
    theirs = base.model_copy(update={"prompt": tuple(base.prompt[index] for index in (0, 2, 1))})
    result = merge_specs(base, mine, theirs)
    (conflict,) = result.conflicts
    assert (conflict.key, conflict.theirs) == ("prompt:order", ["a", "c", "b"])
    assert result.spec == mine
    assert edited(result.spec, *conflict.edits("theirs")) == theirs


def test_ids_used_twice_survive_a_merge() -> None:
    twice = (PromptSection(id="a", title="one", body="1"), PromptSection(id="a", title="two", body="2"))
    base = shop(prompt=twice)
    theirs = edited(base, put("prompt", "a#2", body="3"))
    result = merge_specs(base, edited(base, put("runtime", "", deadline_ms=500)), theirs)
    assert [section.body for section in result.spec.prompt] == ["1", "3"]


@settings(max_examples=100, deadline=None)
@given(data=st.data(), base=st.permutations(list("abcdef")))
def test_any_two_reorders_merge_or_are_told(data: st.DataObject, base: list[str]) -> None:
    mine, theirs = data.draw(st.permutations(base)), data.draw(st.permutations(base))
    merged = merge_order(base, mine, theirs, base)
    if merged is None:
        return
    assert sorted(merged) == sorted(base)
    for one in base:
        for other in base:
            orders = [side.index(one) < side.index(other) for side in (base, mine, theirs, merged)]
            if orders[1] == orders[2] or orders[0] != orders[1]:
                assert orders[3] == orders[1]
            elif orders[0] != orders[2]:
                assert orders[3] == orders[2]


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ("a1bc", "abc2", "a1bc2"),
        ("xbc", "axc", "xxc"),
        ("bc", "abcd", "bcd"),
        ("axbc", "aybc", None),
        ("xc", "abyc", "xyc"),
        ("xc", "aybc", None),
        ("ac", "ac", "ac"),
    ],
)
def test_lines_merge_where_they_do_not_touch(mine: str, theirs: str, merged: str | None) -> None:
    result = merge_sequences("abc", mine, theirs)
    assert ("".join(result) if result is not None else None) == merged


def test_long_texts_of_equal_lines_are_a_conflict_rather_than_a_wait() -> None:
    base = ["same"] * 5_000
    assert merge_sequences(base, ["x", *base[1:-1], "y"], ["z", "z", *base[3:-1], "w"]) is None


@given(st.lists(st.text(min_size=1, max_size=6) | st.integers(0, 99), max_size=5))
def test_every_field_path_can_be_read_back(steps: list[str | int]) -> None:
    assert parse_path(format_path(tuple(steps))) == tuple(steps)


@pytest.mark.parametrize("text", [".a", "a..b", "a[", "a[x]", "a]b", "a b", "[0]b", 'a["b]'])
def test_a_text_that_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it cannot be read|a dot is missing"):
        parse_path(text)
