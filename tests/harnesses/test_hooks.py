"""Hooks: every action at every event, conditions, wrappers and slots."""

from __future__ import annotations

from typing import Any

import pytest

from harnesses.core.checks_hooks import ACTIONS_BY_EVENT
from harnesses.core.spec import AddContext, CheckReply, Condition, Deny, Hook, HookAction, ReplaceOutput, RewriteInput
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.runtime.hooks import HookView, fires, holds, wrapped
from harnesses.runtime.testing import ScriptedChatClient
from harnesses.runtime.trace import StopReason
from tests.harnesses.runtime_worlds import answer, shop_operations, shop_spec

CALL = "CALL get_price; item: K07"


def hook(event: Any, action: HookAction, *when: Condition, matcher: tuple[str, ...] = (), hook_id: str = "h") -> Hook:
    return Hook(id=hook_id, name="house rule", event=event, action=action, when=when, matcher=matcher)


def add(slot: Any, text: str = "Mind the rule.", wrapper: Any = "none") -> AddContext:
    return AddContext(text=text, slot=slot, wrapper=wrapper)


async def requests(*hooks: Hook, outputs: tuple[str, ...] = (CALL, "129 yuan.")) -> list[list[str]]:
    """The texts of the messages of every request of a turn with these hooks."""
    client = ScriptedChatClient(outputs)
    await answer(shop_spec(*hooks), client=client)
    return [[message.content for message in request.messages] for request in client.requests]


# --- added context -----------------------------------------------------------------------------------------------------


async def test_context_at_session_start_and_at_the_comment_reaches_the_first_request() -> None:
    for event in ("SessionStart", "UserPromptSubmit"):
        assert (await requests(hook(event, add("system_tail"))))[0][0].endswith("\n\nMind the rule.")
        assert (await requests(hook(event, add("user_prefix"))))[0][1] == "Mind the rule.\nHow much is K07?"
        assert (await requests(hook(event, add("user_suffix"))))[0][1] == "How much is K07?\nMind the rule."
        first, second = await requests(hook(event, add("tool_result_suffix")))
        assert "Mind the rule." not in "".join(first)
        assert second[-1].endswith("\nMind the rule.")


async def test_context_around_a_tool_call_reaches_the_next_request() -> None:
    for event in ("PreToolUse", "PostToolUse"):
        first, second = await requests(hook(event, add("system_tail")))
        assert "Mind the rule." not in first[0]
        assert second[0].endswith("\n\nMind the rule.")
        assert (await requests(hook(event, add("user_prefix"))))[1][-1].startswith("Mind the rule.\nRESULT get_price:")
        for slot in ("tool_result_suffix", "user_suffix"):
            last = (await requests(hook(event, add(slot))))[1][-1]
            assert last.startswith("RESULT get_price:")
            assert last.endswith("\nMind the rule.")


async def test_context_at_stop_holds_from_the_next_turn_on() -> None:
    spec = shop_spec(hook("Stop", add("system_tail")))
    trace = await answer(spec, "Hello.")
    assert "Mind the rule." not in trace.messages[0].content
    later = await answer(spec, "Hello again.", conversation=trace.conversation)
    assert later.messages[0].content.endswith("Mind the rule.")
    assert later.conversation.system_tail == ("Mind the rule.",)


async def test_session_start_fires_once_a_session_and_its_context_stays() -> None:
    spec = shop_spec(hook("SessionStart", add("system_tail", "Room {{ room.title }}.")))
    first = await answer(spec, "Hello.")
    second = await answer(spec, "Hello again.", conversation=first.conversation)
    assert [len(trace.hook_firings) for trace in (first, second)] == [1, 0]
    assert first.messages[0] == second.messages[0]
    assert second.messages[0].content.endswith("Room Autumn knits.")


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [
        ("none", "one\ntwo"),
        ("tag", "<house_rule>\none\ntwo\n</house_rule>"),
        ("bracket", "[house rule] one\ntwo"),
        ("quote", "> house rule: one\n> two"),
    ],
)
def test_wrappers(wrapper: str, expected: str) -> None:
    assert wrapped("one\ntwo", wrapper, "house rule") == expected


async def test_hook_texts_follow_renames() -> None:
    texts = await requests(hook("UserPromptSubmit", add("user_suffix", 'Use {{ tool("price") }}.', "bracket")))
    assert texts[0][1] == "How much is K07?\n[house rule] Use get_price."


# --- denying and changing ----------------------------------------------------------------------------------------------


async def test_a_denied_comment_never_reaches_the_model_now_or_later() -> None:
    rule = Condition(field="comment", op="contains_any", values=("Password",))
    spec = shop_spec(hook("UserPromptSubmit", Deny(reason="I do not talk about that."), rule))
    client = ScriptedChatClient(["Hello."])
    trace = await answer(spec, client=client, comment="tell me the PASSWORD")
    assert (trace.stop_reason, trace.reply, trace.is_fallback) == (
        StopReason.BLOCKED,
        "I do not talk about that.",
        False,
    )
    assert client.requests == []
    assert trace.conversation.messages == ()
    assert (await answer(spec, client=client, conversation=trace.conversation)).stop_reason == StopReason.REPLY


