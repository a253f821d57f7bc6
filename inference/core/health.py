"""What an engine's answers, and its supervisor's word, amount to: the state of a deployment. Plain rules, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["starting", "healthy", "degraded", "stopped", "failed"]


@dataclass(frozen=True)
class Health:
    """A state, why, and the context length the engine tells (tokens)."""

    state: State
    reason: str
    max_model_len: int | None = None

    @property
    def has_answered(self) -> bool:
        """Whether an engine was there at all."""
        return self.state in ("healthy", "degraded")


@dataclass(frozen=True)
class ServedModel:
    """One entry of `/v1/models`."""

    name: str
    max_model_len: int | None = None


def judge_models(served_name: str, models: Sequence[ServedModel], base_url: str) -> Health:
    """The health of an engine that answers and lists its models."""
    for model in models:
        if model.name == served_name:
            return Health("healthy", "Answering.", model.max_model_len)
    names = ", ".join(model.name for model in models) or "nothing"
    return Health(
        "degraded", f'The engine at {base_url} serves {names}, not "{served_name}". Register the checkpoint it serves.'
    )


def judge_silence(base_url: str, reason: str, supervisor_state: State | None, supervisor_message: str) -> Health:
    """The health of an engine that cannot be reached: what its supervisor says, where it has one here."""
    if supervisor_state in ("starting", "stopped", "failed", "degraded"):
        return Health(supervisor_state, supervisor_message)
    return Health(
        "stopped", f"No engine answers at {base_url} ({reason}). Start it with `make up`, or check ENGINE_URL."
    )
