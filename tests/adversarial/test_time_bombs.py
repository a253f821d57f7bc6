"""Texts that never end: patterns that backtrack for ever, numbers too large to divide, and what else a schema can hide."""

from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harnesses.core.editing import find_mentions, search_text
from harnesses.core.editing.texts import is_within, placeholder_spans
from harnesses.core.mends import mends
from harnesses.core.merge import merge_specs
from harnesses.core.parsing import spec_from_document
from harnesses.core.patterns import PatternError, is_found, pattern_problem
from harnesses.core.schemas import BrokenSchemaError, broken_schema_reasons, schema_problems
from harnesses.core.templates import TemplateError
from harnesses.core.validation import validate
from harnesses.runtime.render import render_body
from tests.harnesses.samples import sample_document

SLOW = r"^(a|aa)+$"
SLOW_TEXT = "a" * 60 + "!"


def of_text(**rules):
    return {"type": "object", "properties": {"item_id": {"type": "string", **rules}}}


def within(seconds, work, *args):
    started = time.monotonic()
    try:
        return work(*args)
    finally:
        assert time.monotonic() - started < seconds


@pytest.mark.parametrize(
    "schema",
    [
        of_text(pattern=SLOW),
        {"type": "object", "patternProperties": {SLOW: {"type": "string"}}},
        {"type": "object", "patternProperties": {SLOW: {"type": "string"}}, "additionalProperties": False},
        {"type": "object", "propertyNames": {"pattern": SLOW}},
        {"type": "object", "allOf": [{"patternProperties": {SLOW: True}}], "unevaluatedProperties": False},
    ],
)
def test_a_pattern_that_backtracks_for_ever_is_given_up(schema):
    value = {"item_id": SLOW_TEXT, SLOW_TEXT: "x"}
    with pytest.raises(BrokenSchemaError):
        within(2, schema_problems, schema, value)


def test_many_slow_values_share_one_limit():
    schema = {"type": "object", "properties": {"ids": {"type": "array", "items": {"pattern": SLOW}}}}
    with pytest.raises(BrokenSchemaError, match="write it simpler"):
        within(2, schema_problems, schema, {"ids": [SLOW_TEXT] * 500})


@pytest.mark.parametrize(
    "pattern",
    [
        "((a{1000}){1000}){1000}",
        "(a|b|c{1000}){1000}",
        "(" * 300 + "a" + "{9})" * 300,
        "a" * 3000,
        "(",
        "[",
        "*",
        "(?P<a",
    ],
)
def test_a_pattern_that_cannot_be_compiled_in_bounds_is_told_as_a_finding(pattern):
    assert within(2, broken_schema_reasons, of_text(pattern=pattern))[0][0] == "schema_invalid"


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$",
        r"^[A-Z]{2}[{}\d]{1,30}$",
        r"^(?=.{1,64}$)[a-z]+(?:-[a-z]+)*$",
        "(ab{3}){10}",
        r"\{9999\}",
        "[(]{3}",
    ],
)
def test_what_people_write_passes(pattern):
    assert pattern_problem(pattern) == ""


