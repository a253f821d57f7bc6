"""Documents coming in: what is accepted, what is refused and in which words, and how older documents are brought up to date."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from harnesses.core.parsing import InputProblem, SpecInputError, spec_from_document, spec_from_json
from harnesses.core.spec import SCHEMA_VERSION
from harnesses.core.upgrades import upgrade
from tests.harnesses.samples import sample_document


def problems_of(document: Any) -> tuple[InputProblem, ...]:
    with pytest.raises(SpecInputError) as caught:
        spec_from_document(document)
    assert str(caught.value)
    return caught.value.problems


def only_problem(document: Any) -> tuple[str, str]:
    (problem,) = problems_of(document)
    return problem.path, problem.message


def section(body: str, section_id: str = "rules") -> dict[str, Any]:
    return {"schema_version": 1, "prompt": [{"id": section_id, "title": "Rules", "body": body}]}


def tool(**fields: Any) -> dict[str, Any]:
    return {"schema_version": 1, "tools": [{"id": "t", "name": "t", "input_schema": {"type": "object"}, **fields}]}


def test_a_document_becomes_a_spec_and_back_with_the_same_hash() -> None:
    spec = spec_from_document(section("Be kind."))
    assert spec.prompt[0].body == "Be kind."
    again = spec_from_json(json.dumps(spec.document()))
    assert again == spec
    assert again.spec_hash == spec.spec_hash


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"schema_version": 1, "schema_version": 1}', 'The key "schema_version" appears twice'),
        ('{"schema_version": 1, "runtime": {"temperature": NaN}}', "NaN is not a JSON number"),
        ("[" * 100_000, "nested deeper than 40 levels"),
        ('{"prompt": ', "Not valid JSON at line 1"),
        (b'{"prompt": "\xff"}', "not UTF-8"),
        ("", "Not valid JSON"),
        ('{"a": 1' + "0" * 5000 + "}", "Not valid JSON"),
        (" " * 5_000_001, "the limit is 5,000,000"),
    ],
)
def test_text_that_is_no_json_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(SpecInputError, match=words):
        spec_from_json(text)


@pytest.mark.parametrize(
    ("document", "path", "words"),
    [
        ({}, "", "The harness is empty"),
        ([], "", "A harness is a JSON object; this is a list."),
        (None, "", "this is null"),
        (section("a\x00b"), "prompt[0].body", "holds the control character U+0000 at position 1; remove it."),
        (section("\ud800"), "prompt[0].body", "control character U+D800"),
        (tool(annotations={"x\x00": 1}), "tools[0].annotations (a key)", "control character U+0000"),
        (tool(annotations={"x": "\x07"}), "tools[0].annotations.x", "control character U+0007"),
        (tool(annotations={"é": 1, "e\u0301": 2}), "tools[0].annotations", 'two keys that both read "é"'),
        (tool(annotations={"x": float("nan")}), "tools[0].annotations.x", "not a JSON number"),
        (tool(annotations={1: 2}), "tools[0].annotations", "keys must be texts"),
        (tool(annotations={"x": {1, 2}}), "tools[0].annotations.x", "no JSON value (set)"),
        (tool(annotations={"x": 10**400}), "tools[0].annotations.x", "more than 300 digits"),
        (section("x" * 1_000_000), "prompt[0].body", "has 1,000,000 characters; the limit is 200,000"),
        (section("x") | {"hooks": [1] * 1001}, "hooks", "holds 1,001 entries; the limit is 1,000"),
        (tool(annotations={"x": [0] * 5_001}), "tools[0].annotations.x", "has 5,001 entries; the limit is 5,000"),
        (section("x") | {"prompts": []}, "prompts", "is not a known field. Remove it or correct its name."),
        (section("x", "Upper Case"), "prompt[0].id", "must be 1 to 64 of lower-case letters"),
        (section(3), "prompt[0].body", "must be a text, not 3."),  # type: ignore[arg-type]
        ({"schema_version": 1, "prompt": [{"id": "a", "title": "b"}]}, "prompt[0].body", "is missing. Add it."),
        ({"schema_version": 1, "prompt": [3]}, "prompt[0]", "must be an object, not 3."),
        ({"schema_version": 1, "prompt": {}}, "prompt", "must be a list, not {}."),
        (
            {"schema_version": 1, "runtime": {"max_tool_rounds": "4"}},
            "runtime.max_tool_rounds",
            "must be a whole number",
        ),
        (
            {"schema_version": 1, "runtime": {"max_tool_rounds": True}},
            "runtime.max_tool_rounds",
            "whole number, not true",
        ),
        (
            {"schema_version": 1, "runtime": {"max_tool_rounds": 99}},
            "runtime.max_tool_rounds",
            "must be 20 or less, not 99",
        ),
        ({"schema_version": 1, "runtime": {"deadline_ms": 1}}, "runtime.deadline_ms", "must be 100 or more"),
        (
            {"schema_version": 1, "runtime": {"disclosure": "lazy"}},
            "runtime.disclosure",
            "'inline' or 'on_demand', not \"lazy\"",
        ),
        (tool(binding={"cases": []}), "tools[0].binding.cases", "must have at least 1 entry"),
        (tool(input_schema=[]), "tools[0].input_schema", "must be an object, not []."),
    ],
)
def test_a_document_that_is_no_harness_is_told_where_and_why(document: Any, path: str, words: str) -> None:
    found_path, message = only_problem(document)
    assert found_path == path
    assert words in message


def hook(action: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": 1, "hooks": [{"id": "h", "name": "h", "event": "Stop", "action": action}]}


@pytest.mark.parametrize(
    ("document", "path", "words"),
    [
        (hook({"type": "deny"}), "hooks[0].action.reason", "is missing"),
        (hook({"type": "explode"}), "hooks[0].action", "must name one of"),
        (hook({}), "hooks[0].action.type", "is missing"),
        (
            tool(
                binding={
                    "cases": [
                        {
                            "operation": "o",
                            "arguments": [
                                {"argument": "a", "path": "a", "conversion": {"kind": "scale", "factor": "0"}}
                            ],
                        }
                    ]
                }
            ),
            "tools[0].binding.cases[0].arguments[0].conversion.factor",
            "must be a positive decimal",
        ),
    ],
)
def test_problems_within_actions_and_conversions_are_told_by_the_path_in_the_document(document, path, words) -> None:
    found_path, message = only_problem(document)
    assert found_path == path
    assert words in message


def test_all_problems_are_told_at_once() -> None:
    document = {"schema_version": 1, "prompt": [{"id": "A", "title": 1}], "runtime": {"x": 1}}
    assert {problem.path for problem in problems_of(document)} == {
        "prompt[0].id",
        "prompt[0].title",
        "prompt[0].body",
        "runtime.x",
    }


def test_nesting_too_deep_for_json_is_refused_in_a_document_too() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"properties": deep}
    path, message = only_problem(tool(input_schema=deep))
    assert path.startswith("tools[0].input_schema.properties")
    assert "nested deeper than 40 levels" in message


def test_a_harness_of_more_than_5_mb_is_refused() -> None:
    document = {
        "schema_version": 1,
        "prompt": [{"id": f"s{n}", "title": "t", "body": "x" * 199_000} for n in range(26)],
    }
    assert "the limit is 5,000,000" in only_problem(document)[1]


def test_texts_are_stored_as_nfc_with_plain_line_ends() -> None:
    spec = spec_from_document(section("cafe\u0301\r\nau lait\rnoir"))
    assert spec.prompt[0].body == "café\nau lait\nnoir"
    nfd = {"type": "object", "properties": {unicodedata.normalize("NFD", "größe"): {"type": "string"}}}
    assert list(spec_from_document(tool(input_schema=nfd)).tools[0].input_schema["properties"]) == ["größe"]


@pytest.mark.parametrize("body", ["שלום \u202eoverride\u202c", "👩‍👩‍👧 hi 🧶", "价格查询：请先查价", "tab\there"])
def test_any_script_and_emoji_pass_unchanged(body: str) -> None:
    assert spec_from_document(section(body)).prompt[0].body == body


def test_300_tools_are_a_harness() -> None:
    tools = [{"id": f"t{n}", "name": f"工具{n}", "input_schema": {"type": "object"}} for n in range(300)]
    assert len(spec_from_document({"schema_version": 1, "tools": tools}).tools) == 300


def test_documents_of_one_hash_are_the_same_to_the_digit() -> None:
    one = spec_from_document(tool(annotations={"n": 1.0, "half": 0.5}))
    two = spec_from_document(tool(annotations={"half": 0.5, "n": 1}))
    assert one.spec_hash == two.spec_hash
    assert json.dumps(one.document(), sort_keys=True) == json.dumps(two.document(), sort_keys=True)


# --- older schemas -------------------------------------------------------------------------------------------------------


def version_0() -> dict[str, Any]:
    return {
        "tools": [
            {
                "id": "price",
                "name": "get_price",
                "input_schema": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}},
                "binding": {"operation": "price.get", "arguments": {"sku": "item_id", "n": "count"}},
            }
        ],
        "runtime": {"deadline_s": 2.5},
    }


def test_a_document_from_before_schema_versions_is_brought_up_to_date() -> None:
    spec = spec_from_document(version_0())
    assert spec.schema_version == SCHEMA_VERSION
    assert spec.runtime.deadline_ms == 2500
    binding = spec.tools[0].binding
    assert binding is not None
    (case,) = binding.cases
    assert case.operation == "price.get"
    assert [(item.path, item.argument) for item in case.arguments] == [(("n",), "count"), (("sku",), "item_id")]


def test_upgrading_leaves_the_given_document_alone_and_does_not_depend_on_key_order() -> None:
    document, other = version_0(), version_0()
    other["tools"][0]["binding"]["arguments"] = {"n": "count", "sku": "item_id"}
    assert spec_from_document(document).spec_hash == spec_from_document(other).spec_hash
    upgrade(document)
    assert document == version_0()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (SCHEMA_VERSION + 1, f"is {SCHEMA_VERSION + 1}, but this Tackroom reads versions up to {SCHEMA_VERSION}"),
        (-1, "must be a whole number"),
        (True, "must be a whole number"),
        ("1", "must be a whole number"),
    ],
)
def test_an_unknown_schema_version_is_refused(version: Any, words: str) -> None:
    path, message = only_problem({"schema_version": version})
    assert path == "schema_version"
    assert words in message


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"runtime": {"deadline_s": 1, "deadline_ms": 1000}}, "runtime.deadline_s"),
        ({"runtime": {"deadline_s": "soon"}}, "runtime.deadline_s"),
        ({"tools": [{"binding": {"operation": "o", "arguments": ["a"]}}]}, "tools[0].binding.arguments"),
        ({"tools": [{"binding": {"operation": "o", "when": 1}}]}, "tools[0].binding.when"),
    ],
)
def test_an_older_document_that_cannot_be_upgraded_is_told_where(change: dict[str, Any], path: str) -> None:
    assert only_problem(change)[0] == path


# --- components that were read before --------------------------------------------------------------------------------


def _with_default(value: object) -> dict:
    document = sample_document()
    document["tools"][0]["binding"]["cases"][0]["arguments"][0]["default"] = value
    return document


@pytest.mark.parametrize(
    "values", [(1, True), (0, False), (1, "1"), ([1], [True]), ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
)
def test_a_component_is_taken_for_one_that_was_read_before_only_if_it_is_the_same(values):
    for value in (*values, *reversed(values)):
        spec = spec_from_document(_with_default(value))
        (tool,) = spec.tools
        assert tool.binding is not None
        kept = tool.binding.cases[0].arguments[0].default
        assert (type(kept), str(kept)) == (type(value), str(value))


def test_a_component_that_was_not_changed_stays_the_same_object():
    before, after = spec_from_document(sample_document()), spec_from_document(sample_document(rules="Be kind."))
    assert after.tools[0] is before.tools[0]
    assert after.prompt[0] is not before.prompt[0]


def test_keys_that_are_no_texts_are_refused_whatever_was_read_before():
    spec_from_document(_with_default({"1": 2}))
    with pytest.raises(SpecInputError):
        spec_from_document(_with_default({1: 2}))
