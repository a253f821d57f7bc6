"""What the editor asks for with every pause in typing: check a draft that nobody has saved, render it, save it. Through REST, the
network left out.

Brings its own throwaway PostgreSQL. Tokens are counted with the demo model's tokenizer where `make up` has prepared it.

Run with `python -m benchmarks.editor`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.core import large_spec, timed_ms
from benchmarks.report import line, machine
from console import embedded
from console.startup import DEMO_MODEL
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import HarnessSpec
from livestream.world import DEMO_SHOP

_HERE = Path(__file__).resolve().parent.parent
ROUNDS = 60
TOOLS = 100


def typed_over(document: JsonObject, number: int) -> JsonObject:
    """The document after one more pause in typing: a description and a prompt text differ from all the others."""
    changed: JsonObject = json.loads(json.dumps(document))
    changed["tools"][number % TOOLS]["description"] += f" Typed {number}."
    changed["prompt"][0]["body"] += f" Typed {number}."
    return changed


def hundred_tools() -> HarnessSpec:
    """A harness of 100 bound tools with the sections, skills and hooks of `benchmarks.core`."""
    spec = large_spec("alpha")
    more = tuple(
        tool.model_copy(update={"id": f"{tool.id}-b", "name": f"{tool.name}_b"}) for tool in spec.tools[: TOOLS - 60]
    )
    runtime = spec.runtime.model_copy(update={"context_budget_tokens": 32_768})
    return spec.model_copy(update={"tools": (*spec.tools, *more), "runtime": runtime})


def main() -> str:
    """Print the table, and give it back."""
    with tempfile.TemporaryDirectory(prefix="tackroom-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres = embedded.start_postgres(folder / "postgres", is_throwaway=True)
        try:
            made = subprocess.run(
                [sys.executable, "-m", "benchmarks.editor", "measure"],
                cwd=_HERE,
                env={**os.environ, "DATABASE_URL": postgres.url, "DB_POOL": "0", "LOG_LEVEL": "WARNING"},
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            postgres.stop()
    rows = [row for row in made.stdout.splitlines() if row.startswith("|")]
    report = "\n".join([machine(), "", "| what | n | P50 ms | P95 ms | aim |", "|---|---|---|---|---|", *rows])
    print(report)
    return report


def measure() -> list[str]:
    """The rows of the table. In a process of its own, because the settings name one database for good."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from rest_framework.test import APIClient

    from harnesses.services import draft_open, harness_commit, harness_create
    from ledger.core.roles import Role
    from ledger.services import user_create

    call_command("migrate", verbosity=0)
    counted = _count_as_the_demo_model()
    person = user_create(username="benchmark-editor", password=None, roles=[Role.OPERATOR], acting_user=None)
    spec = hundred_tools()
    harness = harness_create(slug="benchmark-editor", title="Benchmark", world=DEMO_SHOP, acting_user=person)
    harness_commit(harness=harness, spec=spec, message="Benchmark", acting_user=person)
    draft = draft_open(harness=harness, acting_user=person)
    client = APIClient()
    client.force_login(person)
    document = spec.document()
    address = f"/api/v1/harnesses/{harness.slug}/drafts/{draft.pk}"
    kilobytes = len(json.dumps(document)) // 1000

    def post(action: str) -> Callable[[JsonObject], Any]:
        return lambda changed: client.post(f"{address}/{action}", {"document": changed}, format="json")

    revision = draft.revision

    def save(changed: JsonObject) -> Any:
        nonlocal revision
        headers = {"If-Match": f'"r{revision}"'}
        response = client.put(address, {"document": changed}, format="json", headers=headers)
        revision = response.json()["revision"]
        return response

    what = f"of a harness of {TOOLS} tools, {kilobytes} kB, tokens {counted}"
    return [
        line(f"check {what}", _times(post("check"), document), "under 100 ms"),
        line("prompt of the same", _times(post("prompt"), document)),
        line("save of the same", _times(save, document)),
    ]


def _times(action: Callable[[JsonObject], Any], document: JsonObject) -> list[float]:
    times = []
    for number in range(ROUNDS):
        changed = typed_over(document, number)

        def run(changed: JsonObject = changed) -> None:
            response = action(changed)
            if response.status_code != 200:
                raise RuntimeError(f"{response.status_code}: {response.content[:500]!r}")

        times.append(timed_ms(run))
    return times


def _count_as_the_demo_model() -> str:
    """Count with the demo model's tokenizer, if it is here; says how it is counted."""
    from django.conf import settings

    from harnesses import ports
    from inference.core.tokens import TokenizerError, counter_for

    folder = Path(settings.MODELS_DIR) / DEMO_MODEL
    try:
        counter_for(folder)
    except TokenizerError:
        return "estimated"
    ports.register_token_counter(lambda: counter_for(folder))
    return "counted"


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        print("\n".join(measure()))
    else:
        main()