def test_patterns_are_found_as_json_schema_says():
    assert is_found("b+", "abc")
    assert not is_found("^b", "abc")
    with pytest.raises(PatternError):
        within(2, is_found, SLOW, SLOW_TEXT)
    schema = {
        "type": "object",
        "properties": {"a": {}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert [problem.path for problem in schema_problems(schema, {"a": 1, "x-b": "no", "c": 1})] == [("c",), ("x-b",)]
    inner = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert [problem.code for problem in schema_problems(inner, {"a": "no"})] == ["wrong_type"]


def test_references_that_double_at_every_step_are_given_up():
    inner = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    definitions = {**inner, "d30": {"type": "integer"}}
    schema = {"type": "object", "properties": {"item_id": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    with pytest.raises(BrokenSchemaError, match="too many steps"):
        within(5, schema_problems, schema, {"item_id": "x"})
    with pytest.raises(BrokenSchemaError, match="too many steps"):
        within(5, schema_problems, schema, {"item_id": "x"})


def test_a_long_list_of_objects_is_judged_whole():
    item = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(20)}, "required": ["p0"]}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    rows = [{f"p{n}": "x" for n in range(20)} for _ in range(1_000)]
    assert schema_problems(schema, {"rows": rows}) == ()
    assert len(schema_problems(schema, {"rows": [*rows, {}]})) == 1


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308])
def test_a_number_too_large_to_divide_breaks_nothing(number):
    schema = {"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.01}}}
    with contextlib.suppress(BrokenSchemaError):
        schema_problems(schema, {"n": number})


def test_the_findings_of_a_harness_full_of_bombs_come_at_once(demo_catalogue):
    document = sample_document()
    item = document["tools"][0]["input_schema"]["properties"]["item_id"]
    item.update(pattern=SLOW, default=SLOW_TEXT, examples=[SLOW_TEXT] * 20, enum=[SLOW_TEXT] * 20)
    assert within(5, validate, spec_from_document(document), demo_catalogue) is not None


# --- texts -----------------------------------------------------------------------------------------------------------

OLD_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
OLD_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


@given(
    st.lists(st.sampled_from(["{{", "}}", "{%", "%}", "{#", "#}", "{", "}", "a", "\n", "%", "#"]), max_size=30).map(
        "".join
    )
)
def test_placeholders_are_found_as_a_plain_pattern_finds_them(text):
    assert placeholder_spans(text) == [match.span() for match in OLD_PLACEHOLDER.finditer(text)]
    assert placeholder_spans(text, has_comments=False) == [match.span() for match in OLD_TAG.finditer(text)]


@given(st.lists(st.integers(0, 30), max_size=10), st.integers(0, 30), st.integers(1, 5))
def test_touching_a_span_is_told_as_by_looking_at_each(numbers, start, length):
    cuts = sorted(set(numbers))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    end = start + length
    assert is_within(spans, start, end) == any(start < last and first < end for first, last in spans)


ENDLESS = {
    "placeholders": "{{" * 99_999,
    "comments": "{#" * 99_999,
    "tags": "{% if a %}" * 19_999,
    "mentions": "{{ x }} get_price " * 10_000,
    "quotes": "`a_b` " * 33_000,
    "names": "a_" * 99_999,
    "brackets": "{{ " + "(" * 5_000,
    "letters": "a" * 199_999,
    "lines": "a\n" * 99_999,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_text_takes_long_to_be_looked_through(name, demo_catalogue):
    spec = spec_from_document(sample_document(rules=ENDLESS[name]))
    findings = within(4, validate, spec, demo_catalogue)
    within(4, find_mentions, spec, "tool", "price")
    for find in ("{{", "a", "e"):
        within(4, search_text, spec, find)
    within(4, mends, spec, findings)


def test_lines_that_were_all_moved_are_a_conflict_and_no_endless_comparison():
    lines = [f"{number:x}" for number in range(30_000)]
    texts = ["\n".join(order) for order in (lines, lines[::2] + lines[1::2], lines[::3] + lines[1::3] + lines[2::3])]
    specs = [spec_from_document(sample_document(rules=text)) for text in texts]
    merged = within(4, merge_specs, *specs)
    assert [(item.component_id, item.field) for item in merged.conflicts] == [("rules", "body")]
    assert merged.spec.prompt[0].body == texts[1]


ENGINE_BOMBS = {
    "loops": "{% for i in range(1000000000) %}{% for j in range(1000000000) %}x{% endfor %}{% endfor %}",
    "powers": "{{ 9**9**9 }}",
    "repeats": "{{ 'a' * 1000000000 }}",
    "padding": "{{ 'a'|center(999999999) }}",
    "format": "{{ '%999999999d'|format(1) }}",
    "method": "{{ '{:>999999999}'.format(1) }}",
    "macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "dunder": "{{ ().__class__.__bases__ }}",
    "sum": "{{ " + "+".join(["1"] * 5_000) + " }}",
    "doubling": "{% set a = 'xxxxxxxxxx' %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
}


@pytest.mark.parametrize("name", ENGINE_BOMBS)
def test_no_template_runs_for_ever(name, demo_catalogue):
    text = ENGINE_BOMBS[name]
    spec = spec_from_document(sample_document(rules=text))
    within(4, validate, spec, demo_catalogue)
    with contextlib.suppress(TemplateError):
        within(4, render_body, spec, "Section", text, {})
