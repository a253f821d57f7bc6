"""The texts of components: what is shown of each field, and what of it counts as changed."""

from __future__ import annotations

from hypothesis import given

from harnesses.core.component_texts import compared_texts, component_texts, ordered_like
from harnesses.core.diff import diff_specs
from harnesses.core.kinds import KIND_FIELDS, components_by_key
from tests.harnesses.small_specs import price_tool, specs


def test_a_component_that_is_added_or_removed_has_one_side():
    tool = price_tool()
    assert {item.old for item in compared_texts(None, tool)} == {""}
    assert {item.new for item in compared_texts(tool, None)} == {""}
    assert "id" not in [item.name for item in compared_texts(None, tool)]


def test_keys_in_another_order_are_no_difference_and_stand_in_the_order_of_the_newer_side():
    tool = price_tool()
    moved = tool.model_copy(update={"input_schema": dict(reversed(tool.input_schema.items()))})
    for item in compared_texts(tool, moved):
        assert item.old == item.new
    (schema,) = (item for item in compared_texts(tool, moved) if item.name == "input_schema")
    assert schema.new.split("\n")[1].strip().startswith(f'"{next(reversed(tool.input_schema))}"')


@given(old=specs, new=specs)
def test_texts_differ_just_where_the_diff_says_that_the_component_differs(old, new):
    changed = {(change.kind, change.component_id) for change in diff_specs(old, new).changes if change.component_id}
    for kind, field in KIND_FIELDS.items():
        left, right = components_by_key(getattr(old, field)), components_by_key(getattr(new, field))
        for key in left.keys() & right.keys():
            differing = [item for item in compared_texts(left[key], right[key]) if item.old != item.new]
            assert bool(differing) == ((kind, key) in changed)


@given(spec=specs)
def test_the_newer_side_is_shown_as_the_component_is_shown_alone(spec):
    for kind, field in KIND_FIELDS.items():
        for component in components_by_key(getattr(spec, field)).values():
            alone = component_texts(spec, kind, component.id)
            if component is getattr(spec, field)[0]:
                assert alone == {item.name: item.new for item in compared_texts(None, component)}


def test_ordered_like_keeps_every_key():
    assert list(ordered_like({"a": 1, "b": 2, "c": 3}, {"c": 0, "a": 0})) == ["c", "a", "b"]
    assert ordered_like([{"a": 1, "b": 2}, 3], [{"b": 0, "a": 0}]) == [{"a": 1, "b": 2}, 3]
