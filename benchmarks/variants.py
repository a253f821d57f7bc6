"""How many variants of a harness one core makes in a second, drawn as training draws them.

Run with `python -m benchmarks.variants`. Needs no services.
"""

from __future__ import annotations

import time

from benchmarks.report import line, machine
from harnesses.augment import TRANSFORMS, NotApplicable, apply_transform, draw_variant
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE
from livestream.retail import retail_harness
from livestream.retail.operations import CATALOGUE as RETAIL_CATALOGUE

DRAWN = 2_000
ROUNDS = 60


def main() -> str:
    """Measure and print the table."""
    worlds = {"demo shop": (demo_harness(), CATALOGUE), "retail": (retail_harness(), RETAIL_CATALOGUE)}
    rows = ["| variants by the training policy | n | per second and core | aim |", "|---|---|---|---|"]
    for name, (spec, catalogue) in worlds.items():
        for seed in range(100):
            draw_variant(spec, catalogue, DRAWN + seed)  # names and texts that are worked out once
        started = time.process_time()
        for seed in range(DRAWN):
            draw_variant(spec, catalogue, seed)
        rate = DRAWN / (time.process_time() - started)
        rows.append(f"| {name} harness | {DRAWN} | {rate:,.0f} | {'1,000' if name == 'demo shop' else ''} |")
    rows += ["", "| one transform of the demo shop, ms | n | P50 | P95 | aim |", "|---|---|---|---|---|"]
    rows += [line(name, _timed(name), "") for name in TRANSFORMS]
    table = "\n".join([*rows, "", machine()])
    print(table)
    return table


def _timed(name: str) -> list[float]:
    values = []
    for seed in range(ROUNDS):
        started = time.perf_counter()
        try:
            apply_transform(name, demo_harness(), CATALOGUE, seed)
        except NotApplicable:
            continue
        values.append((time.perf_counter() - started) * 1_000)
    return values


if __name__ == "__main__":
    main()
