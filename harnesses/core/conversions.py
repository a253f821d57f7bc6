"""How single values change between an operation and the surface: recodes and conversions, both ways, exactly.

"Inward" is from what the model writes to what the operation takes; "outward" is the way back. Whatever cannot be mapped back
to the very same value is refused instead of rounded, so that a binding is always invertible.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow

from harnesses.core.jsonvalues import JsonValue
from harnesses.core.schemas import choices, same_json, shown
from harnesses.core.spec import Conversion, EpochConversion, RecodePair, ScaleConversion, TextConversion

_EXACT = Context(prec=60, traps=[Inexact, Overflow, InvalidOperation, DivisionByZero])
_JSON_NUMBER = re.compile(r"-?(0|[1-9]\d{0,299})(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)
_JSON_INTEGER = re.compile(r"-?(0|[1-9]\d{0,299})", re.ASCII)
_UTC_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)


class ValueMappingError(ValueError):
    """One value has no counterpart on the other side. The message says what was expected, without naming the field."""


def value_inward(value: JsonValue, recode: tuple[RecodePair, ...], conversion: Conversion | None) -> JsonValue:
    """The operation's value for a surface value; lists element by element. Raises ValueMappingError."""
    if isinstance(value, list):
        return [value_inward(item, recode, conversion) for item in value]
    if recode:
        return _recoded(value, [(pair.surface, pair.operation) for pair in recode], is_strict=True)
    return value if conversion is None else _CONVERTERS[conversion.kind].inward(value, conversion)


def value_outward(
    value: JsonValue, recode: tuple[RecodePair, ...], conversion: Conversion | None, *, is_strict: bool = True
) -> JsonValue:
    """The surface's value for an operation's value; lists element by element. Raises ValueMappingError.

    With `is_strict` off (results), null is passed through where it cannot be taken for something else, and so is a value that no
    recode pair mentions.
    """
    if isinstance(value, list):
        return [value_outward(item, recode, conversion, is_strict=is_strict) for item in value]
    if recode:
        return _recoded(value, [(pair.operation, pair.surface) for pair in recode], is_strict=is_strict)
    if conversion is None or (value is None and not is_strict):
        return value
    return _CONVERTERS[conversion.kind].outward(value, conversion)


def result_inward(value: JsonValue, recode: tuple[RecodePair, ...], conversion: Conversion | None) -> JsonValue:
    """The inverse of `value_outward` with `is_strict` off. Raises ValueMappingError."""
    if isinstance(value, list):
        return [result_inward(item, recode, conversion) for item in value]
    if recode:
        return _recoded(value, [(pair.surface, pair.operation) for pair in recode], is_strict=False)
    if conversion is None or value is None:
        return value
    return _CONVERTERS[conversion.kind].inward(value, conversion)


def _recoded(value: JsonValue, pairs: list[tuple[JsonValue, JsonValue]], *, is_strict: bool) -> JsonValue:
    for source, target in pairs:
        if same_json(source, value):
            return target
    if is_strict or any(same_json(target, value) for _, target in pairs):
        raise ValueMappingError(f"must be one of {choices(source for source, _ in pairs)}, not {shown(value)}")
    return value


def _plain_number(value: Decimal) -> int | float:
    """A decimal as the JSON number that reads back as the same decimal. Raises ValueMappingError if there is none."""
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    if Decimal(str(number)) != value:
        raise ValueMappingError("needs more digits than a number can hold; use fewer digits")
    return number


def _decimal(value: JsonValue) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueMappingError(f"must be a number, not {shown(value)}")
    return Decimal(str(value))


class _Scale:
    @staticmethod
    def inward(value: JsonValue, conversion: Conversion) -> JsonValue:
        assert isinstance(conversion, ScaleConversion)
        try:
            return _plain_number(_EXACT.divide(_decimal(value), Decimal(conversion.factor)))
        except (Inexact, Overflow, InvalidOperation, OverflowError) as error:
            raise ValueMappingError(f"cannot be {shown(value)}; use a multiple of {conversion.factor}") from error

    @staticmethod
    def outward(value: JsonValue, conversion: Conversion) -> JsonValue:
        assert isinstance(conversion, ScaleConversion)
        try:
            return _plain_number(_EXACT.multiply(_decimal(value), Decimal(conversion.factor)))
        except (Inexact, Overflow, InvalidOperation, OverflowError) as error:
            raise ValueMappingError(f"cannot be shown exactly: {shown(value)} × {conversion.factor}") from error


class _Text:
    @staticmethod
    def inward(value: JsonValue, _conversion: Conversion) -> JsonValue:
        number = number_from_text(value) if isinstance(value, str) else None
        if number is None:
            raise ValueMappingError(f'must be a number written as a text such as "3", not {shown(value)}')
        return number

    @staticmethod
    def outward(value: JsonValue, _conversion: Conversion) -> JsonValue:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueMappingError(f"must be a number, not {shown(value)}")
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
        return str(int(value)) if is_whole else str(value)


class _Epoch:
    @staticmethod
    def inward(value: JsonValue, _conversion: Conversion) -> JsonValue:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or value != int(value):
            raise ValueMappingError(f"must be a time in whole seconds since 1970-01-01 UTC, not {shown(value)}")
        try:
            moment = datetime.fromtimestamp(int(value), tz=UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise ValueMappingError(f"is no time between the years 1 and 9999: {shown(value)}") from error
        return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"

    @staticmethod
    def outward(value: JsonValue, _conversion: Conversion) -> JsonValue:
        try:
            if not isinstance(value, str) or not _UTC_TIME.fullmatch(value):
                raise ValueError("not in the one accepted form")
            moment = datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=UTC)
        except ValueError as error:
            raise ValueMappingError(
                f"must be a UTC time in whole seconds such as 2026-01-31T20:00:00Z, not {shown(value)}"
            ) from error
        return int(moment.timestamp())


_CONVERTERS: dict[str, type[_Scale] | type[_Text] | type[_Epoch]] = {
    ScaleConversion.model_fields["kind"].default: _Scale,
    TextConversion.model_fields["kind"].default: _Text,
    EpochConversion.model_fields["kind"].default: _Epoch,
}


def number_from_text(text: str) -> int | float | None:
    """The number that a text spells in JSON's grammar ("3", "-2.50", "1e3"); None if it spells none."""
    if _JSON_INTEGER.fullmatch(text):
        return int(text)
    if not _JSON_NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if abs(number) != float("inf") else None


def boolean_from_text(text: str) -> bool | None:
    """True or False for "true" or "false" in any case; None for anything else."""
    return {"true": True, "false": False}.get(text.casefold())


Coercer = Callable[[str], JsonValue]


def integer_from_text(text: str) -> int | None:
    """The integer that a text spells in JSON's grammar; None if it spells none."""
    return int(text) if _JSON_INTEGER.fullmatch(text) else None


COERCERS: dict[str, Coercer] = {
    "integer": integer_from_text,
    "number": number_from_text,
    "boolean": boolean_from_text,
}
"""JSON Schema types that a text is coerced to, and how. Each gives None where the text spells no such value."""
