"""Changing a harness by edits: each names what it changes, and leaves everything else alone.

    {"op": "set", "kind", "id", "fields": {path: value}, "unset": [path]}
    {"op": "add", "kind", "component": {…}, "after": id | null}          without "after": at the end
    {"op": "remove", "kind", "id"}
    {"op": "move", "kind", "id", "after": id | null}                     null: to the top
    {"op": "rename", "kind", "id", "name", "follow": true | false}       follow: mentions are renamed too
    {"op": "replace_text", "find", "replace", "is_case_sensitive", "kinds": […] | null}

Kinds are prompt, skill, tool, hook, example and runtime (whose id is of no account). Paths are as in `harnesses.core.fieldpaths`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from harnesses.core.editing.copies import CopiedComponent, copy_component, fresh_id, fresh_name, tool_from_operation
from harnesses.core.editing.mentions import Mention, count_references, find_mentions
from harnesses.core.editing.operations import EditProblem, perform
from harnesses.core.editing.search import FoundLine, search_text
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.parsing import SpecInputError, spec_from_document
from harnesses.core.schemas import shown
from harnesses.core.spec import HarnessSpec

__all__ = [
    "MAX_EDITS",
    "CopiedComponent",
    "EditError",
    "Edited",
    "FoundLine",
    "Mention",
    "apply_edits",
    "copy_component",
    "count_references",
    "find_mentions",
    "fresh_id",
    "fresh_name",
    "search_text",
    "tool_from_operation",
]

MAX_EDITS: Final = 500


class EditError(ValueError):
    """An edit that cannot be made. `index` counts the edits from 0, `path` is the field of the edit at fault ("fields.name")."""

    def __init__(self, index: int, path: str, message: str, mend: str) -> None:
        super().__init__(f"{message} {mend}".strip())
        self.index = index
        self.path = path
        self.message = message
        self.mend = mend


@dataclass(frozen=True)
class Edited:
    """A harness after edits, and what each of them did, in a line."""

    spec: HarnessSpec
    applied: tuple[str, ...]


def apply_edits(spec: HarnessSpec, edits: JsonValue) -> Edited:
    """Make the edits one after the other; all of them or none. Raises EditError for the first that cannot be made."""
    if not isinstance(edits, list | tuple):
        raise EditError(0, "", f"The edits are a list, not {shown(edits)}.", "Give a list of edits.")
    if len(edits) > MAX_EDITS:
        raise EditError(
            MAX_EDITS, "", f"There are {len(edits):,} edits; the limit is {MAX_EDITS}.", "Send fewer at once."
        )
    document = spec.document()
    applied = []
    for index, edit in enumerate(edits):
        try:
            applied.append(perform(document, edit))
        except EditProblem as problem:
            raise EditError(index, problem.path, problem.message, problem.mend) from problem
    try:
        return Edited(spec_from_document(document), tuple(applied))
    except SpecInputError as error:
        raise _first_at_fault(spec, edits, error) from error


def _first_at_fault(spec: HarnessSpec, edits: Sequence[JsonValue], error: SpecInputError) -> EditError:
    """The first edit after which the document is no harness any more."""
    document: JsonObject = spec.document()
    for index, edit in enumerate(edits):
        perform(document, edit)
        try:
            spec_from_document(deepcopy(document))
        except SpecInputError as found:
            problem = found.problems[0]
            return EditError(index, problem.path, str(problem), "")
    return EditError(len(edits) - 1, "", str(error), "")
