"""How fast viewer tasks are made, played by the expert and graded, on one core.

Run with `python -m benchmarks.grading`. Needs no services.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from benchmarks.report import machine
from harnesses.runtime.trace import Trace
from livestream.demo import demo_harness
from livestream.tasks.expert import play_expert
from livestream.tasks.generator import generate
from livestream.tasks.grading import grade
from livestream.tasks.task import Task

ROUNDS = 5
INVENTED = " It even costs only 77.77 yuan, with 37% off."
Graded = list[tuple[Task, Trace]]


async def play_all(tasks: tuple[Task, ...]) -> Graded:
    """Every task with the expert's trace."""
    harness = demo_harness()
    return [(task, await play_expert(harness, task)) for task in tasks]


def per_second(count: int, action: Callable[[], object]) -> float:
    """How many of `count` things an action does in a second of processor time."""
    started = time.process_time()
    action()
    return count / (time.process_time() - started)


def main() -> str:
    """Print the table, and give it back."""
    tasks = generate(0)
    played = asyncio.run(play_all(tasks))
    wrong = [(task, trace.model_copy(update={"reply": trace.reply + INVENTED})) for task, trace in played]
    if any(grade(task, trace).score != 1 for task, trace in played):
        raise RuntimeError("the expert lost points; mend that before measuring")

    def grade_all(pairs: Graded) -> None:
        for _ in range(ROUNDS):
            for task, trace in pairs:
                grade(task, trace)

    count = len(tasks)
    rows = [
        ("tasks made", count, per_second(count, lambda: generate(1)), ""),
        ("tasks played by the expert through the agent loop", count, per_second(count, lambda: asyncio.run(play_all(tasks))), ""),
        ("traces graded, right answers", count * ROUNDS, per_second(count * ROUNDS, lambda: grade_all(played)), "10,000"),
        ("traces graded, invented figures", count * ROUNDS, per_second(count * ROUNDS, lambda: grade_all(wrong)), ""),
    ]  # fmt: skip
    lines = [f"| {name} | {n:,} | {rate:,.0f} | {aim} |" for name, n, rate, aim in rows]
    report = "\n".join([machine(), "", "| what | n | a second and core | aim |", "|---|---|---|---|", *lines])
    print(report)
    return report


if __name__ == "__main__":
    main()
