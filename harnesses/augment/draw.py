"""Variants of a harness: one named transform, a named sequence, or what the training policy draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harnesses.augment.banks import banks
from harnesses.augment.registry import TRANSFORMS
from harnesses.augment.transform import (
    POOLS,
    Applied,
    NotApplicable,
    ParameterError,
    Params,
    Pool,
    Refused,
    Scene,
    Transform,
    Variant,
    resolved_params,
    rng_for,
)
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec

TRAIN_POLICY: Final = "train"
COUNT_WEIGHTS: Final = (35, 60, 50, 35, 20)
"""How often, in 200, the policy applies 0, 1, 2, 3 or 4 transforms: 17.5 % of the variants are the harness itself."""


class UnknownTransformError(LookupError):
    """There is no transform of that id; the message lists those there are."""


def apply_transform(
    transform_id: str,
    spec: HarnessSpec,
    catalogue: OperationCatalogue,
    seed: int,
    params: Params | None = None,
    pool: Pool = "train",
) -> Variant:
    """One transform. Parameters that are not given are drawn from the pool.

    Raises NotApplicable, ParameterError, UnknownTransformError.
    """
    transform = _transform(transform_id)
    applied, changed = _apply(transform, spec, catalogue, seed, params, pool)
    return Variant(changed, (applied,))


def draw_variant(
    spec: HarnessSpec,
    catalogue: OperationCatalogue,
    seed: int,
    transforms: Sequence[str] | str = TRAIN_POLICY,
    params: Mapping[str, Params] | None = None,
    pool: Pool = "train",
) -> Variant:
    """A variant by the training policy, or with these transforms one after the other (`params` by transform id).

    Of named transforms, those that cannot apply are in `refused`; the policy draws another one instead.
    Raises ParameterError, and UnknownTransformError for an id that there is none of.
    """
    params = params or {}
    if transforms == TRAIN_POLICY:
        rng = rng_for("policy", seed, pool)
        wanted = rng.choices(range(len(COUNT_WEIGHTS)), COUNT_WEIGHTS)[0]
        return _sequence(spec, catalogue, seed, rng.sample(list(TRANSFORMS), len(TRANSFORMS)), params, pool, wanted)
    if isinstance(transforms, str):
        raise UnknownTransformError(
            f'There is no policy "{transforms[:40]}". Name transforms, or use "{TRAIN_POLICY}".'
        )
    twice = next((name for index, name in enumerate(transforms) if name in transforms[:index]), None)
    if twice is not None:
        raise ParameterError(f"{twice} is named twice. A transform is applied once to a variant.")
    strange = next((name for name in params if name not in transforms), None)
    if strange is not None:
        raise ParameterError(f"Parameters are given for {strange}, which is not applied.")
    for name in transforms:
        _transform(name)
    return _sequence(spec, catalogue, seed, transforms, params, pool, len(transforms))


def _sequence(
    spec: HarnessSpec,
    catalogue: OperationCatalogue,
    seed: int,
    names: Sequence[str],
    params: Mapping[str, Params],
    pool: Pool,
    wanted: int,
) -> Variant:
    """The first `wanted` of these that apply, in this order."""
    applied: list[Applied] = []
    refused: list[Refused] = []
    for name in names:
        if len(applied) == wanted:
            break
        try:
            done, spec = _apply(TRANSFORMS[name], spec, catalogue, seed, params.get(name), pool)
            applied.append(done)
        except NotApplicable as reason:
            refused.append(Refused(name, params.get(name) or {}, reason.reason))
    return Variant(spec, tuple(applied), tuple(refused))


def _transform(name: str) -> Transform:
    if name not in TRANSFORMS:
        raise UnknownTransformError(f'There is no transform "{name[:40]}". There are {", ".join(TRANSFORMS)}.')
    return TRANSFORMS[name]


def _apply(
    transform: Transform,
    spec: HarnessSpec,
    catalogue: OperationCatalogue,
    seed: int,
    given: Params | None,
    pool: Pool,
) -> tuple[Applied, HarnessSpec]:
    if pool not in POOLS:
        raise ParameterError(f'There is no pool "{pool}". There are {", ".join(POOLS)}.')
    params = resolved_params(transform, given, rng_for("params", transform.id, transform.version, seed, pool), pool)
    rng = rng_for("values", transform.id, transform.version, seed, pool, dict(params))
    changed = transform.apply(spec, Scene(catalogue, rng, params, pool, banks()))
    return Applied(transform.id, transform.version, params, seed, pool, changed.components), changed.spec
