"""One line for each change, as the console shows it: "Tool renamed: get_price → fetch_price (T1, preserving)"."""

from __future__ import annotations

import re
from typing import Final

from harnesses.core.changes import Change
from harnesses.core.families import Judgement
from harnesses.core.jsonvalues import JsonValue
from harnesses.core.kinds import Kind
from harnesses.core.schemas import shown

VERDICT_WORDS: Final[dict[str, str]] = {
    "preserving": "preserving",
    "not_preserving": "not preserving",
    "unknown": "unknown",
}
_KIND_WORDS: Final[dict[Kind, str]] = {
    "prompt": "Section",
    "skill": "Skill",
    "tool": "Tool",
    "hook": "Hook",
    "example": "Example",
    "runtime": "Runtime setting",
}
_PART_WORDS: Final = {
    "is_policy": "Policy mark",
    "body": "Text",
    "allowed_tools": "Allowed tools",
    "risk": "Risk level",
    "matcher": "Tools watched",
    "when": "Condition",
    "parameter_order": "Parameters",
    "binding.switch": "Switch",
    "binding.cases": "Operations",
}
_BINDING_WORDS: Final = (
    (r"binding\.cases\.[^.]+", "Operation {0}"),
    (r"binding\.cases\..+\.operation", "Operation"),
    (r"binding\.cases\..+\.when", "Switch value"),
    (r"binding\.cases\..+\.arguments\.(.+)\.recode", "Recoding of {1}"),
    (r"binding\.cases\..+\.arguments\.(.+)\.conversion", "Unit of {1}"),
    (r"binding\.cases\..+\.arguments\.(.+)\.default", "Default of {1}"),
    (r"binding\.cases\..+\.arguments\.(.+)\.path", "Place of {1}"),
    (r"binding\.cases\..+\.arguments\.(.+)", "Mapping of {1}"),
    (r"binding\.cases\..+\.constants\.(.+)", "Fixed value of {1}"),
    (r"binding\.cases\..+\.result\.fields\.(.+)\.is_hidden", "Hiding of result field {1}"),
    (r"binding\.cases\..+\.result\.fields\.(.+)", "Result field {1}"),
    (r"binding\.cases\..+\.result\.(\w+)", "Result {1}"),
    (r"binding\.surface_constants\.(.+)", "Dictated value of {1}"),
    (r"binding\.ignored\.(.+)", "Unused parameter {1}"),
)
_KEY_WORDS: Final = {"enum": "Values", "const": "Only value", "type": "Type", "required": "Need"}
_MAX_INLINE = 40


def headline(change: Change, judgement: Judgement) -> str:
    """What changed, from what to what where that fits a line, and in brackets the family and the verdict."""
    verdict = VERDICT_WORDS[judgement.preserving]
    family = f"{judgement.family}, {verdict}" if judgement.family else verdict
    return f"{change_words(change)} ({family})"


def change_words(change: Change) -> str:
    """What changed, from what to what where that fits a line, without a verdict."""
    kind, name = _KIND_WORDS[change.kind], change.component_name
    if change.action == "renamed" and change.field in ("name", "title"):
        return f"{kind} {'retitled' if change.field == 'title' else 'renamed'}: {change.before} → {change.after}"
    if change.action == "renamed":
        part = "Result key" if ".result." in change.field else "Parameter"
        return f"{part} of {name} renamed: {change.before} → {change.after}"
    if change.field == "order":
        return f"{kind}s reordered"
    if change.field == "":
        return f"{kind} {change.action}: {name}"
    if change.kind == "example" and change.field == "comment":
        return f"Comment of an example changed: {change.old_name} → {change.new_name}"
    part = _part_words(change)
    if change.kind != "runtime":
        part = f"{part} {'in' if ' of ' in part else 'of'} {name}"
    values = _from_to(change)
    return f"{part} {change.action}" + (f": {values}" if values else "")


def _from_to(change: Change) -> str:
    """Old and new value, where both are short enough for a line."""
    if change.action != "changed":
        return ""
    texts = [_short(change.before), _short(change.after)]
    return "" if "" in texts else " → ".join(texts)


def _short(value: JsonValue) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    text = value if isinstance(value, str) else shown(value)
    return text if len(text) <= _MAX_INLINE and "\n" not in text else ""


def _part_words(change: Change) -> str:
    """The changed part of a component, as people call it: "Description of item", "Parameter note", "Values of currency"."""
    field = change.field
    if field in _PART_WORDS:
        return _PART_WORDS[field]
    if field.startswith("input_schema.properties."):
        path = field.removeprefix("input_schema.properties.").replace(".properties.", ".")
        if change.action in ("added", "removed"):
            return f"Parameter {path}"
        parameter, _, key = path.rpartition(".")
        return f"{_KEY_WORDS.get(key, _capitalised(key))} of {parameter}"
    for pattern, words in _BINDING_WORDS:
        if match := re.fullmatch(pattern, field):
            return words.format(field.removeprefix("binding.cases."), *match.groups())
    if field.startswith("action."):
        return _capitalised(field.removeprefix("action."))
    head, _, rest = field.partition(".")
    return f"{_capitalised(head)} {rest}".rstrip()


def _capitalised(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
