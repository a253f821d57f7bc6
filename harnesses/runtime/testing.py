"""Stand-ins for the runtime's ports: a model that says what it is told to, operations in memory, a clock set by hand.

They are real implementations of the ports, for tests and for trying a harness without an engine or a shop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import (
    OperationCall,
    OperationCatalogue,
    OperationError,
    OperationResult,
    OperationSpec,
)
from harnesses.runtime.ports import ChatError, ChatReply, ChatRequest


@dataclass
class ScriptedChatClient:
    """Gives the scripted outputs one after the other (then the last one again); a ChatError among them is raised.

    `requests` keeps what was asked. With `delay_s` each output takes that long; streamed outputs come in `piece_chars` pieces.
    """

    outputs: Sequence[str | ChatError]
    delay_s: float = 0.0
    piece_chars: int = 4
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest, on_delta: Callable[[str], None] | None = None) -> ChatReply:
        output = self.outputs[min(len(self.requests), len(self.outputs) - 1)]
        self.requests.append(request)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if isinstance(output, ChatError):
            raise output
        if on_delta is not None:
            for start in range(0, len(output), self.piece_chars):
                on_delta(output[start : start + self.piece_chars])
        prompt_tokens = sum(len(message.content.split()) for message in request.messages)
        return ChatReply(
            text=output,
            finish_reason="stop",
            prompt_tokens=prompt_tokens,
            completion_tokens=len(output.split()),
            time_to_first_token_s=self.delay_s if on_delta is not None else None,
            duration_s=self.delay_s,
        )


Handler = Callable[[JsonObject], JsonObject | OperationError]


@dataclass
class MemoryOperations:
    """Operations given as functions from arguments to a result or an error. `calls` keeps what was executed, in order."""

    catalogue: OperationCatalogue
    handlers: Mapping[str, Handler]
    delay_s: float = 0.0
    calls: list[OperationCall] = field(default_factory=list)

    @classmethod
    def of(cls, *operations: tuple[OperationSpec, Handler], delay_s: float = 0.0) -> MemoryOperations:
        """From pairs of an operation and the function behind it."""
        return cls(
            {operation.name: operation for operation, _ in operations},
            {operation.name: handler for operation, handler in operations},
            delay_s,
        )

    async def execute(self, call: OperationCall) -> OperationResult:
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        self.calls.append(call)
        handler = self.handlers.get(call.operation)
        if handler is None:
            return OperationResult(error=OperationError("unavailable", "This is not available."))
        outcome = handler(call.arguments)
        if isinstance(outcome, OperationError):
            return OperationResult(error=outcome)
        return OperationResult(value=outcome)


@dataclass
class ManualClock:
    """A clock that stands still until it is moved."""

    now_s: float = 0.0

    def monotonic_s(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
