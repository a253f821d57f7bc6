"""What reading an uploaded harness gives: a spec with notes, or every problem found, each with the place and the mend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from harnesses.core.spec import HarnessSpec


class Problem(NamedTuple):
    """One thing wrong in the input: `where` names the file and field, `message` says what was found and what to do."""

    where: str
    message: str


class FormatError(ValueError):
    """The input is not a harness in the expected form; nothing was imported. `problems` lists all that was found."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(Problem(where, message) for where, message in problems)
        super().__init__("; ".join(f"{where}: {message}" if where else message for where, message in self.problems))


@dataclass(frozen=True)
class ImportResult:
    """A read harness. `notes` say, in words for the operator, what was matched, guessed or left out."""

    spec: HarnessSpec
    notes: tuple[str, ...] = ()
