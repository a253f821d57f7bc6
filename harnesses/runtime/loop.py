"""The one agent loop: a viewer's comment in, a Trace out; the same for serving, evaluation and reinforcement learning.

Render, ask the model, make its calls, ask again, check the reply. Whatever the model, the harness, an operation or the engine does
wrong ends up in the Trace; only programming errors and cancellation are raised. Messages are never rewritten once sent, so a
trainer that tokenises `Trace.messages` sees what the engine saw.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harnesses.core.caching import cached_by_identity
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import TemplateError
from harnesses.runtime.call_formats import ParsedCall, parse_output
from harnesses.runtime.context_budget import CountTokens, TokenMeter, conversation_turns, kept_turns
from harnesses.runtime.delta_gate import DeltaGate
from harnesses.runtime.hooks import Additions, HookRunner, HookView, Outcome, Verdict
from harnesses.runtime.ports import ChatClient, ChatError, ChatReply, ChatRequest, Clock, Message, Operations
from harnesses.runtime.recorder import SystemClock, TurnEvent, TurnRecorder, TurnStopped
from harnesses.runtime.render import RenderedPrompt, render_prompt, system_text
from harnesses.runtime.results import write_response
from harnesses.runtime.tool_calls import CallRunner, tool_table
from harnesses.runtime.trace import Conversation, StopReason, Trace, TurnInput
from harnesses.runtime.wire_guard import guard_text, guard_values, storable_text

__all__ = ["TurnEvent", "run_turn"]

_logger = logging.getLogger(__name__)
_SYSTEM_CLOCK: Final = SystemClock()
ENGINE_STOPS: Final = {"hermes": ("<tool_response>",), "plain": ("\nRESULT ",)}
"""Where the engine must stop: a model that writes tool results itself is making them up."""
LAST_ROUND_NOTE: Final = "No more tool calls are possible for this comment. Answer the viewer now."


async def run_turn(
    spec: HarnessSpec,
    conversation: Conversation,
    turn: TurnInput,
    *,
    chat_client: ChatClient,
    operations: Operations,
    clock: Clock = _SYSTEM_CLOCK,
    seed: int | None = None,
    deadline_ms: int | None = None,
    on_event: Callable[[TurnEvent], None] | None = None,
    count_tokens: CountTokens | None = None,
) -> Trace:
    """Answer one comment.

    `deadline_ms` replaces the harness's own. `on_event` hears of everything while it happens. `count_tokens` is the deployed
    model's tokenizer (without it the context budget is estimated). Carry `Trace.conversation` into the next turn.
    """
    deadline_s = (spec.runtime.deadline_ms if deadline_ms is None else deadline_ms) / 1000
    recorder = TurnRecorder(clock, deadline_s, on_event)
    loop = _Turn(spec, conversation, turn, chat_client, operations, recorder, seed, count_tokens)
    try:
        await loop.run()
    except TurnStopped as stop:
        loop.stop(stop)
    except TemplateError as error:
        recorder.error("harness", error.code, str(error))
        loop.stop(TurnStopped(StopReason.HARNESS_ERROR))
    return loop.trace()


@cached_by_identity
def spec_hash_of(spec: HarnessSpec) -> str:
    """`spec.spec_hash`, worked out once per harness object."""
    return spec.spec_hash


class _Turn:
    """The state of one turn. `said` are this turn's messages, in the order and the very text in which they are sent."""

    def __init__(
        self,
        spec: HarnessSpec,
        conversation: Conversation,
        turn: TurnInput,
        chat_client: ChatClient,
        operations: Operations,
        recorder: TurnRecorder,
        seed: int | None,
        count_tokens: CountTokens | None,
    ) -> None:
        self.spec = spec
        self.turn = turn
        self.chat_client = chat_client
        self.recorder = recorder
        self.seed = seed
        self.meter = TokenMeter(count_tokens)
        self.comment = guard_text(turn.comment)
        self.context = guard_values(turn.context)
        self.hooks = HookRunner(spec, recorder.fired, recorder.errors.append)
        self.calls = CallRunner(
            spec, operations, self.hooks, recorder, comment=turn.comment, guarded_context=self.context
        )
        self.before = conversation
        self.session_tail = list(conversation.system_tail)
        self.turn_tail: list[str] = []
        self.result_suffix: list[str] = []
        self.turns = conversation_turns(conversation)
        self.dropped_turns = 0
        self.prompt = RenderedPrompt("", ())
        self.head: tuple[Message, ...] = ()
        self.said: list[Message] = []
        self.rounds = 0
        self.revisions = 0
        self.reply = ""
        self.is_fallback = False
        self.is_started = conversation.is_started
        self.answer: Message | None = None
        self.stop_reason = StopReason.REPLY

    # --- the course of a turn ------------------------------------------------------------------------------------------

    async def run(self) -> None:
        self._open()
        self.prompt = render_prompt(self.spec, self.context)
        while True:
            gate = self._gate()
            reply = await self._ask(gate)
            parsed = parse_output(self.spec.runtime.call_format, reply.text, tool_table(self.spec).parameters_of)
            if parsed.calls:
                await self._make_calls(reply.text, parsed.calls)
                continue
            if not parsed.reply_text:
                self.recorder.error("model", "empty_reply", "The model wrote nothing.", self.rounds)
                raise TurnStopped(StopReason.EMPTY_REPLY)
            outcome = self._check(parsed.reply_text)
            if outcome.verdict is None:
                if gate is not None:
                    gate.finish(parsed.reply_text)
                self._finish(StopReason.REPLY, parsed.reply_text, reply.text)
                return
            self._revise(outcome.verdict, outcome.additions, reply.text)

    def _open(self) -> None:
        """The hooks before the first model call, and the viewer's message."""
        start = Additions()
        view = HookView(self.context, self.turn.comment)
        if not self.is_started:
            start = self.hooks.run("SessionStart", HookView(self.context)).additions
            self.session_tail += start.system_tail
            self.is_started = True
        submitted = self.hooks.run("UserPromptSubmit", view)
        if submitted.denial is not None:
            raise TurnStopped(StopReason.BLOCKED, submitted.denial)
        added = submitted.additions
        self.turn_tail += added.system_tail
        self.result_suffix = start.tool_result_suffix + added.tool_result_suffix
        lines = [*start.user_prefix, *added.user_prefix, self.comment, *start.user_suffix, *added.user_suffix]
        self.said.append(Message(role="user", content="\n".join(lines)))

    async def _make_calls(self, text: str, calls: tuple[ParsedCall, ...]) -> None:
        """One round: all calls of one output, and one message with their results."""
        if self.rounds >= self.spec.runtime.max_tool_rounds:
            limit = self.spec.runtime.max_tool_rounds
            self.recorder.error("model", "round_limit", f"The model called a tool after {limit} rounds.", self.rounds)
            raise TurnStopped(StopReason.ROUND_LIMIT)
        self.rounds += 1
        responses: list[str] = []
        added = Additions()
        stopped: TurnStopped | None = None
        for call in calls:
            done = len(self.recorder.calls)
            try:
                response = await self.calls.run(call, self.rounds)
            except TurnStopped as stop:
                stopped = stop
                shown = [f"ERROR {record.shown_result}" for record in self.recorder.calls[done:]]
                responses += [write_response(self.spec.runtime.call_format, call.name, line) for line in shown]
                break
            responses.append(write_response(self.spec.runtime.call_format, response.name, response.text))
            added.take_from(response.additions)
        self.turn_tail += added.system_tail
        suffix, self.result_suffix = self.result_suffix + added.tool_result_suffix, []
        is_last = self.rounds == self.spec.runtime.max_tool_rounds
        note = [LAST_ROUND_NOTE] if is_last and stopped is None else []
        lines = [*added.user_prefix, *responses, *suffix, *added.user_suffix, *note]
        self.said += [Message(role="assistant", content=text), Message(role="user", content="\n".join(lines))]
        if stopped is not None:
            raise stopped

    def _check(self, reply_text: str) -> Outcome:
        """The Stop hooks. What they add to the system prompt holds from the next turn on."""
        view = HookView(self.context, self.turn.comment, reply=reply_text, round=self.rounds)
        outcome = self.hooks.run("Stop", view)
        self.session_tail += [text for text in outcome.additions.system_tail if text not in self.session_tail]
        return outcome

    def _revise(self, verdict: Verdict, added: Additions, text: str) -> None:
        """Act on a reply that broke a rule: ask for another one, or end the turn."""
        if verdict.kind == "block":
            raise TurnStopped(StopReason.BLOCKED)
        if verdict.kind == "replace":
            raise TurnStopped(StopReason.BLOCKED, verdict.text or None)
        if self.revisions >= self.spec.runtime.max_revisions:
            self.recorder.error("model", "revision_limit", "The model did not mend its reply.", self.rounds)
            raise TurnStopped(StopReason.REVISION_LIMIT)
        self.revisions += 1
        message = verdict.text or "Write the answer again so that it keeps to the rules."
        lines = [*added.user_prefix, message, *added.user_suffix]
        self.said += [Message(role="assistant", content=text), Message(role="user", content="\n".join(lines))]

    # --- asking the model ----------------------------------------------------------------------------------------------

    def _gate(self) -> DeltaGate | None:
        """Where pieces of the output go as they come; None where nobody listens or a hook may still change the reply."""
        view = HookView(self.context, self.turn.comment)
        if self.recorder.on_event is None or self.hooks.could_change_reply(view):
            return None
        round_number = self.rounds
        return DeltaGate(lambda text: self.recorder.emit("delta", round=round_number, text=text))

    async def _ask(self, gate: DeltaGate | None) -> ChatReply:
        messages = self._prompt()
        remaining_s = self.recorder.remaining_s()
        if remaining_s <= 0:
            raise self._out_of_time()
        settings = self.spec.runtime
        request = ChatRequest(
            messages=messages,
            max_tokens=settings.max_reply_tokens,
            temperature=settings.temperature,
            timeout_s=remaining_s,
            seed=self.seed,
            stop=ENGINE_STOPS[settings.call_format],
        )
        started_ms = self.recorder.now_ms()
        try:
            async with asyncio.timeout(remaining_s) as timeout:
                reply = await self.chat_client.complete(request, None if gate is None else gate.add)
        except ChatError as error:
            raise self._engine_failed(error, started_ms) from error
        except TimeoutError as error:
            failure = ChatError("timeout", "The engine did not answer in time.")
            raise self._engine_failed(failure, started_ms, is_late=timeout.expired()) from error
        except Exception as error:
            _logger.exception("the chat client raised")
            failure = ChatError("garbage", f"The chat client failed: {error!r}.")
            raise self._engine_failed(failure, started_ms) from error
        reply = replace(reply, text=storable_text(reply.text))
        self.recorder.asked(self.rounds, reply, started_ms)
        return reply

    def _prompt(self) -> tuple[Message, ...]:
        """Everything to send: the system prompt, examples, the newest old turns that fit, and this turn."""
        system = system_text(self.prompt, (*self.session_tail, *self.turn_tail))
        head = (*((Message(role="system", content=system),) if system else ()), *self.prompt.examples)
        settings = self.spec.runtime
        budget = settings.context_budget_tokens - settings.max_reply_tokens
        kept = kept_turns(self.turns, [*head, *self.said], budget_tokens=budget, meter=self.meter)
        if kept is None:
            message = (
                f"Prompt and reply need more than context_budget_tokens ({settings.context_budget_tokens:,}). "
                "Shorten the harness, raise the budget, or lower max_reply_tokens."
            )
            self.recorder.error("harness", "context_overflow", message, self.rounds)
            raise TurnStopped(StopReason.CONTEXT_OVERFLOW)
        self.dropped_turns += len(self.turns) - len(kept)
        self.turns = kept
        self.head = (*head, *(message for turn in kept for message in turn))
        return (*self.head, *self.said)

    def _out_of_time(self) -> TurnStopped:
        message = f"The turn took longer than its {self.recorder.deadline_s * 1000:,.0f} ms."
        self.recorder.error("platform", "deadline", message, self.rounds)
        return TurnStopped(StopReason.DEADLINE)

    def _engine_failed(self, error: ChatError, started_ms: float, *, is_late: bool = False) -> TurnStopped:
        spent_s = (self.recorder.now_ms() - started_ms) / 1000
        self.recorder.asked(self.rounds, ChatReply(text="", finish_reason=error.kind, duration_s=spent_s), started_ms)
        if is_late or (error.kind == "timeout" and self.recorder.remaining_s() <= 0):
            return self._out_of_time()
        self.recorder.error("platform", f"engine_{error.kind}", error.message, self.rounds)
        if error.kind == "rejected" and "context length" in error.message.lower():
            return TurnStopped(StopReason.CONTEXT_OVERFLOW)
        return TurnStopped(StopReason.ENGINE_ERROR)

    # --- the end -------------------------------------------------------------------------------------------------------

    def stop(self, stop: TurnStopped) -> None:
        """End the turn with a hook's text or the fallback reply."""
        self.is_fallback = stop.text is None
        text = self.spec.runtime.fallback_reply if stop.text is None else stop.text
        self._finish(stop.reason, text, text)

    def _finish(self, reason: StopReason, reply: str, answer: str) -> None:
        self.stop_reason, self.reply = reason, reply
        self.answer = Message(role="assistant", content=answer)
        self.recorder.emit("reply", reply=reply, is_fallback=self.is_fallback, stop_reason=reason.value)

    def trace(self) -> Trace:
        assert self.answer is not None
        recorder = self.recorder
        calls = recorder.model_calls
        first = calls[-1].time_to_first_token_ms if calls else None
        return Trace(
            spec_hash=spec_hash_of(self.spec),
            comment=storable_text(self.turn.comment),
            reply=self.reply,
            is_fallback=self.is_fallback,
            stop_reason=self.stop_reason,
            messages=(*self.head, *self.said, self.answer),
            conversation=self._conversation(),
            model_calls=tuple(calls),
            calls=tuple(recorder.calls),
            hook_firings=tuple(recorder.firings),
            actions=tuple(recorder.actions),
            errors=tuple(recorder.errors),
            duration_ms=recorder.now_ms(),
            engine_ms=sum(call.duration_ms for call in calls),
            operations_ms=recorder.operations_ms,
            time_to_first_token_ms=None if first is None else calls[-1].started_ms + first,
            prompt_tokens=_total([call.prompt_tokens for call in calls]),
            completion_tokens=_total([call.completion_tokens for call in calls]),
            dropped_turns=self.dropped_turns,
        )

    def _conversation(self) -> Conversation:
        """What to carry on. A comment that a hook refused never reaches the model, in later turns neither."""
        assert self.answer is not None
        turns = [*self.turns, (*self.said, self.answer)] if self.said else self.turns
        starts: list[int] = []
        messages: list[Message] = []
        for turn in turns:
            starts.append(len(messages))
            messages += turn
        loaded = dict.fromkeys((*self.before.loaded_skills, *self.calls.loaded_skills))
        return Conversation(
            messages=tuple(messages),
            system_tail=tuple(self.session_tail),
            loaded_skills=tuple(loaded),
            turn_starts=tuple(starts),
            is_started=self.is_started,
        )


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
