"""How fast a label is resolved: requests a second and core, and how long each waits, with and without a 304.

Brings its own throwaway PostgreSQL and its own web server, started as `make up` starts it, and asks over a few kept connections
with a client that costs next to nothing. "A second and core" is the server's own processor time: the client and the database run
beside it on the same machine.

Run with `python -m benchmarks.resolve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import machine, percentile
from console import embedded

REQUESTS = 4_000
CLIENTS = 4
WARM_UP = 400
AIM_PER_CORE = 1_000
_HERE = Path(__file__).resolve().parent.parent
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """One run: what each request waited in milliseconds, wall and server processor time in seconds, body size in bytes."""

    waited_ms: list[float]
    wall_s: float
    server_cpu_s: float
    body_bytes: int

    @property
    def per_core(self) -> float:
        return len(self.waited_ms) / self.server_cpu_s

    def row(self, name: str) -> str:
        """A row of the table."""
        p50, p95 = percentile(self.waited_ms, 0.5), percentile(self.waited_ms, 0.95)
        return (
            f"| {name} | {len(self.waited_ms)} | {self.body_bytes:,} | {self.per_core:,.0f} | "
            f"{len(self.waited_ms) / self.wall_s:,.0f} | {p50:.2f} | {p95:.2f} |"
        )


# --- what is asked: made in a process of its own, because the settings name one database for good --------------------


def prepare() -> str:
    """A harness whose `production` points to a version, and a token that may read it: the token's secret."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from harnesses.services import harness_commit, harness_create, label_move, review_decide, review_request
    from ledger.core.roles import Role
    from ledger.core.tokens import Scope
    from ledger.services import token_create, user_create
    from livestream.demo import demo_harness
    from livestream.world import DEMO_SHOP

    call_command("migrate", verbosity=0)
    author, *reviewers = (
        user_create(username=name, password=None, roles=[role], acting_user=None)
        for name, role in (("author", Role.OPERATOR), ("one", Role.REVIEWER), ("two", Role.REVIEWER))
    )
    harness = harness_create(slug="bench", title="Benchmark", world=DEMO_SHOP, acting_user=None)
    version = harness_commit(harness=harness, spec=demo_harness(), message="First", acting_user=author).version
    review = review_request(version=version, message="", reviewers=(), acting_user=author)
    for person in reviewers:
        review_decide(review=review, verdict="approve", reason="", number=1, acting_user=person)
    label_move(
        harness=harness,
        name="production",
        version=version,
        reason="Benchmark",
        confirm="production",
        acting_user=reviewers[0],
    )
    scopes = [Scope.HARNESSES_READ]
    return token_create(owner=author, name="benchmark", scopes=scopes, acting_user=author).secret


# --- the server ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def served() -> Iterator[tuple[int, int, str]]:
    """A web server with a label to resolve: its port, its process id, the token."""
    with tempfile.TemporaryDirectory(prefix="tackroom-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres = embedded.start_postgres(folder / "postgres", is_throwaway=True)
        port = _free_port()
        settings = {
            **os.environ,
            "DATABASE_URL": postgres.url,
            "TACKROOM_STATE_DIR": str(folder / "state"),
            "DB_POOL": "1",
            "LOG_LEVEL": "WARNING",
        }
        try:
            made = subprocess.run(
                [sys.executable, "-m", "benchmarks.resolve", "prepare"],
                cwd=_HERE,
                env={**settings, "DB_POOL": "0"},
                check=True,
                capture_output=True,
                text=True,
            )
            command = [sys.executable, "-m", "uvicorn", "console.asgi:application", "--host", "127.0.0.1"]
            command += ["--port", str(port), "--no-access-log", "--lifespan", "off"]
            server = subprocess.Popen(command, cwd=_HERE, env=settings)
            try:
                _wait_for(port, server)
                yield port, server.pid, made.stdout.split()[-1]
            finally:
                server.terminate()
                server.wait(15)
        finally:
            postgres.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise SystemExit("The web server did not start; its reason stands above.")


def cpu_s(pid: int) -> float:
    """The processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


# --- the client ------------------------------------------------------------------------------------------------------


async def ask(port: int, request: bytes, count: int, status: bytes) -> tuple[list[float], int, bytes]:
    """Send a request `count` times over one connection: milliseconds waited, size of the last body, last head.

    Raises SystemExit for an answer of another status.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    waited, size, head = [], 0, b""
    for _ in range(count):
        started = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        size = _length(head)
        if size:
            await reader.readexactly(size)
        waited.append((time.perf_counter() - started) * 1000)
        if not head.startswith(b"HTTP/1.1 " + status):
            raise SystemExit(f"Expected {status.decode()}, got: {head[:200].decode()}")
    writer.close()
    return waited, size, head


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def measure(port: int, pid: int, request: bytes, status: bytes) -> Measured:
    """All clients at once."""
    await ask(port, request, WARM_UP, status)
    cpu_before, started = cpu_s(pid), time.perf_counter()
    runs = await asyncio.gather(*(ask(port, request, REQUESTS // CLIENTS, status) for _ in range(CLIENTS)))
    wall_s, used_s = time.perf_counter() - started, cpu_s(pid) - cpu_before
    return Measured([item for run in runs for item in run[0]], wall_s, used_s, runs[0][1])


async def _measure_both(port: int, pid: int, secret: str) -> tuple[Measured, Measured]:
    head = f"GET /api/v1/harnesses/bench/resolve?label=production HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    head += f"Authorization: Bearer {secret}\r\nAccept: application/json\r\n"
    whole_request = f"{head}\r\n".encode()
    _, _, answer = await ask(port, whole_request, 1, b"200")
    etag = next(line.partition(b":")[2].strip() for line in answer.split(b"\r\n") if line.lower().startswith(b"etag"))
    whole = await measure(port, pid, whole_request, b"200")
    known = await measure(port, pid, f"{head}If-None-Match: {etag.decode()}\r\n\r\n".encode(), b"304")
    return whole, known


def main() -> str:
    """Measure, print the table, and give it back."""
    with served() as (port, pid, secret):
        whole, known = asyncio.run(_measure_both(port, pid, secret))
    report = "\n".join(
        [
            machine(),
            "",
            f"{CLIENTS} clients at once. The aim is {AIM_PER_CORE:,} requests a second and core, 304s included.",
            "",
            "| what | n | body bytes | requests/s and core | requests/s beside the client | P50 ms | P95 ms |",
            "|---|---|---|---|---|---|---|",
            whole.row("resolve, 200 with the whole harness"),
            known.row("resolve, 304 for the ETag in hand"),
        ]
    )
    print(report)
    return report


if __name__ == "__main__":
    if sys.argv[1:] == ["prepare"]:
        print(prepare())
    else:
        main()
