"""Older harness documents brought up to the schema of today, one version at a time.

A document says its `schema_version`; each step here turns version n into n + 1. Version 0 is what was written before documents
said their version: tools had a flat binding of one operation, and the deadline was in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.schemas import shown
from harnesses.core.spec import SCHEMA_VERSION


class UpgradeError(ValueError):
    """A document cannot be brought up to date. `path` leads to what is wrong, `message` says what to do."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def upgrade(document: JsonObject) -> JsonObject:
    """A copy of `document` in the schema of today. Raises UpgradeError for an unknown version or an unusable older document."""
    version = document.get("schema_version", 0)
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise UpgradeError("schema_version", f"must be a whole number such as {SCHEMA_VERSION}, not {shown(version)}.")
    if version > SCHEMA_VERSION:
        raise UpgradeError(
            "schema_version",
            f"is {version}, but this Tackroom reads versions up to {SCHEMA_VERSION}. Update Tackroom, or export the harness "
            f"for version {SCHEMA_VERSION}.",
        )
    current = deepcopy(document)
    for step in range(version, SCHEMA_VERSION):
        current = _STEPS[step](current)
    return current


def _from_0_to_1(document: JsonObject) -> JsonObject:
    runtime = document.get("runtime")
    if isinstance(runtime, dict) and "deadline_s" in runtime:
        runtime["deadline_ms"] = _deadline_ms(runtime.pop("deadline_s"), runtime)
    tools = document.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        binding = tool.get("binding") if isinstance(tool, dict) else None
        if isinstance(binding, dict) and "operation" in binding:
            tool["binding"] = _binding_with_cases(binding, f"tools[{index}].binding")
    document["schema_version"] = 1
    return document


def _deadline_ms(deadline_s: JsonValue, runtime: JsonObject) -> int:
    if "deadline_ms" in runtime:
        raise UpgradeError("runtime.deadline_s", "stands beside deadline_ms. Keep deadline_ms (milliseconds) alone.")
    if isinstance(deadline_s, bool) or not isinstance(deadline_s, int | float):
        raise UpgradeError("runtime.deadline_s", f"must be a number of seconds, not {shown(deadline_s)}.")
    return round(deadline_s * 1000)


def _binding_with_cases(binding: JsonObject, path: str) -> JsonObject:
    extra = sorted(set(binding) - {"operation", "arguments"})
    arguments = binding.get("arguments", {})
    if extra:
        raise UpgradeError(f"{path}.{extra[0]}", 'is not known in a flat binding. Write the binding with "cases".')
    if not isinstance(arguments, dict):
        raise UpgradeError(
            f"{path}.arguments", f"must map tool arguments to operation arguments, not {shown(arguments)}."
        )
    maps = [{"argument": target, "path": [surface]} for surface, target in sorted(arguments.items())]
    return {"cases": [{"operation": binding["operation"], "arguments": maps}]}


_STEPS: dict[int, Callable[[JsonObject], JsonObject]] = {0: _from_0_to_1}
