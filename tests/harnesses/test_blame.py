"""Blame: the version that made each component what it is now."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.blame import blame
from harnesses.core.editing import apply_edits
from harnesses.core.jsonvalues import JsonObject, canonical_json
from tests.harnesses.small_specs import shop, specs


def walked(*steps: list[dict[str, Any]]) -> list[tuple[int, JsonObject]]:
    """Versions, newest first: each step is the edits that lead to the next one."""
    spec = shop()
    versions = [(1, spec.document())]
    for number, edits in enumerate(steps, 2):
        spec = apply_edits(spec, edits).spec
        versions.insert(0, (number, spec.document()))
    return versions


def put(kind: str, component_id: str, **fields: Any) -> dict[str, Any]:
    return {"op": "set", "kind": kind, "id": component_id, "fields": fields}


def test_a_component_belongs_to_the_version_that_last_changed_it() -> None:
    versions = walked(
        [put("tool", "price", description="Two.")],
        [put("prompt", "persona", body="Three."), put("runtime", "", deadline_ms=900)],
        [{"op": "add", "kind": "skill", "component": {"id": "new", "name": "new", "description": "d", "body": "b"}}],
        [put("tool", "price", description="Five."), {"op": "move", "kind": "tool", "id": "price", "after": "coupon"}],
    )
    numbers = blame(versions).numbers
    assert numbers[("tool", "price")] == 5
    assert numbers[("prompt", "persona")] == 3
    assert numbers[("runtime", "runtime")] == 3
    assert numbers[("skill", "new")] == 4
    assert numbers[("tool", "coupon")] == 1
    assert next(iter(numbers)) == ("prompt", "persona")


def test_changed_and_changed_back_is_changed() -> None:
    versions = walked(
        [put("prompt", "persona", body="Other.")],
        [put("prompt", "persona", body="You help the host of a live stream.")],
    )
    assert blame(versions).numbers[("prompt", "persona")] == 3


def test_removed_and_added_again_belongs_to_the_version_that_added_it() -> None:
    coupon = next(item for item in shop().document()["tools"] if item["id"] == "coupon")
    versions = walked(
        [{"op": "remove", "kind": "tool", "id": "coupon"}], [{"op": "add", "kind": "tool", "component": coupon}]
    )
    assert blame(versions).numbers[("tool", "coupon")] == 3


def test_the_order_of_keys_is_no_change() -> None:
    document = shop().document()
    schema = document["tools"][0]["input_schema"]
    document["tools"][0]["input_schema"] = dict(reversed(schema.items()))
    assert blame([(2, document), (1, shop().document())]).numbers[("tool", "price")] == 1


def test_a_walk_that_was_cut_short_says_what_it_could_not_tell() -> None:
    newest, older, _ = walked([], [put("tool", "price", description="Three.")])
    result = blame([newest, older], is_complete=False)
    assert result.numbers[("tool", "price")] == 3
    assert ("tool", "price") not in result.undecided
    assert ("tool", "coupon") in result.undecided


def test_the_walk_ends_as_soon_as_everything_is_decided() -> None:
    one, other = shop().document(), {**shop(prompt=(), skills=(), tools=(), hooks=()).document(), "runtime": {}}

    def versions() -> Any:
        yield 3, one
        yield 2, other
        raise AssertionError("no older version is needed")

    assert set(blame(versions()).numbers.values()) == {3}


def test_blame_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one version"):
        blame([])


@settings(max_examples=25, deadline=None)
@given(st.lists(specs, min_size=1, max_size=4))
def test_the_blamed_version_differs_from_the_one_before_it_and_equals_all_after(versions: list[Any]) -> None:
    documents = [(number, spec.document()) for number, spec in enumerate(versions, 1)]
    held = [
        {(kind, item["id"]): canonical_json(item) for kind, name in NAMES for item in document[name]}
        for _, document in documents
    ]
    for key, number in blame(reversed(documents)).numbers.items():
        if key[0] != "runtime":
            assert all(state.get(key) == held[-1][key] for state in held[number - 1 :])
            assert number == 1 or held[number - 2].get(key) != held[-1][key]


NAMES = (("prompt", "prompt"), ("skill", "skills"), ("tool", "tools"), ("hook", "hooks"), ("example", "examples"))