async def test_a_denied_call_is_not_made_and_the_model_is_told_why() -> None:
    operations = shop_operations()
    rule = Condition(field="argument", path="item_id", op="equals_any", values=("k07",))
    spec = shop_spec(hook("PreToolUse", Deny(reason="Not this item."), rule, matcher=("price",)))
    trace = await answer(spec, CALL, "Sorry.", operations=operations)
    assert operations.calls == []
    assert [(call.status, call.operation_arguments) for call in trace.calls] == [
        ("denied", {"item_id": "K07", "currency": "CNY"})
    ]
    assert trace.messages[-2].content == "RESULT get_price: ERROR Not this item."
    assert [(firing.hook_name, firing.event) for firing in trace.hook_firings] == [("house rule", "PreToolUse")]
    assert trace.errors == ()


async def test_rewriting_the_input_changes_what_the_operation_gets() -> None:
    operations = shop_operations()
    spec = shop_spec(hook("PreToolUse", RewriteInput(set={"currency": "USD"})))
    trace = await answer(spec, CALL, "129.", operations=operations)
    assert operations.calls[0].arguments == {"item_id": "K07", "currency": "USD"}
    assert trace.calls[0].operation_arguments == operations.calls[0].arguments
    assert '"currency": "dollar"' in trace.calls[0].shown_result


async def test_replacing_output_changes_what_the_model_sees_but_not_the_record() -> None:
    rule = Condition(field="result", path="stock", op="below", values=(5,))
    spec = shop_spec(hook("PostToolUse", ReplaceOutput(set={"price": 99}, drop=("stock",)), rule))
    trace = await answer(spec, CALL, "99.")
    assert trace.calls[0].shown_result == '{"cost": 99, "currency": "yuan"}'
    assert trace.calls[0].operation_result == {"stock": 3, "price": 129, "currency": "CNY"}


async def test_hooks_run_in_order_and_see_what_earlier_ones_did() -> None:
    operations = shop_operations()
    spec = shop_spec(
        hook("PreToolUse", RewriteInput(set={"item_id": "K99"}), hook_id="first"),
        hook(
            "PreToolUse",
            Deny(reason="No K99."),
            Condition(field="argument", path="item_id", op="equals_any", values=("K99",)),
            hook_id="second",
        ),
        hook("PreToolUse", RewriteInput(set={"item_id": "K01"}), hook_id="third"),
    )
    trace = await answer(spec, CALL, "Sorry.", operations=operations)
    assert [firing.hook_id for firing in trace.hook_firings] == ["first", "second"]
    assert operations.calls == []


# --- checking the reply ------------------------------------------------------------------------------------------------


def check(on_violation: Any, mode: Any = "forbid", **texts: str) -> Hook:
    return hook("Stop", CheckReply(mode=mode, phrases=("guarantee",), on_violation=on_violation, **texts))


async def test_block_sends_the_fallback() -> None:
    spec = shop_spec(check("block"))
    trace = await answer(spec, "I GUARANTEE it.")
    assert (trace.stop_reason, trace.reply) == (StopReason.BLOCKED, spec.runtime.fallback_reply)
    assert trace.is_fallback
    assert trace.conversation.messages[-1].content == trace.reply
    assert trace.model_calls[0].text == "I GUARANTEE it."


async def test_replace_sends_the_hook_text() -> None:
    trace = await answer(shop_spec(check("replace", replacement="Ask {{ host.name }}.")), "I guarantee it.")
    assert (trace.stop_reason, trace.reply, trace.is_fallback) == (StopReason.BLOCKED, "Ask Mara.", False)


async def test_revise_asks_again_and_takes_a_mended_reply() -> None:
    client = ScriptedChatClient(["I guarantee it.", "It may fit."])
    trace = await answer(shop_spec(check("revise", message="No promises.")), client=client)
    assert (trace.stop_reason, trace.reply) == (StopReason.REPLY, "It may fit.")
    assert [m.content for m in client.requests[1].messages[-2:]] == ["I guarantee it.", "No promises."]


async def test_revise_gives_up_after_max_revisions() -> None:
    client = ScriptedChatClient(["I guarantee it."])
    trace = await answer(shop_spec(check("revise"), max_revisions=2), client=client)
    assert (trace.stop_reason, trace.is_fallback, len(client.requests)) == (StopReason.REVISION_LIMIT, True, 3)
    trace = await answer(shop_spec(check("revise"), max_revisions=0), "I guarantee it.")
    assert trace.stop_reason == StopReason.REVISION_LIMIT


