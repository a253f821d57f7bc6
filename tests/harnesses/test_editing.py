"""Edits of a harness: what is named changes, all else stays; renames are followed; copies are free of clashes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.editing import (
    EditError,
    apply_edits,
    copy_component,
    count_references,
    find_mentions,
    fresh_name,
    search_text,
    tool_from_operation,
)
from harnesses.core.editing.texts import text_fields
from harnesses.core.spec import HarnessSpec, PromptSection, Skill
from harnesses.core.validation import validate
from tests.harnesses.small_specs import CATALOGUE, price_tool, shop, specs
from tests.harnesses.strategies import operation_catalogues


def edited(spec: HarnessSpec, *edits: Any) -> HarnessSpec:
    return apply_edits(spec, list(edits)).spec


def put(kind: str, component_id: str, **fields: Any) -> dict[str, Any]:
    return {"op": "set", "kind": kind, "id": component_id, "fields": fields}


def prose(body: str, **changes: Any) -> HarnessSpec:
    return shop(prompt=(PromptSection(id="p", title="P", body=body),), **changes)


# --- edits -----------------------------------------------------------------------------------------------------------------


def test_a_set_changes_only_what_it_names() -> None:
    before = shop()
    after = apply_edits(before, [put("tool", "price", description="New.", **{"annotations.readOnlyHint": True})])
    tool, old = after.spec.tool("price"), before.tool("price")
    assert tool is not None
    assert old is not None
    assert tool == old.model_copy(update={"description": "New.", "annotations": {"readOnlyHint": True}})
    assert after.spec.model_copy(update={"tools": before.tools}) == before
    assert after.applied == ('Changed description, annotations.readOnlyHint of the tool "get_price"',)


@settings(max_examples=25, deadline=None)
@given(spec=specs)
def test_no_edits_change_nothing(spec: HarnessSpec) -> None:
    assert apply_edits(spec, []).spec == spec


def test_paths_reach_lists_keys_with_dots_and_make_what_is_missing_on_the_way() -> None:
    spec = edited(
        shop(),
        put("tool", "price", **{
            'input_schema.properties["unit.price"].type': "number",
            "binding.cases[0].arguments[1].default": "CNY",
            "parameter_order[0]": "item",
        }),
    )  # fmt: skip
    tool = spec.tool("price")
    assert tool is not None
    assert tool.binding is not None
    assert tool.input_schema["properties"]["unit.price"] == {"type": "number"}
    assert tool.binding.cases[0].arguments[1].default == "CNY"
    assert tool.parameter_order == ("item",)


def test_unset_takes_a_field_back_to_its_default_and_an_entry_out_of_a_list() -> None:
    edit = {"op": "set", "kind": "tool", "id": "price", "unset": ["binding.cases[0].arguments[1]", "description"]}
    tool = edited(shop(), edit).tool("price")
    assert tool is not None
    assert tool.binding is not None
    assert [item.argument for item in tool.binding.cases[0].arguments] == ["item"]
    assert tool.description == ""


def test_components_are_added_moved_and_removed() -> None:
    section = {"id": "new", "title": "New", "body": "Text."}
    spec = edited(
        shop(),
        {"op": "add", "kind": "prompt", "component": section, "after": "persona"},
        {"op": "add", "kind": "prompt", "component": section | {"id": "last"}},
        {"op": "add", "kind": "prompt", "component": section | {"id": "first"}, "after": None},
        {"op": "move", "kind": "prompt", "id": "policy", "after": None},
        {"op": "remove", "kind": "prompt", "id": "persona"},
    )
    assert [item.id for item in spec.prompt] == ["policy", "first", "new", "last"]


def test_the_runtime_is_set_without_an_id() -> None:
    assert edited(shop(), {"op": "set", "kind": "runtime", "fields": {"deadline_ms": 900}}).runtime.deadline_ms == 900


def test_of_two_components_with_one_id_the_second_can_be_named() -> None:
    twice = shop(prompt=(PromptSection(id="a", title="1", body="1"), PromptSection(id="a", title="2", body="2")))
    spec = edited(twice, put("prompt", "a#2", id="b"))
    assert [item.id for item in spec.prompt] == ["a", "b"]


@pytest.mark.parametrize(
    ("edit", "path", "words"),
    [
        ("x", "", "An edit is an object"),
        ({}, "op", "There is no edit null"),
        ({"op": "sett"}, "op", 'There is no edit "sett"'),
        ({"op": ["set"]}, "op", "There is no edit"),
        ({"op": "set", "kind": "tool", "id": "price", "field": {}}, "field", "has no field"),
        ({"op": "set", "kind": "thing", "id": "price"}, "kind", 'There is no kind "thing"'),
        ({"op": "set", "kind": {}, "id": "price"}, "kind", "There is no kind"),
        ({"op": "remove", "kind": "runtime", "id": "runtime"}, "kind", 'There is no kind "runtime" here'),
        ({"op": "set", "kind": "tool", "id": 3}, "id", "must be a text"),
        ({"op": "set", "kind": "tool", "id": "gone"}, "id", 'There is no tool with the id "gone"'),
        ({"op": "set", "kind": "tool", "id": "price#9"}, "id", "There is no tool"),
        ({"op": "set", "kind": "tool", "id": "price#x"}, "id", "There is no tool"),
        ({"op": "set", "kind": "tool", "id": "price", "fields": []}, "fields", "must be an object"),
        ({"op": "set", "kind": "tool", "id": "price", "unset": "name"}, "unset", "must be a list"),
        (put("tool", "price", id="other"), "fields.id", "never changes"),
        (put("tool", "price", **{"a..b": 1}), "fields.a..b", "is no field"),
        (put("tool", "price", **{"": 1}), "fields.", "has no name"),
        (put("tool", "price", **{"binding.cases[7].operation": "x"}), "fields.binding.cases[7].operation", "no place"),
        (put("tool", "price", **{"name.first": 1}), "fields.name.first", "no place"),
        (put("tool", "price", nme="x"), "tools[0].nme", "is not a known field"),
        (put("tool", "price", name=3), "tools[0].name", "must be a text"),
        ({"op": "set", "kind": "tool", "id": "price", "unset": ["name"]}, "tools[0].name", "is missing"),
        ({"op": "add", "kind": "tool", "component": None}, "component", "A component is an object"),
        ({"op": "add", "kind": "tool", "component": {"id": "price"}}, "component.id", "already"),
        ({"op": "add", "kind": "tool", "component": {"id": "n"}, "after": "gone"}, "after", "no tool"),
        ({"op": "move", "kind": "tool", "id": "price", "after": "price"}, "after", "after itself"),
        ({"op": "rename", "kind": "example", "id": "x", "name": "y"}, "kind", "has no name"),
        ({"op": "rename", "kind": "tool", "id": "price", "name": None}, "name", "must be a text"),
        ({"op": "rename", "kind": "tool", "id": "price", "name": "a", "follow": 1}, "follow", "true or false"),
        ({"op": "replace_text", "find": "", "replace": ""}, "find", "nothing to look for"),
        ({"op": "replace_text", "find": "a", "replace": "", "kinds": ["toll"]}, "kinds", "no list of kinds"),
        ({"op": "replace_text", "find": "a", "replace": "", "kinds": "tool"}, "kinds", "no list of kinds"),
    ],
)
def test_an_edit_that_cannot_be_made_says_where_and_why_and_nothing_is_done(edit: Any, path: str, words: str) -> None:
    spec = shop()
    with pytest.raises(EditError) as caught:
        apply_edits(spec, [put("prompt", "persona", body="First."), edit])
    assert (caught.value.index, caught.value.path) == (1, path)
    assert words in str(caught.value)
    assert spec == shop()


def test_too_many_edits_and_no_list_are_refused() -> None:
    for edits in ({"op": "set"}, [{"op": "remove"}] * 501):
        with pytest.raises(EditError):
            apply_edits(shop(), edits)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["set", "add", "remove", "move", "rename", "replace_text"])},
        optional={
            "kind": st.sampled_from(["tool", "prompt", "runtime"]) | _json,
            "id": st.just("price") | _json,
            "fields": st.dictionaries(st.sampled_from(["name", "binding.cases[0]", "a[", "x.y"]), _json) | _json,
            "unset": _json,
            "component": _json,
            "after": _json,
            "name": _json,
            "find": st.just("price") | _json,
            "replace": _json,
            "kinds": _json,
        },
    )
)
def test_any_edit_is_made_or_refused_in_words(edit: dict[str, Any]) -> None:
    with suppress(EditError):
        assert len(apply_edits(shop(), [edit]).applied) == 1


# --- renames and mentions --------------------------------------------------------------------------------------------------


def test_a_rename_is_followed_in_every_text_that_mentions_it_by_hand() -> None:
    spec = prose(
        'Call get_price, `get_price` or get_price(). Not get_prices. {{ tool("price") }}',
        tools=(price_tool(input_schema={
            "type": "object", "properties": {"item": {"type": "string", "description": "As get_price wants it."}},
        }),),
    )  # fmt: skip
    assert [item.field for item in find_mentions(spec, "tool", "price")] == [
        "body", "body", "body", "input_schema.properties.item.description",
    ]  # fmt: skip
    edit = {"op": "rename", "kind": "tool", "id": "price", "name": "quote_item", "follow": True}
    after = apply_edits(spec, [edit])
    assert (
        after.spec.prompt[0].body
        == 'Call quote_item, `quote_item` or quote_item(). Not get_prices. {{ tool("price") }}'
    )
    assert after.spec.tools[0].input_schema["properties"]["item"]["description"] == "As quote_item wants it."
    assert after.applied == ('Renamed the tool "get_price" to "quote_item" and 4 mentions of it',)
    assert len(find_mentions(after.spec, "tool", "price")) == 4


def test_without_following_only_the_name_changes() -> None:
    spec = prose("Call get_price.")
    after = edited(spec, {"op": "rename", "kind": "tool", "id": "price", "name": "quote", "follow": False})
    assert after.prompt == spec.prompt
    assert after.tools[0].name == "quote"


def test_a_name_that_is_a_word_counts_only_where_it_is_marked_as_a_name() -> None:
    body = "The price is high. Use `price`, price(), the tool price, the price tool, or CALL price; item: x. Priceless."
    spec = prose(body, tools=(price_tool(name="price"),))
    assert len(find_mentions(spec, "tool", "price")) == 5
    after = edited(spec, {"op": "rename", "kind": "tool", "id": "price", "name": "cost", "follow": True})
    assert after.prompt[0].body == (
        "The price is high. Use `cost`, cost(), the tool cost, the cost tool, or CALL cost; item: x. Priceless."
    )


def test_references_by_id_are_counted_and_need_no_change() -> None:
    skill = Skill(
        id="s", name="s", description="d", body='{{ tool("price") }} {{ skill("s") }}', allowed_tools=("price",)
    )
    spec = prose('{{ tool("price") }} {{ param("price", "item") }}', skills=(skill,))
    assert count_references(spec, "tool", "price") == 4
    assert count_references(spec, "skill", "s") == 1
    assert count_references(spec, "prompt", "p") == 0


def test_mentions_name_line_and_excerpt() -> None:
    (mention,) = find_mentions(prose("First.\n  Then get_price.\nLast."), "tool", "price")
    assert (mention.component_name, mention.line, mention.excerpt) == ("P", 2, "Then get_price.")
    assert find_mentions(shop(), "tool", "gone") == ()
    assert find_mentions(shop(), "runtime", "runtime") == ()


@settings(max_examples=60, deadline=None)
@given(
    name=st.from_regex(r"[a-z]{2,4}(_[a-z]{2,4}){0,2}", fullmatch=True),
    new=st.from_regex(r"[a-z]{2,4}_x[a-z]{2,4}", fullmatch=True),
    words=st.lists(
        st.sampled_from(["NAME", "`NAME`", "NAME()", "tool NAME", "and", "NAMEs", "\n", '{{ tool("price") }}'])
    ),
)
def test_after_following_a_rename_nothing_mentions_the_old_name(name: str, new: str, words: list[str]) -> None:
    spec = prose(" ".join(words).replace("NAME", name) or "x", tools=(price_tool(name=name, description=name),))
    count = len(find_mentions(spec, "tool", "price"))
    after = edited(spec, {"op": "rename", "kind": "tool", "id": "price", "name": new, "follow": True})
    back = edited(after, {"op": "rename", "kind": "tool", "id": "price", "name": name, "follow": False})
    assert find_mentions(back, "tool", "price") == ()
    assert len(find_mentions(after, "tool", "price")) == count


# --- search and replace ----------------------------------------------------------------------------------------------------


def test_search_finds_lines_with_their_counts() -> None:
    spec = prose("Price, price.\nNo more.\nprice")
    found = [item for item in search_text(spec, "price") if item.kind == "prompt"]
    assert [(item.line, item.count, item.excerpt) for item in found] == [(1, 2, "Price, price."), (3, 1, "price")]
    assert [item.count for item in search_text(spec, "price", is_case_sensitive=True, kinds=["prompt"])] == [1, 1]
    assert {item.kind for item in search_text(spec, "price")} == {"prompt", "skill", "tool"}
    assert search_text(spec, "") == ()


def test_replace_leaves_placeholders_alone_unless_they_are_meant() -> None:
    spec = prose('The price, see {{ tool("price") }}.')
    edit = {"op": "replace_text", "find": "PRICE", "replace": r"co\1st", "kinds": ["prompt"]}
    after = apply_edits(spec, [edit])
    assert after.spec.prompt[0].body == 'The co\\1st, see {{ tool("price") }}.'
    assert after.applied == ('Replaced "PRICE" by "co\\1st" in 1 place',)
    meant = {"op": "replace_text", "find": '{{ tool("price") }}', "replace": "it", "is_case_sensitive": True}
    assert edited(spec, meant).prompt[0].body == "The price, see it."


def test_replace_reaches_every_kind_of_text() -> None:
    spec = edited(
        shop(),
        put("runtime", "", fallback_reply="qq"),
        put(
            "hook",
            "clock",
            **{"action.text": "qq", "when": [{"field": "comment", "op": "contains_any", "values": ["qq"]}]},
        ),
        put("hook", "no-promise", **{"action.phrases": ["qq", "b"]}),
        put("tool", "price", title="qq", **{"input_schema.properties.item.description": "qq"}),
        put("skill", "sizing", description="qq"),
        {"op": "add", "kind": "example", "component": {"id": "e", "comment": "qq", "reply": "qq"}},
    )
    assert sum(item.count for item in search_text(spec, "qq")) == 9
    after = edited(spec, {"op": "replace_text", "find": "qq", "replace": "rr"})
    assert search_text(after, "qq") == ()
    assert sum(item.count for item in search_text(after, "rr")) == 9


@settings(max_examples=25, deadline=None)
@given(spec=specs)
def test_what_is_found_is_what_is_replaced(spec: HarnessSpec) -> None:
    count = sum(item.count for item in search_text(spec, "a"))
    after = apply_edits(spec, [{"op": "replace_text", "find": "a", "replace": "zz"}])
    assert f"in {count} place" in after.applied[0]
    assert search_text(after.spec, "a") == ()
    assert len(list(text_fields(after.spec.document()))) == len(list(text_fields(spec.document())))


# --- copies ----------------------------------------------------------------------------------------------------------------


def test_a_duplicate_gets_an_id_and_a_name_of_its_own() -> None:
    copied = copy_component(shop(), "tool", "price", shop())
    assert (copied.component["id"], copied.component["name"]) == ("price-2", "get_price_2")
    assert copied.notes == ('It is called "get_price_2" here, because "get_price" is taken.',)
    assert apply_edits(shop(), [{"op": "add", "kind": "tool", "component": copied.component}])


def test_a_copy_into_another_harness_tells_what_is_missing_there() -> None:
    skill = Skill(id="s", name="s", description="d", body='{{ tool("price") }}', allowed_tools=("price", "coupon"))
    target = HarnessSpec(tools=(price_tool(id="coupon"),))
    copied = copy_component(shop(skills=(skill,)), "skill", "s", target)
    assert copied.component["allowed_tools"] == ["coupon"]
    assert copied.notes == (
        "price left out of its tools: this harness does not have it.",
        "Its text refers to price, which this harness does not have.",
    )


def test_a_copied_hook_keeps_a_matcher_that_would_become_every_tool() -> None:
    source = edited(shop(), put("hook", "clock", event="PreToolUse", matcher=["price"]))
    copied = copy_component(source, "hook", "clock", HarnessSpec())
    assert copied.component["matcher"] == ["price"]
    assert "Choose other tools" in copied.notes[0]


def test_a_component_that_is_not_there_cannot_be_copied() -> None:
    with pytest.raises(KeyError):
        copy_component(shop(), "tool", "gone", shop())


def test_fresh_names_are_legal_and_free() -> None:
    assert fresh_name("tool", "get price!", shop()) == "get_price_2"
    assert fresh_name("skill", "Größen & Maße", shop()) == "grossen-masse"
    assert fresh_name("tool", "call", HarnessSpec()) == "call_2"
    assert fresh_name("tool", "load_skill", HarnessSpec()) == "load_skill_2"
    assert fresh_name("prompt", "Rules", shop()) == "Rules 2"
    assert len(fresh_name("skill", "a" * 80, HarnessSpec())) == 64


@settings(max_examples=30, deadline=None)
@given(operation_catalogues())
def test_a_tool_made_of_an_operation_has_no_findings(catalogue: Any) -> None:
    spec = HarnessSpec()
    for operation in catalogue.values():
        spec = edited(
            spec,
            {"op": "add", "kind": "tool", "component": tool_from_operation(operation, spec).model_dump(mode="json")},
        )
    assert [item for item in validate(spec, catalogue) if item.code != "stale_mention"] == []


def test_a_tool_of_an_operation_that_is_there_already_is_called_differently() -> None:
    tool = tool_from_operation(CATALOGUE["get_price"], shop())
    assert (tool.id, tool.name) == ("get_price", "get_price_2")
    assert tool.parameter_order == ("item", "currency", "quantity")
    assert tool.binding is not None
    assert [item.argument for item in tool.binding.cases[0].arguments] == ["currency", "item", "quantity"]
