"""The laws of HSA, for every train family and for compositions, over generated harnesses and over both that ship with Tackroom."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from harnesses.augment import POOLS, TRANSFORMS, NotApplicable, Variant, apply_transform, draw_variant
from harnesses.core.sample_values import sample_value
from tests.harnesses.augment.laws import assert_laws, assert_same_call, assert_same_result
from tests.harnesses.augment.worlds import SHIPPED, World, calls_of, shipped, worlds
from tests.harnesses.strategies import operation_calls, operation_results

SURE = ("S1", "S4", "T1", "T3", "T4", "T6", "T7", "T8", "T9", "P1", "P2", "H1", "H3", "H4")
"""Families that risk can prove to preserve the task."""

seeds = st.integers(0, 2**32)
pools = st.sampled_from(POOLS)


def few(count: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks)


def _replay(data: st.DataObject, world: World, variant: Variant) -> None:
    spec, catalogue = world
    call = data.draw(operation_calls(spec, catalogue))
    assert_same_call(spec, variant.spec, call)
    assert_same_result(spec, variant.spec, call.operation, data.draw(operation_results(catalogue[call.operation])))


@pytest.mark.parametrize("family", TRANSFORMS)
def test_every_family_keeps_the_laws_on_any_harness(family: str) -> None:
    @few(12)
    @given(st.data(), worlds(), seeds, pools)
    def check(data: st.DataObject, world: World, seed: int, pool) -> None:
        spec, catalogue = world
        try:
            variant = apply_transform(family, spec, catalogue, seed, pool=pool)
        except NotApplicable:
            event("not applicable")
            return
        event("applied")
        note(f"{variant.applied}")
        assert variant.spec != spec
        assert_laws(spec, variant, catalogue)
        _replay(data, world, variant)

    check()


@few(60)
@given(
    st.data(),
    worlds(),
    st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=2, max_size=6, unique=True),
    seeds,
    pools,
)
def test_any_sequence_of_families_keeps_the_laws(data: st.DataObject, world: World, families, seed: int, pool) -> None:
    spec, catalogue = world
    variant = draw_variant(spec, catalogue, seed, families, pool=pool)
    note(f"{variant.applied}")
    assert len(variant.applied) + len(variant.refused) == len(families)
    assert_laws(spec, variant, catalogue)
    _replay(data, world, variant)
    again = draw_variant(spec, catalogue, seed, families, pool=pool)
    assert again.spec.spec_hash == variant.spec.spec_hash
    assert again.applied == variant.applied


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("family", TRANSFORMS)
def test_every_family_keeps_the_laws_on_the_shipped_harnesses(family: str, name: str) -> None:
    spec, catalogue = shipped(name)
    reports = []
    for seed in range(4):
        for pool in POOLS:
            try:
                variant = apply_transform(family, spec, catalogue, seed, pool=pool)
            except NotApplicable:
                continue
            reports.append(assert_laws(spec, variant, catalogue))
            _assert_replayed(spec, variant, catalogue)
    if name == "demo":
        assert reports, f"{family} never applies to the demo harness"
    if family in SURE:
        assert {report.verdict for report in reports} <= {"preserving"}


@pytest.mark.parametrize("name", SHIPPED)
def test_what_training_draws_keeps_the_laws_on_the_shipped_harnesses(name: str) -> None:
    spec, catalogue = shipped(name)
    for seed in range(60):
        variant = draw_variant(spec, catalogue, seed, pool=POOLS[seed % 2])
        assert_laws(spec, variant, catalogue)
        _assert_replayed(spec, variant, catalogue)


def _assert_replayed(spec, variant: Variant, catalogue) -> None:
    for call in calls_of(spec, catalogue):
        assert_same_call(spec, variant.spec, call)
    for operation in {case.operation for tool in spec.tools for case in tool.binding.cases}:
        result = sample_value(catalogue[operation].output_schema)
        assert_same_result(spec, variant.spec, operation, result)
