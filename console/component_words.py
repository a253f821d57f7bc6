"""What the pages call the kinds of component and their fields."""

from __future__ import annotations

KIND_TITLES = {
    "prompt": "Prompt section",
    "skill": "Skill",
    "tool": "Tool",
    "hook": "Hook",
    "example": "Example",
    "runtime": "Runtime settings",
}
KIND_PLURALS = {"prompt": "Prompt sections", "skill": "Skills", "tool": "Tools", "hook": "Hooks", "example": "Examples"}
_FIELD_TITLES = {"body": "Text", "input_schema": "Parameters", "output_schema": "Result"}


def field_title(name: str) -> str:
    """A field of the format as people call it."""
    return _FIELD_TITLES.get(name, name.replace("_", " ").capitalize())
