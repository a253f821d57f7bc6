"""How an operation's result looks to the model, and the way back: keys renamed, values recoded or converted, outer keys wrapped."""

from __future__ import annotations

from dataclasses import dataclass, field

from harnesses.core.conversions import ValueMappingError, result_inward, value_outward
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.schemas import dotted, shown
from harnesses.core.spec import BindingCase, ResultField, ResultMap


class BindingError(ValueError):
    """A call or result that a binding cannot map.

    `code` is stable; `message` is in words a model can act on and uses surface names only; `path` leads to the value at fault
    in the surface arguments (or the result), empty where no single one is.
    """

    def __init__(self, code: str, message: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path


@dataclass
class _Node:
    """The result fields below one key of the operation's result."""

    own: ResultField | None = None
    below: dict[str, _Node] = field(default_factory=dict)

    def surface_key(self, key: str) -> str:
        """The key's name on the surface."""
        child = self.below.get(key)
        name = child.own.name if child and child.own else None
        return name or key

    def hides(self, key: str) -> bool:
        """Whether the model never sees this key."""
        child = self.below.get(key)
        return bool(child and child.own and child.own.is_hidden)

    def operation_keys(self) -> dict[str, str]:
        """Operation key by surface key, for the shown keys that have a field below this node."""
        return {self.surface_key(key): key for key in sorted(self.below) if not self.hides(key)}


def _tree(result: ResultMap) -> _Node:
    root = _Node()
    for item in result.fields:
        node = root
        for key in item.path:
            node = node.below.setdefault(key, _Node())
        node.own = item
    return root


def to_surface_result(case: BindingCase, value: JsonObject) -> JsonObject:
    """The result object as the model sees it. Fields that the map does not mention are shown as they are, hidden ones are left out.

    Raises BindingError (`unmapped_result`) if a value or key cannot be shown so that it could be read back.
    """
    shown_value = _outward(value, _tree(case.result), ())
    for key in reversed(case.result.wrap):
        shown_value = {key: shown_value}
    assert isinstance(shown_value, dict)
    return shown_value


def to_operation_result(case: BindingCase, shown: JsonObject) -> JsonObject:
    """The inverse of `to_surface_result`, but for hidden fields, which are gone.

    Raises BindingError (`unmapped_result`) for what `to_surface_result` cannot have given.
    """
    inner: JsonValue = shown
    for depth, key in enumerate(case.result.wrap):
        if not isinstance(inner, dict) or set(inner) != {key}:
            path = case.result.wrap[: depth + 1]
            raise BindingError("unmapped_result", f'The result must be wrapped in "{dotted(path)}".', path)
        inner = inner[key]
    if not isinstance(inner, dict):
        raise BindingError("unmapped_result", "The result must be an object.", case.result.wrap)
    value = _inward(inner, _tree(case.result), ())
    assert isinstance(value, dict)
    return value


def _outward(value: JsonValue, node: _Node, path: tuple[str, ...]) -> JsonValue:
    if isinstance(value, list):
        return [_outward(item, node, path) for item in value]
    if not isinstance(value, dict):
        return _value(value, node, path, is_outward=True)
    result: JsonObject = {}
    for key, item in value.items():
        if node.hides(key):
            continue
        name = node.surface_key(key)
        if name in result:
            raise BindingError("unmapped_result", f'Two fields of the result would be named "{name}".', (*path, name))
        result[name] = _outward(item, node.below.get(key, _NO_FIELDS), (*path, key))
    return result


def _inward(value: JsonValue, node: _Node, path: tuple[str, ...]) -> JsonValue:
    if isinstance(value, list):
        return [_inward(item, node, path) for item in value]
    if not isinstance(value, dict):
        return _value(value, node, path, is_outward=False)
    keys = node.operation_keys()
    result: JsonObject = {}
    for name, item in value.items():
        key = str(keys.get(name, name))
        if key in result or node.hides(key) or (key == name and node.surface_key(key) != name):
            raise BindingError("unmapped_result", f'The result has no field "{dotted((*path, name))}".', (*path, name))
        result[key] = _inward(item, node.below.get(key, _NO_FIELDS), (*path, name))
    return result


def _value(value: JsonValue, node: _Node, path: tuple[str, ...], *, is_outward: bool) -> JsonValue:
    own = node.own
    if own is None:
        return value
    try:
        if is_outward:
            return value_outward(value, own.recode, own.conversion, is_strict=False)
        return result_inward(value, own.recode, own.conversion)
    except ValueMappingError as error:
        raise BindingError("unmapped_result", f"The result field {shown(dotted(path))} {error}.", path) from error


_NO_FIELDS = _Node()
