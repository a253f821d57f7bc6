"""The edits of a harness, one function each, on its plain JSON document.

An edit names what it changes and leaves everything else alone. It changes the document in place; whether the result still is a
harness is asked once, by `apply_edits`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any, Final

from harnesses.core.editing.mentions import follow_rename
from harnesses.core.editing.search import replace_in_document
from harnesses.core.fieldpaths import FieldPath, parse_path
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.kinds import KIND_FIELDS, KINDS, NAME_FIELDS, Kind
from harnesses.core.schemas import shown

_WORDS: Final = {
    "prompt": "section", "skill": "skill", "tool": "tool", "hook": "hook", "example": "example",
    "runtime": "runtime settings",
}  # fmt: skip


class EditProblem(ValueError):
    """An edit that cannot be made: `path` is the field of the edit at fault, `mend` says what to do."""

    def __init__(self, path: str, message: str, mend: str) -> None:
        super().__init__(f"{message} {mend}")
        self.path = path
        self.message = message
        self.mend = mend


def perform(document: JsonObject, edit: JsonValue) -> str:
    """Make one edit in the document. Returns what was done, in a line. Raises EditProblem."""
    if not isinstance(edit, dict):
        raise EditProblem("", f"An edit is an object, not {shown(edit)}.", _edit_mend())
    operation = edit.get("op")
    known = _EDITS.get(operation) if isinstance(operation, str) else None
    if known is None:
        raise EditProblem("op", f"There is no edit {shown(operation)}.", _edit_mend())
    function, fields = known
    for name in edit:
        if name != "op" and name not in fields:
            raise EditProblem(name, f'The edit "{operation}" has no field {shown(name)}.', f"Use {', '.join(fields)}.")
    return function(document, edit)


def _edit_mend() -> str:
    return f'Give "op" as one of {", ".join(_EDITS)}.'


# --- finding what an edit means ----------------------------------------------------------------------------------------


def _kind(edit: JsonObject, *, with_runtime: bool = False) -> Kind:
    kind = edit.get("kind")
    kinds = KINDS if with_runtime else tuple(KIND_FIELDS)
    if kind not in kinds:
        raise EditProblem("kind", f"There is no kind {shown(kind)} here.", f"Use one of {', '.join(kinds)}.")
    return kind


def _text(edit: JsonObject, name: str) -> str:
    value = edit.get(name)
    if not isinstance(value, str):
        raise EditProblem(name, f'"{name}" must be a text, not {shown(value)}.', "Give a text.")
    return value


def _flag(edit: JsonObject, name: str) -> bool:
    value = edit.get(name, False)
    if not isinstance(value, bool):
        raise EditProblem(name, f'"{name}" must be true or false, not {shown(value)}.', "Give true or false.")
    return value


def component_index(components: list[JsonObject], component_id: str) -> int | None:
    """Where a component stands; `price#2` is the second one of an id used twice (see `components_by_key`)."""
    wanted, _, number = component_id.partition("#")
    places = [index for index, component in enumerate(components) if component.get("id") == wanted]
    position = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 6 else (-1 if number else 0)
    return places[position] if 0 <= position < len(places) else None


def _found(document: JsonObject, edit: JsonObject, kind: Kind, name: str = "id") -> tuple[list[JsonObject], int]:
    component_id = _text(edit, name)
    components = document[KIND_FIELDS[kind]]
    index = component_index(components, component_id)
    if index is None:
        raise EditProblem(
            name,
            f'There is no {_WORDS[kind]} with the id "{component_id[:80]}".',
            "It may have been removed meanwhile. Look at the harness as it is now.",
        )
    return components, index


def _called(kind: Kind, component: JsonObject) -> str:
    name = component.get(NAME_FIELDS.get(kind, "")) or component.get("id")
    return "the runtime settings" if kind == "runtime" else f'the {_WORDS[kind]} "{str(name)[:60]}"'


# --- set ---------------------------------------------------------------------------------------------------------------


def _set(document: JsonObject, edit: JsonObject) -> str:
    kind = _kind(edit, with_runtime=True)
    if kind == "runtime":
        component = document["runtime"]
    else:
        components, index = _found(document, edit, kind)
        component = components[index]
    if "fields" not in edit and "unset" not in edit:
        raise EditProblem("fields", '"fields" is missing.', "Give field names and values.")
    fields, unset = edit.get("fields", {}), edit.get("unset", [])
    if not isinstance(fields, dict):
        raise EditProblem("fields", f'"fields" must be an object, not {shown(fields)}.', "Give field names and values.")
    if not isinstance(unset, list) or not all(isinstance(name, str) for name in unset):
        raise EditProblem("unset", '"unset" must be a list of field names.', "Give a list of texts.")
    called = _called(kind, component)
    for name, value in fields.items():
        path = _path(f"fields.{name}", name)
        _refuse_id(document, kind, component, path, value)
        _put(component, path, deepcopy(value), f"fields.{name}")
    for name in unset:
        _drop(component, _path("unset", name), "unset")
    names = ", ".join([*fields, *unset])
    return f"Changed {names} of {called}"


def _path(where: str, text: str) -> FieldPath:
    try:
        path = parse_path(text)
    except ValueError as error:
        message = f"{shown(text)} is no field: {error}."
        raise EditProblem(where, message, "Write it like binding.cases[0].operation.") from error
    if not path or isinstance(path[0], int):
        raise EditProblem(where, "The field has no name.", "Name one, such as description.")
    return path


def _refuse_id(document: JsonObject, kind: Kind, component: JsonObject, path: FieldPath, value: JsonValue) -> None:
    """An id stays the same for ever; only of two components with the same id may one get another."""
    if path != ("id",) or value == component.get("id") or kind == "runtime":
        return
    ids = [item.get("id") for item in document[KIND_FIELDS[kind]]]
    if ids.count(component.get("id")) < 2:
        raise EditProblem("fields.id", "The id of a component never changes.", "Change its name instead.")


def _put(component: JsonObject, path: FieldPath, value: JsonValue, where: str) -> None:
    node = _parent(component, path, where, makes=True)
    last = path[-1]
    if isinstance(node, dict) and isinstance(last, str):
        node[last] = value
    elif isinstance(node, list) and isinstance(last, int) and last <= len(node):
        node[last : last + 1] = [value]
    else:
        raise _no_place(where, last, node)


def _drop(component: JsonObject, path: FieldPath, where: str) -> None:
    node = _parent(component, path, where, makes=False)
    last = path[-1]
    if isinstance(node, dict) and isinstance(last, str):
        node.pop(last, None)
    elif isinstance(node, list) and isinstance(last, int) and last < len(node):
        del node[last]
    else:
        raise _no_place(where, last, node)


def _parent(component: JsonObject, path: FieldPath, where: str, *, makes: bool) -> JsonValue:
    """What holds the last step of a path. With `makes`, objects that are missing on the way are made."""
    node: JsonValue = component
    for step, following in pairwise(path):
        if isinstance(node, dict) and isinstance(step, str):
            if makes and node.get(step) is None and isinstance(following, str):
                node[step] = {}
            node = node.get(step)
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            raise _no_place(where, step, node)
    return node


def _no_place(where: str, step: str | int, node: JsonValue) -> EditProblem:
    return EditProblem(
        where,
        f"There is no place for {shown(step)} in {shown(node)}.",
        "It may have changed meanwhile. Look at the component as it is now.",
    )


# --- add, remove, move, rename, replace --------------------------------------------------------------------------------


def _add(document: JsonObject, edit: JsonObject) -> str:
    kind = _kind(edit)
    component = edit.get("component")
    if not isinstance(component, dict):
        raise EditProblem(
            "component", f"A component is an object, not {shown(component)}.", "Give the whole component."
        )
    components = document[KIND_FIELDS[kind]]
    if any(item.get("id") == component.get("id") for item in components):
        message = f'There is a {_WORDS[kind]} with the id "{str(component.get("id"))[:80]}" already.'
        raise EditProblem("component.id", message, "Give it an id of its own.")
    index = len(components) if "after" not in edit else _place_after(document, edit, kind)
    components.insert(index, deepcopy(component))
    return f"Added {_called(kind, component)}"


def _place_after(document: JsonObject, edit: JsonObject, kind: Kind) -> int:
    """The index behind the component that "after" names; 0 for null."""
    return 0 if edit.get("after") is None else _found(document, edit, kind, "after")[1] + 1


def _remove(document: JsonObject, edit: JsonObject) -> str:
    kind = _kind(edit)
    components, index = _found(document, edit, kind)
    return f"Removed {_called(kind, components.pop(index))}"


def _move(document: JsonObject, edit: JsonObject) -> str:
    kind = _kind(edit)
    components, index = _found(document, edit, kind)
    component = components.pop(index)
    if edit.get("after") == edit["id"]:
        raise EditProblem("after", "A component cannot stand after itself.", "Name another one, or null for the top.")
    components.insert(_place_after(document, edit, kind), component)
    return f"Moved {_called(kind, component)}"


def _rename(document: JsonObject, edit: JsonObject) -> str:
    kind = _kind(edit)
    if kind not in NAME_FIELDS:
        raise EditProblem("kind", "An example has no name.", "Change its comment instead.")
    components, index = _found(document, edit, kind)
    name, follows = _text(edit, "name"), _flag(edit, "follow")
    component = components[index]
    old = component[NAME_FIELDS[kind]]
    count = follow_rename(document, kind, old, name) if follows and old != name else 0
    component[NAME_FIELDS[kind]] = name
    told = f" and {count} mention{'' if count == 1 else 's'} of it" if count else ""
    return f'Renamed {_called(kind, {"name": old, "title": old})} to "{name[:60]}"{told}'


def _replace(document: JsonObject, edit: JsonObject) -> str:
    find, replacement = _text(edit, "find"), _text(edit, "replace")
    if not find:
        raise EditProblem("find", "There is nothing to look for.", "Write the text to look for.")
    kinds = edit.get("kinds")
    if kinds is not None and (not isinstance(kinds, list) or set(map(str, kinds)) - set(KINDS)):
        known = ", ".join(KINDS)
        raise EditProblem("kinds", f"{shown(kinds)} is no list of kinds.", f"Use some of {known}, or null for all.")
    count = replace_in_document(
        document, find, replacement, is_case_sensitive=_flag(edit, "is_case_sensitive"), kinds=kinds
    )
    return f'Replaced "{find[:60]}" by "{replacement[:60]}" in {count} place{"" if count == 1 else "s"}'


_Edit = Callable[[JsonObject, Any], str]
_EDITS: Final[Mapping[str, tuple[_Edit, tuple[str, ...]]]] = {
    "set": (_set, ("kind", "id", "fields", "unset")),
    "add": (_add, ("kind", "component", "after")),
    "remove": (_remove, ("kind", "id")),
    "move": (_move, ("kind", "id", "after")),
    "rename": (_rename, ("kind", "id", "name", "follow")),
    "replace_text": (_replace, ("find", "replace", "is_case_sensitive", "kinds")),
}
