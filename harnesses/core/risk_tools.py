"""What a change of a tool is: judged by what the harness can do before and after, not by the texts.

A change inside a tool preserves the task if the tool's doors (`harnesses.core.reach`) admit the same calls as before, or if
what it lost or gained is (or was) reached through other tools. Otherwise the changes of those arguments that differ are
`capability` changes, and the rest keep their family.
"""

from __future__ import annotations

from functools import cached_property

from harnesses.core.binding_diff import Keys
from harnesses.core.changes import Change
from harnesses.core.families import Judgement, has_same_words
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.operations import OperationCatalogue
from harnesses.core.reach import SHOWN, WHOLE, Difference, change_in_words, compare_doors, doors_to, tool_doors
from harnesses.core.risk_meanings import guard_left_behind, meaning_changed, tool_name_taken
from harnesses.core.schemas import is_required, same_json, schema_at
from harnesses.core.spec import HarnessSpec, Tool

_PARAMETER = "input_schema.properties."
_CASE = "binding.cases."
_UNIT_KEYS = (
    "type",
    "format",
    "conversion",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
)
_TEXT_KEYS = ("description", "title", "examples", "$comment")
_SAME_CALLS = "The model can make the same calls as before, and they mean the same."
_STRIPPED = "The task stays the same, but the model loses a cue: it must now go by the name. Test before release."
_PARAPHRASE = "The words changed. Whether the meaning stayed is for a person or an evaluation to tell."
_SAME_WORDS = "Only white space or capital letters changed; the words are the same."
_DEFAULT_SAID = (
    "The model reads another default than before. What the platform receives when it leaves the argument out is for the binding "
    "and the operation to say, and stays the same: check that the two agree."
)
_UNCLEAR = "The schema uses rules that cannot be compared for certain. Check that the same calls are still possible."


