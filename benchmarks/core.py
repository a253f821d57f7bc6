"""How long the rules take: validate + diff + hash of a harness with 200 components, and the render of a prompt.

Run with `python -m benchmarks.core`. Needs no services.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from benchmarks.report import line, machine
from harnesses.core.bindings import identity_binding
from harnesses.core.diff import diff_specs
from harnesses.core.risk import assess
from harnesses.core.spec import AddContext, HarnessSpec, Hook, PromptSection, Skill, Tool
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.core.validation import validate
from harnesses.runtime.render import render_prompt
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE

ROUNDS = 60
OPERATIONS = tuple(CATALOGUE.values())


def large_spec(marker: str) -> HarnessSpec:
    """A harness of 200 components: 60 sections, 40 skills, 60 tools, 40 hooks. `marker` goes into one text and one name."""
    sections = tuple(
        PromptSection(
            id=f"section-{n}", title=f"Section {n}", body=f"Answer in {n} words. {{{{ host.name }}}} is live. {marker}"
        )
        for n in range(60)
    )
    tools = tuple(
        Tool(
            id=f"tool-{n}",
            name=f"tool_{n}_{marker}" if n == 7 else f"tool_{n}",
            description=f"{OPERATIONS[n % len(OPERATIONS)].description} ({n})",
            input_schema=OPERATIONS[n % len(OPERATIONS)].input_schema,
            binding=identity_binding(OPERATIONS[n % len(OPERATIONS)]),
        )
        for n in range(60)
    )
    skills = tuple(
        Skill(
            id=f"skill-{n}",
            name=f"skill-{n}",
            description=f"Use for case {n}.",
            body=f'Call {{{{ tool("tool-{n}") }}}} first.',
        )
        for n in range(40)
    )
    hooks = tuple(
        Hook(
            id=f"hook-{n}",
            name=f"hook-{n}",
            event="UserPromptSubmit",
            action=AddContext(text=f"Remember point {n}.", slot="user_suffix"),
        )
        for n in range(40)
    )
    return HarnessSpec(prompt=sections, skills=skills, tools=tools, hooks=hooks)


def timed_ms(action: Callable[[], object]) -> float:
    """Wall time of one call, in milliseconds."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def fresh(spec: HarnessSpec) -> HarnessSpec:
    """An equal spec that no cache knows yet."""
    return HarnessSpec.model_validate(spec.document())


def main() -> str:
    """Print the table, and give it back."""
    old, new = large_spec("alpha"), large_spec("beta")
    demo = demo_harness()

    def review(a: HarnessSpec, b: HarnessSpec) -> None:
        validate(b, CATALOGUE)
        diff_specs(a, b)
        _ = b.spec_hash

    pairs = [(fresh(old), fresh(new)) for _ in range(ROUNDS)]
    reviews = [timed_ms(partial(review, *pair)) for pair in pairs]
    warm = [timed_ms(partial(review, old, new)) for _ in range(ROUNDS)]
    risks = [timed_ms(partial(assess, a, b, CATALOGUE)) for a, b in pairs]
    first_renders = [timed_ms(partial(render_prompt, fresh(demo), SAMPLE_CONTEXT)) for _ in range(ROUNDS)]
    renders = [timed_ms(partial(render_prompt, demo, SAMPLE_CONTEXT)) for _ in range(ROUNDS)]
    report = "\n".join(
        [
            machine(),
            "",
            "| what | n | P50 ms | P95 ms | aim |",
            "|---|---|---|---|---|",
            line("validate + diff + hash, 200 components, never seen before", reviews, "under 50 ms"),
            line("the same, seen before", warm, "under 50 ms"),
            line("risk of that change", risks),
            line("render of the demo prompt, version never seen before", first_renders),
            line("render of the demo prompt, version in service", renders, "under 2 ms"),
        ]
    )
    print(report)
    return report


if __name__ == "__main__":
    main()
