"""T5 in one tool: the listed values of a parameter get other labels, and the binding maps them back."""

from __future__ import annotations

import string
from typing import Final

from harnesses.augment.naming import restyled, words_of
from harnesses.augment.parameters import Keys, parameter_paths, with_schema
from harnesses.augment.texts import is_mentioned
from harnesses.augment.transform import Scene
from harnesses.core.jsonvalues import JsonObject, JsonValue, canonical_json
from harnesses.core.spec import ArgumentMap, BindingCase, HarnessSpec, RecodePair, Tool, ToolBinding

LEGEND_STYLES: Final = ("letters", "numbers")
_KNOWN_KEYS: Final = frozenset({"type", "enum", "description", "title", "default"})
_LABEL_TYPES: Final = (None, "string", "integer", "number", "boolean")


def recode_tool(tool: Tool, spec: HarnessSpec, scene: Scene) -> Tool:
    """The tool with the listed values of its parameters relabelled; the very same object where there is nothing to relabel."""
    if tool.binding is None:
        return tool
    schema, binding = tool.input_schema, tool.binding
    for path, found in parameter_paths(tool):
        is_list = isinstance(found.get("items"), dict) and set(found) <= {"type", "items", "description", "title"}
        node = found["items"] if is_list else found
        labels = _labels(node, path, binding, spec, scene)
        if labels is None:
            continue
        relabelled = _relabelled(node, labels)
        outer = {**found, "items": relabelled} if is_list else relabelled
        if scene.text("style") in LEGEND_STYLES:
            outer["description"] = _with_legend(str(found.get("description", "")), node["enum"], labels)
        schema = with_schema(schema, path, outer)
        binding = _rebound(binding, path, node["enum"], labels)
    if binding is tool.binding:
        return tool
    return tool.model_copy(update={"input_schema": schema, "binding": binding})


def _labels(
    node: JsonObject, path: Keys, binding: ToolBinding, spec: HarnessSpec, scene: Scene
) -> dict[str, str] | None:
    """The new label of each listed value, by canonical JSON; None where this parameter cannot be relabelled."""
    values = node.get("enum")
    if not isinstance(values, list) or not set(node) <= _KNOWN_KEYS or node.get("type") not in _LABEL_TYPES:
        return None
    if not _is_bound(binding, path, values) or not 2 <= len(values) <= len(string.ascii_uppercase):
        return None
    keys = [canonical_json(value) for value in values]
    if len(set(keys)) < len(keys) or any(
        isinstance(value, str) and is_mentioned(spec, "example", value) for value in values
    ):
        return None
    labels = _new_labels(values, scene)
    if labels is None or len({label.casefold() for label in labels}) < len(values):
        return None
    own = {value.casefold() for value in values if isinstance(value, str)}
    if scene.text("style") != "upper" and any(label.casefold() in own for label in labels):
        return None
    return None if labels == values else dict(zip(keys, labels, strict=True))


def _is_bound(binding: ToolBinding, path: Keys, values: list[JsonValue]) -> bool:
    """Whether the parameter feeds arguments value by value, or is the switch, and each listed value is known to the binding."""
    maps = [item for case in binding.cases for item in case.arguments if item.path == path]
    listed = {canonical_json(value) for value in values}
    if binding.switch == path:
        return not maps and {canonical_json(case.when) for case in binding.cases} == listed
    return bool(maps) and all(
        item.conversion is None and (not item.recode or {canonical_json(p.surface) for p in item.recode} == listed)
        for item in maps
    )


def _new_labels(values: list[JsonValue], scene: Scene) -> list[str] | None:
    style = scene.text("style")
    if style == "letters":
        return list(scene.rng.choice((string.ascii_uppercase, string.ascii_lowercase))[: len(values)])
    if style == "numbers":
        return [str(number) for number in range(1, len(values) + 1)]
    texts = [value for value in values if isinstance(value, str) and words_of(value)]
    if len(texts) < len(values):
        return None
    if style == "upper":
        return [text.upper() for text in texts]
    if style == "synonym":
        banks = [scene.banks.labels.get(text) for text in texts]
        options = [bank[scene.pool] if bank else () for bank in banks]
        return None if not all(options) else [scene.rng.choice(option) for option in options]
    return [restyled(text, style) for text in texts]


def _relabelled(node: JsonObject, labels: dict[str, str]) -> JsonObject:
    result = {**node, "enum": [labels[canonical_json(value)] for value in node["enum"]]}
    if "type" in node:
        result["type"] = "string"
    if "default" in node and canonical_json(node["default"]) in labels:
        result["default"] = labels[canonical_json(node["default"])]
    else:
        result.pop("default", None)
    return result


def _with_legend(description: str, values: list[JsonValue], labels: dict[str, str]) -> str:
    """The description with what each label stands for, in words: "A = bulk order"."""
    meanings = ", ".join(f"{labels[canonical_json(value)]} = {_in_words(value)}" for value in values)
    return f"{description.rstrip(' .')}: {meanings}" if description.strip() else meanings


def _in_words(value: JsonValue) -> str:
    return " ".join(words_of(value)) or value if isinstance(value, str) else canonical_json(value)


def _rebound(binding: ToolBinding, path: Keys, values: list[JsonValue], labels: dict[str, str]) -> ToolBinding:
    cases = tuple(_rebound_case(case, path, values, labels, binding.switch == path) for case in binding.cases)
    return binding.model_copy(update={"cases": cases})


def _rebound_case(
    case: BindingCase, path: Keys, values: list[JsonValue], labels: dict[str, str], is_switch: bool
) -> BindingCase:
    update: dict[str, object] = {"when": labels[canonical_json(case.when)]} if is_switch else {}
    if any(item.path == path for item in case.arguments):
        update["arguments"] = tuple(
            _recoded(item, values, labels) if item.path == path else item for item in case.arguments
        )
    return case.model_copy(update=update) if update else case


def _recoded(item: ArgumentMap, values: list[JsonValue], labels: dict[str, str]) -> ArgumentMap:
    pairs = item.recode or tuple(RecodePair(operation=value, surface=value) for value in values)
    recode = tuple(RecodePair(operation=pair.operation, surface=labels[canonical_json(pair.surface)]) for pair in pairs)
    return item.model_copy(update={"recode": recode})
