"""Fitting a prompt into the context budget: whole old turns are dropped first, never half of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from harnesses.runtime.ports import Message
from harnesses.runtime.trace import Conversation

CHARS_PER_TOKEN: Final = 3.5
"""Estimate where no tokenizer is at hand."""
MESSAGE_OVERHEAD_TOKENS: Final = 5
"""Marks around each message, and the opening of the reply, in ChatML-like templates."""

CountTokens = Callable[[str], int]


class TokenMeter:
    """Counts messages, each text once."""

    def __init__(self, count_tokens: CountTokens | None) -> None:
        self._count_tokens = count_tokens
        self._known: dict[str, int] = {}

    def size(self, messages: Sequence[Message]) -> int:
        """Tokens of a list of messages."""
        return sum(self._tokens(message.content) + MESSAGE_OVERHEAD_TOKENS for message in messages)

    def fits(self, messages: Sequence[Message], budget_tokens: int) -> bool:
        """Whether the messages take at most so many tokens. No text is counted when its bytes alone say yes."""
        most = sum(len(message.content.encode()) + MESSAGE_OVERHEAD_TOKENS for message in messages)
        return most <= budget_tokens or self.size(messages) <= budget_tokens

    def _tokens(self, text: str) -> int:
        if text not in self._known:
            estimate = math.ceil(len(text) / CHARS_PER_TOKEN)
            self._known[text] = self._count_tokens(text) if self._count_tokens else estimate
        return self._known[text]


def conversation_turns(conversation: Conversation) -> list[tuple[Message, ...]]:
    """The messages of a conversation, turn by turn; without recorded starts every user message opens one."""
    messages = conversation.messages
    starts = [start for start in conversation.turn_starts if 0 <= start < len(messages)]
    if not starts:
        starts = [index for index, message in enumerate(messages) if message.role == "user"]
    bounds = sorted({0, *starts, len(messages)})
    return [messages[low:high] for low, high in pairwise(bounds)]


def kept_turns(
    turns: Sequence[tuple[Message, ...]],
    fixed: Sequence[Message],
    *,
    budget_tokens: int,
    meter: TokenMeter,
) -> list[tuple[Message, ...]] | None:
    """The newest turns that fit beside the `fixed` messages; None if even those alone do not fit."""
    if meter.fits([*fixed, *(message for turn in turns for message in turn)], budget_tokens):
        return list(turns)
    left = budget_tokens - meter.size(fixed)
    if left < 0:
        return None
    kept: list[tuple[Message, ...]] = []
    for turn in reversed(turns):
        left -= meter.size(turn)
        if left < 0:
            break
        kept.insert(0, turn)
    return kept
