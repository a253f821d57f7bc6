"""What the agent loop needs from outside: a chat client, operations and a clock; each has a stand-in for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from harnesses.core.operations import OperationCall, OperationCatalogue, OperationResult


class Message(BaseModel):
    """One chat message exactly as it is sent to the engine."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One request to the engine. `timeout_s` is what is left of the turn's deadline."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    timeout_s: float
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChatReply:
    """What the engine wrote. Token counts are the engine's own; None where it does not tell. Times in seconds."""

    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    time_to_first_token_s: float | None = None
    duration_s: float = 0.0


class ChatError(Exception):
    """The engine gave no usable reply. `kind` says how; the message says what to do."""

    def __init__(
        self, kind: Literal["unreachable", "timeout", "overloaded", "rejected", "garbage"], message: str
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class ChatClient(Protocol):
    """An OpenAI-compatible chat model."""

    async def complete(self, request: ChatRequest, on_delta: Callable[[str], None] | None = None) -> ChatReply:
        """Ask for one reply; with `on_delta`, pieces of text are handed over as they come. Raises ChatError."""
        ...


class Operations(Protocol):
    """The platform behind the tools, holding the state of one room."""

    @property
    def catalogue(self) -> OperationCatalogue: ...

    async def execute(self, call: OperationCall) -> OperationResult:
        """Run one operation. Faults of the platform come back as an OperationError (`unavailable`), never as an exception."""
        ...


class Clock(Protocol):
    def monotonic_s(self) -> float: ...
