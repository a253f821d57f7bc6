"""What apps tell each other about harnesses and models: small frozen values, so that siblings need no import of one another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HarnessRef:
    """One immutable harness version. `spec_hash` is its identity; `slug` and `number` are how people name it."""

    slug: str
    number: int
    spec_hash: str

    def __str__(self) -> str:
        return f"{self.slug}@{self.number}"


@dataclass(frozen=True)
class ModelRef:
    """One checkpoint as an engine serves it: the OpenAI-compatible base URL and the model name to ask for."""

    checkpoint: str
    base_url: str
    served_name: str


@dataclass(frozen=True)
class ArmRef:
    """What answers a viewer: a harness version and a checkpoint."""

    harness: HarnessRef
    model: ModelRef
