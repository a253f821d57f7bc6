"""Places within a component, as one text: `body`, `action.text`, `binding.cases[0].arguments`, `input_schema.properties["a.b"]`.

Written where an edit or a conflict names a field. A key that is no plain word stands in brackets and quotes, as in JSON, so that
every path can be read back.
"""

from __future__ import annotations

import json
import re
from typing import Final

FieldPath = tuple[str | int, ...]
"""Keys and list positions (from 0) from the outside in."""

_PLAIN: Final = re.compile(r"[^.\[\]\"\s]+")
_STEP: Final = re.compile(r"""\.?([^.\[\]"\s]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]""")


def format_path(path: FieldPath) -> str:
    """The path as one text; empty for the component itself."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def parse_path(text: str) -> FieldPath:
    """The steps of a path. Raises ValueError for a text that is none."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None or (text[position] == "." and not steps):
            raise ValueError(f'it cannot be read from "{text[position : position + 20]}" on')
        plain, index, quoted = match.groups()
        if plain is not None and steps and text[position] != ".":
            raise ValueError(f'a dot is missing before "{plain[:20]}"')
        steps.append(plain if plain is not None else int(index) if index is not None else json.loads(quoted))
        position = match.end()
    return tuple(steps)
