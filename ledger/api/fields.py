"""Serializers and fields that take JSON at its word: nothing is converted, nothing unknown is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


@extend_schema_field(OpenApiTypes.STR)
class TextField(serializers.Field):
    """A JSON string and nothing that could be taken for one; whether the text will do is for the service to say."""

    default_error_messages = {"not_a_string": "Expected a string, found {found}."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_a_string", found=_json_type(data))
        return data

    def to_representation(self, value: Any) -> str:
        return str(value)


class WholeNumberField(serializers.IntegerField):
    """A JSON integer: neither a string nor a boolean."""

    default_error_messages = {"not_an_integer": "Expected a whole number, found {found}."}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("not_an_integer", found=_json_type(data))
        return super().to_internal_value(data)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields it does not know, so that a misspelt option is not passed over in silence."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := [key for key in data if key not in self.fields]):
            known = ", ".join(self.fields)
            raise serializers.ValidationError({unknown[0]: f"There is no such field. Known fields: {known}."})
        return super().to_internal_value(data)


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "something else")
