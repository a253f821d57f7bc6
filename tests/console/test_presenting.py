"""How states, specs, traces and differences are put into words and rows."""

from __future__ import annotations

import pytest

from console import presenters
from console.harness_pages import risk_view
from console.text_diff import MAX_ROWS, text_diff
from console.trace_steps import trace_view
from harnesses.core.risk import assess
from harnesses.core.spec import AddContext, Condition, Hook, ReplaceOutput, RewriteInput, Tool
from harnesses.runtime.trace import CallRecord, Conversation, HookFiring, ModelCall, StopReason, Trace, TraceError
from livestream.operations import CATALOGUE
from tests.console import sample


@pytest.mark.parametrize(
    ("value", "text"), [(None, "not told"), (0.04, "0.0 ms"), (9.94, "9.9 ms"), (41.2, "41 ms"), (1520.0, "1.52 s")]
)
def test_durations_carry_their_unit(value, text):
    assert presenters.milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (512, "512 B"), (1_400_000, "1.4 MB"), (269_000_000, "269 MB")]
)
def test_sizes_carry_their_unit(value, text):
    assert presenters.size(value) == text


def test_a_state_that_is_not_known_is_still_told():
    assert presenters.deployment_badge("on_fire").label == "On fire"


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_stop_reason_has_words_of_its_own(reason):
    assert presenters.stop_badge(reason).hint


def test_a_hook_reads_as_a_sentence_with_the_names_of_today():
    spec = sample.sample_spec(price_name="fetch_price")
    view = presenters.hook_view(spec.hooks[1], spec)
    assert view.when == "fetch_price has given a result"
    assert view.then == "add “Prices hold for this stream only.” after the tool's result"


def test_conditions_and_rewrites_name_fields_and_values():
    condition = Condition(field="argument", path=("quantity",), op="above", values=(5,))
    rewrite = Hook(id="h", name="h", event="PreToolUse", when=(condition,), action=RewriteInput(set={"quantity": 5}))
    view = presenters.hook_view(rewrite, sample.sample_spec())
    assert (view.when, view.then) == (
        "any tool is about to be called and the argument quantity is above 5",
        "set quantity to 5",
    )
    hide = Hook(id="h", name="h", event="PostToolUse", action=ReplaceOutput(set={"a": 1}, drop=("b",)))
    assert presenters.hook_view(hide, sample.sample_spec()).then == "show a as 1, hide b"
    tail = Hook(id="h", name="h", event="SessionStart", action=AddContext(text="Hi", slot="system_tail"))
    assert presenters.hook_view(tail, sample.sample_spec()).then == "add “Hi” at the end of the system prompt"


def test_parameters_stand_in_the_order_in_which_the_model_reads_them():
    schema = {"type": "object", "properties": {"b": {}, "a": {"enum": ["x", "y"]}, "c": {}}, "required": ["c"]}
    tool = Tool(id="t", name="t", input_schema=schema, parameter_order=("b",))
    assert [(row.name, row.is_required) for row in presenters.parameter_rows(tool)] == [
        ("b", False), ("c", True), ("a", False),
    ]  # fmt: skip
    assert presenters.parameter_rows(tool)[2].type == "one of: x, y"


@pytest.mark.parametrize("schema", [True, {"properties": 5}, {"type": ["string", 7]}, {"type": "array"}])
def test_odd_schemas_are_shown_and_never_break_a_page(schema):
    assert isinstance(presenters.schema_type(schema), str)


def test_a_renamed_tool_is_a_preserving_change_of_family_t1():
    report = risk_view(assess(sample.sample_spec(), sample.sample_spec(price_name="fetch_price"), CATALOGUE))
    [row] = report.changes
    assert (row.title, row.family.label) == ("Tool renamed: get_price → fetch_price (T1, preserving)", "T1")
    assert (row.preservation.label, report.review) == ("Preserving", "One reviewer")


def test_equal_texts_have_no_difference():
    assert text_diff("a\nb", "a\nb", old_label="v1", new_label="v2") is None


def test_a_difference_marks_whole_words_and_counts_equal_lines():
    lines = [f"line {number}" for number in range(20)]
    old, new = "\n".join([*lines, "call get_price now"]), "\n".join([*lines, "call fetch_price now"])
    diff = text_diff(old, new, old_label="v1", new_label="v2")
    assert diff is not None
    assert diff.rows[0].skipped == 17
    changed = diff.rows[-1]
    assert changed.old_pieces == (("same", "call "), ("del", "get_price"), ("same", " now"))
    assert changed.new_pieces == (("same", "call "), ("ins", "fetch_price"), ("same", " now"))
    assert (changed.old_number, changed.new_number) == (21, 21)


def test_a_difference_too_long_for_a_page_is_cut_and_says_so():
    diff = text_diff("", "\n".join(str(number) for number in range(5000)), old_label="v1", new_label="v2")
    assert diff is not None
    assert diff.is_cut
    assert len(diff.rows) == MAX_ROWS


def trace(**changes) -> Trace:
    fields = {
        "spec_hash": "0" * 64, "comment": "hi", "reply": "hello", "is_fallback": False, "stop_reason": "reply",
        "messages": (), "conversation": Conversation(), "duration_ms": 100.0,
    }  # fmt: skip
    return Trace(**fields | changes)


def test_steps_stand_in_the_order_in_which_they_happened():
    model = [ModelCall(round=number, text="", finish_reason="stop", started_ms=50.0 * number) for number in (0, 1)]
    call = CallRecord(round=1, raw="", tool_name="get_price", status="ok", started_ms=30.0, duration_ms=10.0)

    def hook(event: str, started_ms: float) -> HookFiring:
        return HookFiring(hook_id=event, hook_name=event, event=event, action="", detail="", started_ms=started_ms)

    firings = (hook("Stop", 80.0), hook("PostToolUse", 40.0), hook("PreToolUse", 31.0), hook("UserPromptSubmit", 0.0))
    view = trace_view(trace(model_calls=tuple(model), calls=(call,), hook_firings=firings))
    assert [step.title for step in view.steps] == [
        "UserPromptSubmit", "The model writes", "PreToolUse", "get_price", "PostToolUse", "The model writes", "Stop",
    ]  # fmt: skip
    placed = view.steps[3].span
    assert placed is not None
    assert (placed.start, placed.width) == ("30.00%", "10.00%")


def test_an_error_of_a_call_is_shown_with_the_call_and_not_twice():
    error = TraceError(boundary="operation", code="not_found", message="No such item.", round=1)
    call = CallRecord(round=1, raw="", tool_name="get_price", status="failed", error=error)
    other = TraceError(boundary="platform", code="engine_timeout", message="Too slow.")
    view = trace_view(trace(calls=(call,)), [error.model_dump(), other.model_dump()])
    assert [(step.kind, step.label) for step in view.steps] == [("error", "Call"), ("error", "Error")]
