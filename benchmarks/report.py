"""What every benchmark prints: percentiles, and the machine they were taken on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie: nearest rank. Raises ValueError for no values."""
    if not values:
        raise ValueError("there are no values to take a percentile of")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def machine() -> str:
    """One line on this machine: cores, processor, memory, Python, date."""
    processor = "unknown processor"
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    return (
        f"{os.cpu_count()} cores ({processor}), {memory_gib:.0f} GiB, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}"
    )


def line(name: str, values_ms: Sequence[float], aim: str = "") -> str:
    """A row of a Markdown table: name, n, P50 and P95 in milliseconds, and what is aimed at."""
    return (
        f"| {name} | {len(values_ms)} | {percentile(values_ms, 0.5):.2f} | {percentile(values_ms, 0.95):.2f} | {aim} |"
    )
