"""Deciding which pieces of a streamed output can already be shown: only what is certainly reply text, never part of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harnesses.core.call_writing import HERMES_CLOSE, HERMES_OPEN, PLAIN_MARK

_MARKS: Final = (HERMES_OPEN, HERMES_CLOSE, PLAIN_MARK)
_CALL_OPENINGS: Final = ("<", "{", "`", "*", "-", '"')
"""First characters after which an output may still turn out to be a call."""


class DeltaGate:
    """Passes on the text of an output piece by piece; together the pieces are the reply, without white space around it.

    From a mark that may begin a call on, everything is held back until `finish` says that it was none.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._text = ""
        self._shown = 0
        self._is_open = True

    def add(self, piece: str) -> None:
        """The next piece as the engine sent it."""
        self._text += piece
        if not self._is_open:
            return
        start = len(self._text) - len(self._text.lstrip())
        if self._text[start : start + 1] in _CALL_OPENINGS:
            self._is_open = False
            return
        marks = [position for mark in _MARKS if (position := self._text.find(mark)) >= 0]
        if marks:
            self._is_open = False
        self._show_until(min([*marks, self._safe_end()]))

    def finish(self, reply: str) -> None:
        """The output was a reply: show what was held back."""
        rest = reply[self._shown :]
        self._shown = len(reply)
        if rest:
            self._show(rest)

    def _safe_end(self) -> int:
        """Up to here no mark can begin, and the white space is not trailing."""
        end = len(self._text)
        for mark in _MARKS:
            for size in range(min(len(mark) - 1, len(self._text)), 0, -1):
                if self._text.endswith(mark[:size]):
                    end = min(end, len(self._text) - size)
                    break
        return end

    def _show_until(self, end: int) -> None:
        visible = self._text[:end].strip()
        piece = visible[self._shown :]
        if piece:
            self._shown = len(visible)
            self._show(piece)
