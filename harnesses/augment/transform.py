"""What a transform is, what applying one gives, and what it says when it cannot apply.

A transform changes the surface of a harness and rewrites the bindings along, so that for every task the reachable operations,
their arguments and their results stay the same. It is pure: the same harness, catalogue, seed and parameters give the same
variant in any process and on any machine.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harnesses.augment.banks import Banks
from harnesses.core.jsonvalues import JsonValue, canonical_json
from harnesses.core.kinds import KIND_FIELDS, Component, Kind
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec

Pool = Literal["train", "unseen"]
POOLS: tuple[Pool, ...] = ("train", "unseen")
Params = Mapping[str, JsonValue]


class NotApplicable(ValueError):
    """A transform has nothing to change in this harness, or must not; `reason` says why in plain words. Nothing was changed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ParameterError(ValueError):
    """A parameter of a transform that it does not have, or a value it does not take; the message says what it takes."""


@dataclass(frozen=True)
class Scene:
    """All that a transform goes by besides the harness. `rng` is its own: nobody else draws from it."""

    catalogue: OperationCatalogue
    rng: random.Random
    params: Params
    pool: Pool
    banks: Banks
    synonyms: dict[str, str] = field(default_factory=dict)
    """What each word was replaced by so far, so that one word has one synonym in a variant, and no two words the same."""

    def text(self, name: str) -> str:
        """A parameter that is a text."""
        return str(self.params[name])

    def count(self, name: str) -> int:
        """A parameter that is a number."""
        value = self.params[name]
        assert isinstance(value, int)
        return value


@dataclass(frozen=True)
class Changed:
    """A harness after one transform, and the components it changed as `kind:id`, in the order of the harness."""

    spec: HarnessSpec
    components: tuple[str, ...]


_PLURALS: Mapping[Kind, str] = {"prompt": "prompt sections", "skill": "skills", "tool": "tools", "hook": "hooks"}


def with_components(spec: HarnessSpec, kind: Kind, components: Sequence[Component], reason: str) -> Changed:
    """The harness with these components in the place of its own of one kind.

    Raises NotApplicable where none of them is new: with `reason`, or because the harness has none of the kind.
    """
    own = getattr(spec, KIND_FIELDS[kind])
    changed = tuple(f"{kind}:{new.id}" for old, new in zip(own, components, strict=True) if old is not new)
    if not changed:
        raise NotApplicable(reason if own else f"The harness has no {_PLURALS[kind]}.")
    return Changed(spec.model_copy(update={KIND_FIELDS[kind]: tuple(components)}), changed)


def reordered(spec: HarnessSpec, kind: Kind, rng: random.Random) -> Changed:
    """The harness with its components of one kind in another order. Raises NotApplicable where there are not two."""
    own = getattr(spec, KIND_FIELDS[kind])
    if len(own) < 2:
        raise NotApplicable(f"There are not two {_PLURALS[kind]} whose order could change.")
    order = tuple(rng.sample(own, len(own)))
    order = order if order != own else (*own[1:], own[0])
    return Changed(
        spec.model_copy(update={KIND_FIELDS[kind]: order}), tuple(f"{kind}:{component.id}" for component in order)
    )


@dataclass(frozen=True)
class Transform:
    """One train family. `choices` gives each parameter its values by pool, `by_hand` those that are taken but never drawn.

    `version` goes up with every change of what the transform gives for the same input.
    """

    id: str
    version: int
    title: str
    choices: Mapping[str, Mapping[Pool, tuple[JsonValue, ...]]]
    apply: Callable[[HarnessSpec, Scene], Changed]
    by_hand: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Applied:
    """A transform that was applied: with these parameters, seed and pool it can be applied again."""

    transform: str
    version: int
    params: Params
    seed: int
    pool: Pool
    components: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """A transform that could not apply, and why."""

    transform: str
    params: Params
    reason: str


@dataclass(frozen=True)
class Variant:
    """A harness after no, one or several transforms, in the order in which they were applied."""

    spec: HarnessSpec
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def is_identity(self) -> bool:
        return not self.applied


def rng_for(*parts: JsonValue) -> random.Random:
    """A random generator that depends on these values alone, whatever the process, its hash seed or the global generator."""
    digest = hashlib.sha256(canonical_json(list(parts)).encode("utf-8")).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - variants are to be repeatable, not secret


def resolved_params(transform: Transform, given: Params | None, rng: random.Random, pool: Pool) -> dict[str, JsonValue]:
    """The given parameters, the missing ones drawn from the pool. Raises ParameterError."""
    given = given or {}
    unknown = sorted(set(given) - set(transform.choices))
    if unknown:
        known = ", ".join(transform.choices) or "none"
        raise ParameterError(f'{transform.id} has no parameter "{unknown[0]}"; it has {known}.')
    params: dict[str, JsonValue] = {}
    for name, by_pool in transform.choices.items():
        drawn = rng.choice(by_pool[pool])
        params[name] = given.get(name, drawn)
        possible = list(dict.fromkeys((*by_pool["train"], *by_pool["unseen"], *transform.by_hand.get(name, ()))))
        if params[name] not in possible or isinstance(params[name], bool):
            values = ", ".join(map(str, possible))
            raise ParameterError(f"{transform.id}: {name} is one of {values}, not {str(params[name])[:40]!r}.")
    return params


def both(*values: JsonValue) -> Mapping[Pool, tuple[JsonValue, ...]]:
    """Parameter values that both pools share: the values behind them are kept apart by the banks."""
    return {"train": values, "unseen": values}


def split(train: tuple[JsonValue, ...], unseen: tuple[JsonValue, ...]) -> Mapping[Pool, tuple[JsonValue, ...]]:
    """Parameter values of which training sees one part only."""
    return {"train": train, "unseen": unseen}