class ToolJudge:
    """Judges the tool changes between two harnesses over one catalogue of operations."""

    def __init__(self, old: HarnessSpec, new: HarnessSpec, catalogue: OperationCatalogue) -> None:
        self._old, self._new, self._catalogue = old, new, catalogue

    @cached_property
    def reach(self) -> dict[str, Difference]:
        """What differs for each operation, all tools of a harness together."""
        return {
            name: compare_doors(
                doors_to(name, self._old.tools, self._catalogue),
                doors_to(name, self._new.tools, self._catalogue),
                operation,
            )
            for name, operation in self._catalogue.items()
        }

    def judge(self, change: Change) -> Judgement:
        """The family of one change, and whether it preserves the task."""
        judgement = self._judge(change)
        guard = ""
        if (change.action, change.field) == ("added", "") or change.field.startswith("binding"):
            guard = guard_left_behind(self._old, self._new, change.component_id, self._catalogue)
        if guard and judgement.preserving == "not_preserving":
            return judgement._replace(reason=f"{judgement.reason} {guard}")
        if guard:
            return Judgement("policy", "not_preserving", guard)
        trap = self._trap(change) if judgement.preserving == "preserving" else ""
        return Judgement(judgement.family, "unknown", trap) if trap else judgement

    def _trap(self, change: Change) -> str:
        if change.field == "name":
            return tool_name_taken(change, self._old)
        old, new = self._old.tool(change.component_id), self._new.tool(change.component_id)
        return meaning_changed(change, old, new) if old is not None and new is not None else ""

    def _judge(self, change: Change) -> Judgement:
        if change.action == "reordered" and change.field in ("order", "parameter_order"):
            return Judgement("T4", "preserving", "The model reads the same things in another order.")
        old, new = self._old.tool(change.component_id), self._new.tool(change.component_id)
        if change.field == "":
            return self._judge_whole(change, old or new)
        assert old is not None
        assert new is not None
        if change.field == "name":
            reason = (
                "Only the name changed; the tool still stands for the same operation, and texts that mention it follow."
            )
            return Judgement("T1", "preserving", reason)
        if change.field.split(".")[0] in ("output_schema", "annotations"):
            return Judgement(None, "preserving", "The model never sees this field.")
        if change.field in ("title", "description") or _is_schema_text(change.field):
            return _judge_text(change, new)
        return self._judge_inner(change, old, new)

    # --- whole tools and cases -------------------------------------------------------------------------------------------

    def _judge_whole(self, change: Change, tool: Tool | None) -> Judgement:
        doors = tool_doors(tool, self._catalogue)
        if not doors:
            what = "can do nothing: it is connected to no operation" if tool and tool.binding is None else _NO_DOOR
            return Judgement("T7", "preserving", f"The tool {change.action} {what}. It may still distract the model.")
        return self._judge_operations(change, tuple(dict.fromkeys(door.operation for door in doors)))

    def _judge_operations(self, change: Change, operations: tuple[str, ...]) -> Judgement:
        """A tool or case that came or went: is what it reaches reached otherwise?"""
        differing = [name for name in operations if name in self.reach and not self.reach[name].is_none]
        if not differing:
            return self._judge_redistribution(change, operations)
        if not all(self.reach[name].is_certain for name in differing):
            return Judgement("capability", "unknown", _UNCLEAR)
        titles = ", ".join(self._title(name) for name in differing)
        if change.action == "removed":
            return Judgement("capability", "not_preserving", f"The model can no longer do all of this: {titles}.")
        return Judgement("capability", "not_preserving", f"The model can do something new: {titles}.")

    def _judge_redistribution(self, change: Change, operations: tuple[str, ...]) -> Judgement:
        """The same operations are reached as before, but through other tools: merged, split, or twice over."""
        before, after = (self._reaching(spec, operations) for spec in (self._old, self._new))
        if max(map(len, after.values()), default=0) > max(map(len, before.values()), default=0):
            return Judgement("X5", "preserving", "The same operations are now covered by fewer tools.")
        is_part = self._is_part(self._new.tool(change.component_id), operations)
        if len(after) > len(before) and (is_part or before.keys() - after.keys()):
            return Judgement("X4", "preserving", "The same operation is now spread over several tools.")
        verb = "is still" if change.action == "removed" else "was already"
        return Judgement("T7", "preserving", f"What this tool does {verb} possible through another tool.")

    def _is_part(self, tool: Tool | None, operations: tuple[str, ...]) -> bool:
        """Whether a tool fixes arguments that no tool fixed in just that way before: it does a part of what another one did."""
        known = [door.atoms for item in self._old.tools for door in tool_doors(item, self._catalogue)]
        doors = [door for door in tool_doors(tool, self._catalogue) if door.operation in operations]
        fixes = tool is not None and tool.binding is not None and any(case.constants for case in tool.binding.cases)
        return fixes and not all(door.atoms in known for door in doors)

    def _reaching(self, spec: HarnessSpec, operations: tuple[str, ...]) -> dict[str, set[str]]:
        """Tools (by id) that reach one of these operations, with all the operations each reaches."""
        reached = {tool.id: {door.operation for door in tool_doors(tool, self._catalogue)} for tool in spec.tools}
        return {tool_id: names for tool_id, names in reached.items() if names & set(operations)}

    def _title(self, operation: str) -> str:
        return self._catalogue[operation].title or operation

    # --- inside one tool -------------------------------------------------------------------------------------------------

    def _judge_inner(self, change: Change, old: Tool, new: Tool) -> Judgement:
        operation, part = _case_of(change.field, old, new)
        if change.field == "binding" or (operation and not part and change.action in ("added", "removed")):
            doors = tool_doors(new if change.action == "added" else old, self._catalogue)
            reached = tuple(dict.fromkeys(door.operation for door in doors if operation in ("", door.operation)))
            return self._judge_operations(change, reached) if reached else Judgement("T7", "preserving", _NO_DOOR_LONG)
        if part.startswith("result"):
            return self._judge_result(change, operation, part)
        if part.endswith(".default") and self._is_default_felt(
            change, operation, part.split(".", 1)[1][: -len(".default")]
        ):
            reason = "When the model leaves the argument out, the platform now receives another value than before."
            return Judgement("capability", "not_preserving", reason)
        differing = self._differing(old, new, _arguments_touched(change, old, new))
        if not differing:
            return _judge_kept(change, old, new)
        if not all(self.reach[name].is_certain for name, _ in differing):
            return Judgement("capability", "unknown", _UNCLEAR)
        return Judgement("capability", "not_preserving", " ".join(self._in_words(pair, old, new) for pair in differing))

    def _judge_result(self, change: Change, operation: str, part: str) -> Judgement:
        if not part.endswith(".is_hidden"):
            return _judge_result_form(change, part)
        if operation not in self.reach or self.reach[operation].is_none:
            return Judgement("X7", "preserving", "The same values can still be read through another tool.")
        field = part.removeprefix("result.fields.").removesuffix(".is_hidden")
        can = "no longer sees" if change.after else "now sees"
        reason = (
            f'The model {can} {field} in the result of "{self._title(operation)}"; its answers can change with that.'
        )
        return Judgement("capability", "not_preserving", reason)

    def _differing(self, old: Tool, new: Tool, touched: set[tuple[str, str]] | None) -> list[tuple[str, str]]:
        """Operation and argument, of those touched (None: any), whose values differ and are not made up for elsewhere.

        The argument is empty where the whole operation came or went, or where only combinations of values differ.
        """
        found: list[tuple[str, str]] = []
        for name in self._catalogue:
            if self.reach[name].is_none:
                continue
            before, after = self._atoms(old, name), self._atoms(new, name)
            if bool(before) != bool(after):
                found.append((name, ""))
                continue
            pairs = [(name, key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
            found += [pair for pair in pairs if touched is None or pair in touched]
            if not pairs and not self._tool_difference(old, new, name).is_none:
                found.append((name, ""))
        return found

    def _tool_difference(self, old: Tool, new: Tool, operation: str) -> Difference:
        doors = [doors_to(operation, (tool,), self._catalogue) for tool in (old, new)]
        return compare_doors(doors[0], doors[1], self._catalogue[operation])

    def _atoms(self, tool: Tool, operation: str) -> dict[str, frozenset[str]]:
        """Everything that the doors of one tool to one operation admit, by argument; closed doors too, to see what closed."""
        result: dict[str, frozenset[str]] = {}
        for door in tool_doors(tool, self._catalogue, with_closed=True):
            for argument, atoms in door.atoms.items() if door.operation == operation else ():
                result[argument] = result.get(argument, frozenset()) | atoms
        return result

    def _in_words(self, pair: tuple[str, str], old: Tool, new: Tool) -> str:
        operation, argument = pair
        title = self._title(operation)
        was_open, is_open = (bool(doors_to(operation, (tool,), self._catalogue)) for tool in (old, new))
        if was_open != is_open:
            return f'"{title}" can {"now" if is_open else "no longer"} be called with this tool.'
        if argument == SHOWN:
            return f'"{title}": other fields of the result are shown than before.'
        if argument in ("", WHOLE):
            return f'"{title}": other combinations of values are possible than before.'
        before, after = (self._atoms(tool, operation).get(argument, frozenset()) for tool in (old, new))
        return f'"{title}", {argument}: {change_in_words(before, after)}.'

    def _is_default_felt(self, change: Change, operation: str, argument: str) -> bool:
        """Whether leaving the argument out gave, and gives, a value, and not the same one."""
        known = self._catalogue.get(operation)
        schema = schema_at(known.input_schema, (argument,)) if known else None
        fallback = (schema or {}).get("default")
        before = fallback if change.before is None else change.before
        after = fallback if change.after is None else change.after
        tools = [spec.tool(change.component_id) for spec in (self._old, self._new)]
        is_optional = all(tool is not None and not _is_needed(tool, operation, argument) for tool in tools)
        return is_optional and not same_json(before, after)


_NO_DOOR = "can do nothing: no valid call can be made with it"
_NO_DOOR_LONG = "No valid call could be made this way, so nothing is lost or gained."


def _case_of(field: str, old: Tool, new: Tool) -> tuple[str, str]:
    """Operation and rest of a field within a case of the binding; two empty texts for other fields."""
    for tool in (new, old):
        for case in tool.binding.cases if tool.binding else ():
            prefix = f"{_CASE}{case.operation}"
            if field == prefix or field.startswith(f"{prefix}."):
                return case.operation, field[len(prefix) + 1 :]
    return "", ""


def _is_needed(tool: Tool, operation: str, argument: str) -> bool:
    cases = tool.binding.cases if tool.binding else ()
    paths = [
        item.path
        for case in cases
        if case.operation == operation
        for item in case.arguments
        if item.argument == argument
    ]
    return any(is_required(tool.input_schema, path) for path in paths)


def _is_schema_text(field: str) -> bool:
    return (
        field.startswith("input_schema.")
        and field.split(".")[-1] in _TEXT_KEYS
        and field.split(".")[-2] != "properties"
    )


def _judge_text(change: Change, tool: Tool) -> Judgement:
    """The text of a tool or parameter: stripped, respelled or reworded."""
    if change.field == "title" and tool.description:
        return Judgement(None, "preserving", "The model reads the description; the title is for people.")
    if change.before and not change.after:
        return Judgement("T8", "preserving", _STRIPPED)
    if has_same_words(change.before, change.after):
        return Judgement("T2", "preserving", _SAME_WORDS)
    return Judgement("T2", "unknown", _PARAPHRASE)


def _judge_result_form(change: Change, part: str) -> Judgement:
    if change.action == "renamed" or part.endswith(".name"):
        return Judgement("T9", "preserving", "The model sees the same value under another key.")
    if part.endswith(".conversion"):
        return Judgement("X6", "preserving", "The model sees the same value in another unit or type.")
    if part.endswith(".recode"):
        return Judgement("T5", "preserving", "The model sees the same values under other labels.")
    return Judgement("X7", "preserving", "The model sees the same result, laid out differently.")


def _judge_kept(change: Change, old: Tool, new: Tool) -> Judgement:
    """A change inside a tool after which the same calls can be made."""
    last = change.field.split(".")[-1]
    if change.action == "renamed":
        is_same_place = str(change.before).split(".")[:-1] == str(change.after).split(".")[:-1]
        what = "name" if is_same_place else "place within the arguments"
        reason = f"Only the {what} changed; the parameter still feeds the same argument of the platform."
        return Judgement("T3" if is_same_place else "X3", "preserving", reason)
    if "surface_constants" in change.field or _is_dictated(change, old, new):
        return Judgement("X9", "preserving", "The parameter must have one dictated value and reaches no operation.")
    if ".constants" in change.field:
        return Judgement("X4", "preserving", "Other tools cover the values that this tool no longer takes.")
    if last == "default" and change.field.startswith(_PARAMETER):
        return Judgement("T2", "unknown", _DEFAULT_SAID)
    if change.action in ("added", "removed") or last in ("required", "default"):
        return Judgement("T6", "preserving", "What the model can have the platform do stays the same.")
    if last in ("enum", "const", "recode", "when"):
        reason = "The values have other labels or another order; each still means the same to the platform."
        return Judgement("T5", "preserving", reason)
    if last in _UNIT_KEYS:
        return Judgement(
            "X6", "preserving", "Unit, type or limits are written otherwise; the platform takes the same values."
        )
    if last == "switch":
        return Judgement("X5", "preserving", "Another parameter chooses between the operations of this tool.")
    if change.action == "reordered" or last == "parameter_order":
        return Judgement("T4", "preserving", "The same things are listed in another order.")
    if change.field.startswith("binding") or last == "additionalProperties":
        return Judgement(None, "preserving", _SAME_CALLS)
    return Judgement("T2", "unknown", _PARAPHRASE)


def _is_dictated(change: Change, old: Tool, new: Tool) -> bool:
    path = _parameter_path(change.field)
    return path is not None and any(
        constant.path == path for tool in (old, new) if tool.binding for constant in tool.binding.surface_constants
    )


def _parameter_path(field: str) -> Keys | None:
    return tuple(field.removeprefix(_PARAMETER).split(".properties.")) if field.startswith(_PARAMETER) else None


def _arguments_touched(change: Change, old: Tool, new: Tool) -> set[tuple[str, str]] | None:
    """The operation arguments (with their operation) that a change inside a tool can bear on; None: all of the tool's."""
    operation, part = _case_of(change.field, old, new)
    for kind in ("arguments.", "constants."):
        if part.startswith(kind):
            rest = part[len(kind) :]
            names = {rest, rest.rsplit(".", 1)[0]}
            return {(operation, name) for name in names}
    path = _parameter_path(change.field)
    if path is None:
        return None
    touched: set[tuple[str, str]] = set()
    for tool in (old, new):
        for case in tool.binding.cases if tool.binding else ():
            for item in case.arguments:
                if _is_on_the_way(".".join(item.path), change, path):
                    touched.add((case.operation, item.argument))
    return touched


def _is_on_the_way(item: str, change: Change, path: Keys) -> bool:
    """Whether a bound path is the changed parameter, lies in it, or leads to it. Property keys such as `enum` end the field."""
    names: list[JsonValue] = [".".join(path)]
    if change.action == "renamed":
        names = [change.before, change.after]
    return any(
        item == name or str(name).startswith(f"{item}.") or item.startswith(f"{name}.") for name in names if name
    )
