"""What the platform can do, as seen from a harness.

An *operation* is a canonical, named thing the platform does (look up a price, push an item card). A *tool* is what a model
sees; its binding says which operation it stands for. Which operations exist is decided above this layer (`livestream`), so a
catalogue is always passed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from harnesses.core.jsonvalues import JsonObject


@dataclass(frozen=True)
class OperationSpec:
    """One canonical operation: its name, JSON Schemas (2020-12) of arguments and result, and whether it changes the room.

    `input_schema` is an object schema with flat or nested properties; `output_schema` describes the result object.
    `effect` is "read" or "write"; a write shows up as an action of the turn.
    """

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    effect: Literal["read", "write"] = "read"

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(self.input_schema.get("properties", {}))

    @property
    def required_arguments(self) -> tuple[str, ...]:
        return tuple(self.input_schema.get("required", ()))


OperationCatalogue = Mapping[str, OperationSpec]


@dataclass(frozen=True)
class OperationCall:
    """A call on the canonical side: operation name and its arguments."""

    operation: str
    arguments: JsonObject


@dataclass(frozen=True)
class OperationError:
    """Why an operation gave no result. `code` is stable (`not_found`, `invalid_argument`, `out_of_stock`, `unavailable` …).

    `argument` names the canonical argument at fault, so that the runtime can say it by the name the model knows. `message`
    must not name operations or arguments itself.
    """

    code: str
    message: str
    argument: str | None = None


@dataclass(frozen=True)
class OperationResult:
    """What an operation gave: a JSON object in the shape of its output schema, or an error, never both."""

    value: JsonObject = field(default_factory=dict)
    error: OperationError | None = None