async def test_require_wants_one_of_the_phrases() -> None:
    spec = shop_spec(check("block", mode="require"))
    assert (await answer(spec, "I guarantee it.")).stop_reason == StopReason.REPLY
    assert (await answer(spec, "Perhaps.")).stop_reason == StopReason.BLOCKED


async def test_a_revised_output_may_call_a_tool_first() -> None:
    trace = await answer(shop_spec(check("revise", message="Look it up.")), "I guarantee 10.", CALL, "129 yuan.")
    assert (trace.stop_reason, trace.reply, len(trace.calls)) == (StopReason.REPLY, "129 yuan.", 1)


# --- conditions --------------------------------------------------------------------------------------------------------

VIEW = HookView(
    SAMPLE_CONTEXT,
    comment="Is the Cardigan warm?",
    reply="Very.",
    arguments={"item": {"id": "K07"}, "count": 2, "tags": ["Wool", "soft"], "is_gift": True},
    result={"lines": [{"price": 5}, {"price": 9}]},
)


@pytest.mark.parametrize(
    ("field", "path", "op", "values", "expected"),
    [
        ("comment", None, "contains_any", ("CARDIGAN", "x"), True),
        ("comment", None, "contains_none", ("cardigan",), False),
        ("comment", None, "equals_any", ("is the cardigan warm?",), True),
        ("reply", None, "equals_none", ("very.",), False),
        ("argument", ("item", "id"), "equals_any", ("k07",), True),
        ("argument", "count", "equals_any", (2.0,), True),
        ("argument", "count", "above", (1,), True),
        ("argument", "count", "above", (2,), False),
        ("argument", "count", "below", (3,), True),
        ("argument", "tags", "contains_any", ("woo",), True),
        ("argument", "tags", "equals_any", ("wool",), True),
        ("argument", "is_gift", "equals_any", (1,), False),
        ("argument", "is_gift", "above", (0,), False),
        ("argument", "nothing", "exists", (), False),
        ("argument", "nothing", "missing", (), True),
        ("argument", "nothing", "contains_none", ("a",), True),
        ("argument", "nothing", "below", (5,), False),
        ("result", ("lines", "price"), "equals_any", (9,), True),
        ("context", ("item", "id"), "equals_any", ("K07",), True),
        ("context", ("item", "id", "deeper"), "missing", (), True),
    ],
)
def test_conditions(field: Any, path: Any, op: Any, values: tuple[Any, ...], expected: bool) -> None:
    assert holds(Condition(field=field, path=path, op=op, values=values), VIEW) is expected


def test_all_conditions_and_the_matcher_must_hold() -> None:
    yes = Condition(field="comment", op="exists")
    no = Condition(field="comment", op="missing")
    view = HookView({}, comment="a", tool_id="price")
    action = Deny(reason="x")
    assert fires(hook("PreToolUse", action, yes, yes, matcher=("card", "price")), view)
    assert not fires(hook("PreToolUse", action, yes, no), view)
    assert not fires(hook("PreToolUse", action, yes, matcher=("card",)), view)


# --- what does not fit -------------------------------------------------------------------------------------------------

ACTIONS: dict[str, HookAction] = {
    "add_context": add("system_tail"),
    "deny": Deny(reason="No."),
    "rewrite_input": RewriteInput(set={"currency": "USD"}),
    "replace_output": ReplaceOutput(drop=("price",)),
    "check_reply": CheckReply(mode="forbid", phrases=("129",), on_violation="block"),
}


@pytest.mark.parametrize("event", list(ACTIONS_BY_EVENT))
@pytest.mark.parametrize("action", list(ACTIONS))
async def test_every_action_at_every_event_acts_or_is_reported_as_misplaced(event: str, action: str) -> None:
    trace = await answer(shop_spec(hook(event, ACTIONS[action])), CALL, "129 yuan.")
    fired = [firing.action for firing in trace.hook_firings]
    if action in ACTIONS_BY_EVENT[event]:
        assert fired == [action]
        assert trace.errors == ()
    else:
        assert fired == []
        assert {(error.boundary, error.code) for error in trace.errors} == {("harness", "hook_misplaced")}
        assert trace.reply == "129 yuan."


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"])
async def test_a_hook_text_that_cannot_be_filled_in_ends_the_turn_honestly(event: str) -> None:
    spec = shop_spec(hook(event, add("user_prefix", "{{ nobody }}")))
    trace = await answer(spec, "CALL show_card; item: K07", "Shown.")
    assert (trace.stop_reason, trace.is_fallback) == (StopReason.HARNESS_ERROR, True)
    assert any('Hook "h"' in error.message for error in trace.errors)
    assert len(trace.actions) == (1 if event in ("PostToolUse", "Stop") else 0)
    assert trace.conversation.is_started is (event != "SessionStart")
