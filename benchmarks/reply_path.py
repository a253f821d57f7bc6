"""What Tackroom adds to a reply, and how much of the engine's throughput is left behind it.

Needs a running installation (`make up`). Two measurements, each against the engine that is deployed:

- **overhead**: the time a client waits for a turn over REST, less the time the engine took, one turn at a time;
- **throughput**: the same turns by 8 sessions at once, through Tackroom and then as bare requests to the engine with the very same
  prompts, taken in turns in one run. Both find the prompts in the engine's prefix cache, because a first pass warms it.

Run with `python -m benchmarks.reply_path`.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from dataclasses import dataclass
from http.client import HTTPConnection

import django
import httpx

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

from benchmarks.report import line, machine  # noqa: E402
from console import environment  # noqa: E402
from harnesses.core.jsonvalues import JsonObject  # noqa: E402
from harnesses.core.spec import HarnessSpec  # noqa: E402
from harnesses.runtime.loop import ENGINE_STOPS  # noqa: E402
from harnesses.runtime.openai_client import OpenAIChatClient  # noqa: E402
from harnesses.runtime.ports import ChatRequest, Message  # noqa: E402
from harnesses.selectors import version_get, version_spec  # noqa: E402
from inference.selectors import default_deployment  # noqa: E402
from ledger.core.tokens import Scope  # noqa: E402
from ledger.selectors import user_by_username  # noqa: E402
from ledger.services import token_create, token_revoke  # noqa: E402
from livestream.demo import demo_shop  # noqa: E402

HARNESS = "demo-shop"
SESSIONS = 8
ROUNDS = 4
SINGLE_TURNS = 30
COMMENTS = ("price of {id}?", "hi, love the show!", "how much is the {name}?")


@dataclass(frozen=True)
class Pass:
    """One pass over all sessions: wall time in seconds and tokens the engine wrote."""

    wall_s: float
    completion_tokens: int
    requests: tuple[tuple[ChatRequest, ...], ...] = ()

    @property
    def tokens_per_s(self) -> float:
        return self.completion_tokens / self.wall_s


class Console:
    """A REST client of the installation under test."""

    def __init__(self, base_url: str, secret: str) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        self.http = httpx.AsyncClient(base_url=f"{base_url}/api/v1", headers=headers, timeout=120)

    async def post(self, path: str, body: JsonObject) -> JsonObject:
        response = await self.http.post(path, json=body)
        response.raise_for_status()
        answer: JsonObject = response.json()
        return answer

    async def comments_of(self, seed: int) -> tuple[str, list[str]]:
        """A fresh session in the room of `seed`, and what its viewer will say."""
        session = await self.post("/sessions", {"harness": HARNESS, "seed": seed})
        shelf = session["room"]["shelf"]
        names = {item.id: item.name.lower() for item in demo_shop().items}
        return session["id"], [text.format(id=shelf[seed % len(shelf)], name=names[shelf[0]]) for text in COMMENTS]


async def overheads(console: Console) -> list[float]:
    """Milliseconds a client waits beyond the engine's own time, one turn after the other.

    By the plainest client there is, whose own time hardly counts.
    """
    found = []
    bare = HTTPConnection(console.http.base_url.host, console.http.base_url.port)
    headers = {"Authorization": console.http.headers["Authorization"], "Content-Type": "application/json"}
    session_id, comments = await console.comments_of(seed=99)
    for number in range(SINGLE_TURNS):
        if number % len(comments) == 0:
            session_id, comments = await console.comments_of(seed=99)
        body = json.dumps({"comment": comments[number % len(comments)]})
        started = time.perf_counter()
        bare.request("POST", f"/api/v1/sessions/{session_id}/turns", body, headers)
        answer = bare.getresponse().read()
        waited_ms = (time.perf_counter() - started) * 1000
        found.append(waited_ms - json.loads(answer)["timings"]["engine_ms"])
    bare.close()
    return found


async def through_console(console: Console, spec: HarnessSpec) -> Pass:
    """All sessions at once through the REST API."""
    opened = [await console.comments_of(seed) for seed in range(SESSIONS)]

    async def talk(session_id: str, comments: list[str]) -> int:
        written = 0
        for comment in comments:
            turn = await console.post(f"/sessions/{session_id}/turns", {"comment": comment})
            written += turn["tokens"]["completion"] or 0
        return written

    started = time.perf_counter()
    tokens = sum(await asyncio.gather(*(talk(*session) for session in opened)))
    wall_s = time.perf_counter() - started
    requests = [await _requests_of(console, session_id, spec) for session_id, _ in opened]
    return Pass(wall_s, tokens, tuple(requests))


async def _requests_of(console: Console, session_id: str, spec: HarnessSpec) -> tuple[ChatRequest, ...]:
    """Every request that the session's turns sent to the engine, read back from their traces."""
    requests = []
    for number in range(1, len(COMMENTS) + 1):
        response = await console.http.get(f"/sessions/{session_id}/turns/{number}")
        trace = response.raise_for_status().json()["trace"]
        messages = [Message(**message) for message in trace["messages"]]
        answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
        for index in answers[-len(trace["model_calls"]) :]:
            runtime = spec.runtime
            requests.append(
                ChatRequest(
                    tuple(messages[:index]),
                    runtime.max_reply_tokens,
                    runtime.temperature,
                    120,
                    stop=ENGINE_STOPS[runtime.call_format],
                )
            )
    return tuple(requests)


