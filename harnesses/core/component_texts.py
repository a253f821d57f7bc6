"""The fields of a component as texts with lines, so that a comment or a difference can point at one of them."""

from __future__ import annotations

import json
from typing import Final

from harnesses.core.changes import Kind
from harnesses.core.spec import HarnessSpec

COMPONENT_FIELDS: Final[dict[Kind, str]] = {
    "prompt": "prompt",
    "skill": "skills",
    "tool": "tools",
    "hook": "hooks",
    "example": "examples",
    "runtime": "runtime",
}
"""Each kind of component with the field of the specification that holds it."""
_UNSHOWN: Final = frozenset({"id"})


def component_texts(spec: HarnessSpec, kind: str, component_id: str) -> dict[str, str] | None:
    """The fields of one component as they are shown, in the order of the format; None where there is no such component.

    A text is itself, anything else is indented JSON in the author's key order. Empty fields are left out.
    """
    if kind not in COMPONENT_FIELDS:
        return None
    held = getattr(spec, COMPONENT_FIELDS[kind])
    component = held if kind == "runtime" else next((item for item in held if item.id == component_id), None)
    if component is None or (kind == "runtime" and component_id != "runtime"):
        return None
    document = component.model_dump(mode="json")
    return {name: _shown(value) for name, value in document.items() if name not in _UNSHOWN and not _is_empty(value)}


def line_of(text: str, number: int) -> str | None:
    """The line of that number, counted from 1; None where the text has no such line."""
    lines = text.split("\n")
    return lines[number - 1] if 1 <= number <= len(lines) else None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == [] or value == {}
