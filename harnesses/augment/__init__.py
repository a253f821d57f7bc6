"""Harness-State Augmentation: seeded changes to the surface of a harness after which every task has the same right answer.

The train families S1-S5, T1-T9, P1-P5 and H1-H5 as pure transforms (docs/hsa.md). The idea is that of arXiv:2608.15763; the
catalogue, the parameters and the banks are ours.
"""

from __future__ import annotations

from harnesses.augment.draw import (
    COUNT_WEIGHTS,
    TRAIN_POLICY,
    UnknownTransformError,
    apply_transform,
    draw_variant,
)
from harnesses.augment.registry import TRANSFORMS
from harnesses.augment.transform import (
    POOLS,
    Applied,
    NotApplicable,
    ParameterError,
    Params,
    Pool,
    Refused,
    Transform,
    Variant,
)

__all__ = [
    "COUNT_WEIGHTS",
    "POOLS",
    "TRAIN_POLICY",
    "TRANSFORMS",
    "Applied",
    "NotApplicable",
    "ParameterError",
    "Params",
    "Pool",
    "Refused",
    "Transform",
    "UnknownTransformError",
    "Variant",
    "apply_transform",
    "draw_variant",
]
