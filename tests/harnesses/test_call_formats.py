"""Calls as the model writes them: what is written reads back the same, and everything broken is said in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.spec import HarnessSpec, RuntimeSettings
from harnesses.runtime.call_formats import MAX_CALLS, call_instructions, parse_output, write_call
from tests.harnesses.runtime_worlds import shop_spec

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["a b: c", "true", "12", "1e999", "x; y", "</tool_call>", "<tool_call>", "`", "CALL x; y", "``` ", "-", '"', "\\"]
)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["hermes", "plain"]), _TEXT.filter(bool), st.dictionaries(_TEXT, _JSON, max_size=4))
def test_what_is_written_reads_back_the_same(call_format: Any, name: str, arguments: dict[str, Any]) -> None:
    written = write_call(call_format, name, arguments)
    output = parse_output(call_format, written)
    assert output.reply_text == ""
    assert [(call.error, call.name, call.arguments) for call in output.calls] == [(None, name, arguments)]
    assert repr(output.calls[0].arguments) == repr(arguments)  # 1 and 1.0 and True are three things
    assert call_format == "hermes" or "\n" not in written


_SCRAPS = [
    "<tool_call>",
    "</tool_call>",
    "CALL ",
    "get_price",
    "; ",
    "item: ",
    '"',
    "{",
    "}",
    "\n",
    '"name": ',
    "`",
    "> ",
]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["hermes", "plain"]),
    st.lists(st.sampled_from(_SCRAPS) | st.text(max_size=3), max_size=12).map("".join),
)
def test_any_text_is_read_without_a_crash(call_format: Any, text: str) -> None:
    output = parse_output(call_format, text, lambda name: ("item",) if name == "get_price" else None)
    assert all((call.arguments is None) == (call.error is not None) for call in output.calls)


def test_plain_values_are_bare_unless_they_would_read_differently() -> None:
    arguments = {
        "item": "T12",
        "count": 2,
        "note": "soft; warm",
        "code": "007",
        "number": "12",
        "box": {"a": [1]},
        "none": None,
    }
    wanted = 'CALL price; item: T12; count: 2; note: "soft; warm"; code: 007; number: "12"; box: {"a": [1]}; none: null'
    assert write_call("plain", "price", arguments) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<tool_call>{"name": "price", "arguments": {"item": }}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "price", "arguments": {"item": "T1", "item": "T2"}}</tool_call>', "twice"),
        ('<tool_call>{"name": "price", "arguments": {"n": NaN}}</tool_call>', "NaN"),
        ('<tool_call>{"name": "price", "arguments": ["T1"]}</tool_call>', '"arguments" must be a JSON object'),
        ('<tool_call>{"name": "price", "arguments": "{}"}</tool_call>', '"arguments" must be a JSON object'),
        ('<tool_call>{"name": "price", "item": "T1"}</tool_call>', 'Put "item" inside "arguments"'),
        ('<tool_call>{"arguments": {}}</tool_call>', 'no "name"'),
        ("<tool_call>[1]</tool_call>", "one JSON object"),
        ("<tool_call>price T1</tool_call>", "not valid JSON"),
        ('<tool_call>{"name": "price", "arguments": {}}', "not closed"),
        ('<tool_call>{"name": "price", "argum', "not closed"),
        ('{"name": "price", "arguments": {}}</tool_call>', "does not start with <tool_call>"),
        ('```json\n{"name": "price", "arguments": {}}\n```', "does not start with <tool_call>"),
        ("CALL price; item: T1", "written as <tool_call>"),
        ("<tool_call>" + '{"a":' * 100 + "1" + "}" * 100 + "</tool_call>", "nested deeper"),
    ],
)
def test_a_broken_hermes_call_says_what_is_wrong(text: str, said: str) -> None:
    output = parse_output("hermes", text)
    assert [said in (call.error or "") for call in output.calls] == [True]
    assert output.reply_text == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CALL price; item: T12 variant: red", '"item" and "variant" run together'),
        ("CALL price; item: T1; item: T2", "twice"),
        ("CALL price item: T1", 'comes ";"'),
        ("CALL price; item", 'not "key: value"'),
        ("CALL price; : T1", 'not "key: value"'),
        ("CALL ; item: T1", "names no tool"),
        ("CALL", "names no tool"),
        ('CALL price; item: "T1', "not closed"),
        ('CALL price; item: {"a": 1', "not closed"),
        ('CALL price; item: {"a": 1, "a": 2}', "twice"),
        ('CALL price; item: "T1" now', 'comes ";"'),
        ('<tool_call>{"name": "price", "arguments": {}}</tool_call>', "written as one line"),
        ('{"name": "price", "arguments": {}}', "written as one line"),
    ],
)
def test_a_broken_plain_call_says_what_is_wrong(text: str, said: str) -> None:
    output = parse_output("plain", text)
    assert [said in (call.error or "") for call in output.calls] == [True]
    assert output.reply_text == ""


def test_known_parameters_tell_a_text_from_two_arguments_run_together() -> None:
    text = "CALL tell; text: note well: it is warm"
    assert parse_output("plain", text).calls[0].error is not None
    call = parse_output("plain", text, lambda name: ("text", "item")).calls[0]
    assert call.arguments == {"text": "note well: it is warm"}
    merged = parse_output("plain", "CALL tell; text: hello item: T1", lambda name: ("text", "item")).calls[0]
    assert "run together" in (merged.error or "")


@pytest.mark.parametrize(
    ("call_format", "text"),
    [
        ("hermes", 'Let me look. <tool_call>{"name": "price", "arguments": {"item": "T1"}}</tool_call> One moment.'),
        ("plain", "Let me look.\nCALL price; item: T1\nOne moment."),
    ],
)
def test_a_call_inside_prose_is_found_and_the_prose_kept(call_format: Any, text: str) -> None:
    output = parse_output(call_format, text)
    assert [(call.name, call.arguments) for call in output.calls] == [("price", {"item": "T1"})]
    assert output.reply_text.replace("\n", " ").replace("  ", " ") == "Let me look. One moment."


def test_a_plain_call_in_the_middle_of_a_line_needs_a_known_tool() -> None:
    known = lambda name: () if name == "price" else None  # noqa: E731
    assert parse_output("plain", "Sure! CALL price; item: T1", known).calls[0].arguments == {"item": "T1"}
    assert parse_output("plain", "Please CALL us; we are open.", known).calls == ()
    assert parse_output("plain", "CALL us any time!", known).calls == ()


@pytest.mark.parametrize(
    ("call_format", "text"),
    [
        ("hermes", '```json\n<tool_call>{"name": "price", "arguments": {"item": "T1"}}</tool_call>\n```'),
        ("hermes", '<tool_call>\n{"name": "price",\n "arguments": {"item": "T1"}}\n</tool_call>'),
        ("plain", "```\nCALL price; item: T1\n```"),
        ("plain", "`CALL price; item: T1`"),
        ("plain", "- CALL price; item: T1;"),
    ],
)
def test_fences_and_white_space_around_a_call_do_not_matter(call_format: Any, text: str) -> None:
    output = parse_output(call_format, text)
    assert [(call.name, call.arguments, call.error) for call in output.calls] == [("price", {"item": "T1"}, None)]
    assert output.reply_text == ""


def test_a_viewer_line_that_the_model_repeats_is_no_call() -> None:
    assert parse_output("plain", "You wrote:\n> CALL price; item: T1", lambda name: ("item",)).calls == ()


def test_several_calls_are_read_in_order_up_to_a_limit() -> None:
    for call_format in ("hermes", "plain"):
        written = "\n".join(write_call(call_format, f"tool_{n}", {}) for n in range(MAX_CALLS + 3))
        calls = parse_output(call_format, written).calls
        assert [call.name for call in calls[:-1]] == [f"tool_{n}" for n in range(MAX_CALLS)]
        assert "at once" in (calls[-1].error or "")


def test_a_tool_may_be_named_like_the_wire_tag() -> None:
    for name in ("tool_call", "<tool_call>", "</tool_call>", "CALL"):
        for call_format in ("hermes", "plain"):
            call = parse_output(call_format, write_call(call_format, name, {"a": "b"})).calls[0]
            assert (call.name, call.arguments) == (name, {"a": "b"})


def test_instructions_show_a_call_of_a_real_tool_that_reads_back() -> None:
    for call_format in ("hermes", "plain"):
        text = call_instructions(call_format, shop_spec())
        example = text.split("For example: ")[1].split("\n")[0]
        call = parse_output(call_format, example).calls[0]
        assert (call.name, call.arguments) == ("get_price", {"item": "<item>"})
    assert call_instructions("plain", HarnessSpec(runtime=RuntimeSettings(disclosure="on_demand"))) == ""


def test_a_plain_call_of_a_name_in_several_words_is_a_call_and_no_reply() -> None:
    parsed = parse_output("plain", "CALL stoneware bowl set; item: K11", lambda name: None)
    assert [(call.name, call.arguments, call.error) for call in parsed.calls] == [
        ("stoneware bowl set", {"item": "K11"}, None)
    ]
    assert parsed.reply_text == ""
