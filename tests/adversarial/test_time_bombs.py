"""Texts that never end: patterns that backtrack for ever, numbers too large to divide, and what else a schema can hide."""

from __future__ import annotations

import contextlib
import time

import pytest

from harnesses.core.parsing import spec_from_document
from harnesses.core.patterns import PatternError, is_found, pattern_problem
from harnesses.core.schemas import BrokenSchemaError, broken_schema_reasons, schema_problems
from harnesses.core.validation import validate
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