async def against_engine(client: OpenAIChatClient, requests: tuple[tuple[ChatRequest, ...], ...]) -> Pass:
    """The same requests straight to the engine, a worker for each session."""

    async def replay(own: tuple[ChatRequest, ...]) -> int:
        return sum([(await client.complete(request)).completion_tokens or 0 for request in own])

    started = time.perf_counter()
    tokens = sum(await asyncio.gather(*(replay(own) for own in requests)))
    return Pass(time.perf_counter() - started, tokens)


async def measure(base_url: str, secret: str, engine_url: str, served_name: str, spec: HarnessSpec) -> str:
    """Both measurements, as Markdown."""
    console = Console(base_url, secret)
    client = OpenAIChatClient(engine_url, served_name)
    waited = await overheads(console)
    ratios, lines = [], []
    warm = await through_console(console, spec)
    for number in range(1, ROUNDS + 1):
        # The one that comes second finds a warmer cache, so they take turns at that.
        if number % 2:
            ours = await through_console(console, spec)
            bare = await against_engine(client, warm.requests)
        else:
            bare = await against_engine(client, warm.requests)
            ours = await through_console(console, spec)
        ratios.append(ours.tokens_per_s / bare.tokens_per_s)
        lines.append(f"| {number} | {ours.tokens_per_s:.1f} | {bare.tokens_per_s:.1f} | {ratios[-1]:.3f} |")
    await client.aclose()
    await console.http.aclose()
    return "\n".join(
        [
            machine(),
            "",
            "| what | n | P50 ms | P95 ms | aim |",
            "|---|---|---|---|---|",
            line("turn over REST, less the engine's own time", waited, "15 ms or less at P50"),
            "",
            f"| round | tokens/s through Tackroom, {SESSIONS} sessions | tokens/s from the bare engine | ratio |",
            "|---|---|---|---|",
            *lines,
            "",
            f"Median ratio {statistics.median(ratios):.3f} (aim: 0.95 or more).",
        ]
    )


def main() -> str:
    """Measure the running installation. Raises SystemExit where none runs."""
    base_url = environment.read("WEB_URL", f"http://127.0.0.1:{environment.read('WEB_PORT', '8000')}")
    deployment = default_deployment()
    if deployment is None:
        raise SystemExit("There is no demo installation here. Start one with `make up`.")
    owner = user_by_username("platform")
    scopes = [Scope.SESSIONS_WRITE, Scope.SESSIONS_READ]
    created = token_create(owner=owner, name="benchmark", scopes=scopes, acting_user=owner, ttl_days=1)
    spec = version_spec(version_get(HARNESS))
    try:
        report = asyncio.run(
            measure(base_url, created.secret, deployment.base_url, deployment.checkpoint.served_name, spec)
        )
    finally:
        token_revoke(token=created.token, acting_user=owner, reason="The benchmark is over.")
    print(report)
    return report


if __name__ == "__main__":
    main()
