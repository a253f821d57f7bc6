"""What `make up` runs: which programs, with which commands and settings, in which order. Knows no Django.

Stores first, then migrations, then the web server, so that pages are there while the rest still warms; then demo data, workers,
and last the model and its engine, which want the processor for themselves.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from console import embedded
from console import environment as env
from console.processes import is_port_free, port_holder
from console.supervision import Program, child

HOST = "127.0.0.1"
DEFAULT_WEB_PORT = 8000
DEFAULT_ENGINE_PORT = 8001
MIGRATED = "migrated"
DEMO_MODEL = "smollm2-135m-instruct"
NEEDED_FREE_BYTES = 1_000_000_000
ENGINE_CHOICES = ("vllm", "null", "none")

WORKERS = (("worker", ("default", "serve")), ("worker-long", ("evaluate", "train")))
"""The Celery workers and the queues each serves: short work never waits behind long work."""
WORKER_QUEUES = tuple(queue for _, queues in WORKERS for queue in queues)

RANK_STEPS, RANK_WORK, RANK_REDIS, RANK_POSTGRES = range(4)


class StartupError(RuntimeError):
    """`make up` cannot go on; the message says what was expected, what was found and what to do."""


@dataclass(frozen=True)
class Plan:
    """The operator's choices, resolved: given URLs are used, empty ones mean "start our own".

    `engine` is one of ENGINE_CHOICES: the real one, the scripted stand-in, or none.
    """

    state_dir: Path
    web_port: int
    engine: str
    engine_port: int
    database_url: str = ""
    redis_url: str = ""
    engine_url: str = ""

    @property
    def log_dir(self) -> Path:
        return self.state_dir / "logs"

    @property
    def pid_dir(self) -> Path:
        return self.state_dir / "pids"

    @property
    def web_url(self) -> str:
        return f"http://{HOST}:{self.web_port}/"

    @property
    def model_dir(self) -> Path:
        """The folder of the demo's model."""
        return Path(env.configured("MODELS_DIR") or self.state_dir / "models") / DEMO_MODEL

    @property
    def own_engine_url(self) -> str:
        return f"http://{HOST}:{self.engine_port}/v1"


def _port(name: str, default: int) -> int:
    text = env.configured(name) or str(default)
    if not text.isdigit() or not 1 <= int(text) <= 65_535:
        raise StartupError(
            f'{name} must be a port from 1 to 65535; found "{text}". Example: make up {name}={default + 10}'
        )
    return int(text)


def make_plan() -> Plan:
    """Read the choices from the environment and `.env`. Raises StartupError."""
    engine = env.configured("ENGINE", "vllm")
    if engine not in ENGINE_CHOICES:
        raise StartupError(f'ENGINE must be one of {", ".join(ENGINE_CHOICES)}; found "{engine}".')
    engine_port = _port("ENGINE_PORT", DEFAULT_ENGINE_PORT)
    if not env.configured("ENGINE_PORT") and not is_port_free(engine_port):
        engine_port = embedded.free_port()  # nobody types this one in, so another will do
    return Plan(
        state_dir=env.STATE_DIR,
        web_port=_port("WEB_PORT", DEFAULT_WEB_PORT),
        engine=engine,
        engine_port=engine_port,
        database_url=env.configured("DATABASE_URL"),
        redis_url=env.configured("REDIS_URL"),
        engine_url=env.configured("ENGINE_URL"),
    )


# --- before anything starts ------------------------------------------------------------------------------------------


def check_ports(plan: Plan) -> None:
    """Raise StartupError where a port that must be ours is taken, saying by whom."""
    wanted = [("WEB_PORT", plan.web_port, "the web server")]
    if not plan.engine_url and plan.engine != "none":
        wanted.append(("ENGINE_PORT", plan.engine_port, "the model engine"))
    for name, port, what in wanted:
        if not is_port_free(port):
            holder = port_holder(port) or "another program"
            raise StartupError(
                f"Port {port} is wanted for {what} and is taken by {holder}. "
                f"Stop that, or choose another port: make up {name}={_free_port_near(port)}"
            )


def _free_port_near(port: int) -> int:
    return (
        next((other for other in range(port + 1, min(port + 50, 65_536)) if is_port_free(other)), 0)
        or embedded.free_port()
    )


def check_state_dir(plan: Plan) -> None:
    """Make the state folder. Raises StartupError where it cannot be written or the disk is full."""
    try:
        for folder in (plan.state_dir, plan.log_dir, plan.pid_dir):
            folder.mkdir(parents=True, exist_ok=True)
        probe = plan.state_dir / ".writable"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        raise StartupError(
            f"{plan.state_dir} must be a folder this user can write to: {error.strerror}. "
            "Mend its owner or mode, or set TACKROOM_STATE_DIR to another folder."
        ) from error
    free = shutil.disk_usage(plan.state_dir).free
    if free < NEEDED_FREE_BYTES:
        raise StartupError(
            f"The disk under {plan.state_dir} is nearly full: {free / 1e6:,.0f} MB are free, "
            f"{NEEDED_FREE_BYTES / 1e6:,.0f} MB are needed. Make room, or set TACKROOM_STATE_DIR to another disk."
        )


def check_given_services(plan: Plan) -> None:
    """Raise StartupError where a server that the operator named does not accept a connection."""
    given = (("REDIS_URL", plan.redis_url, 6379), ("ENGINE_URL", plan.engine_url, 80))
    for name, url, port in given:
        parts = urlsplit(url)
        if not url or not parts.hostname:
            continue
        try:
            socket.create_connection((parts.hostname, parts.port or port), timeout=5).close()
        except OSError as error:
            if name == "ENGINE_URL":
                continue  # it may come later, and the pages work without it
            raise StartupError(
                f"{name} names {parts.hostname}:{parts.port or port}, which does not answer: {error}."
            ) from error


# --- the programs ----------------------------------------------------------------------------------------------------


class Programs:
    """Builds the programs of a plan; `runtime` is the environment that the started stores add for the others."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.runtime: dict[str, str] = {"ENGINE": "" if plan.engine_url else plan.engine}

    def write_runtime_env(self) -> None:
        """Let `manage.py` in other terminals find what runs here."""
        values = {**self.runtime, "WEB_PORT": str(self.plan.web_port)}
        env.write_env_file(self.plan.state_dir / "runtime.env", values)

    def postgres(self) -> Program:
        """The embedded database; its URL is known once it runs."""

        def start() -> subprocess.Popen[bytes]:
            server = embedded.start_postgres(self.plan.state_dir / "postgres", log=self._log("postgres"))
            self.runtime["DATABASE_URL"] = server.url
            return server.process

        return Program(
            "postgres",
            start,
            self._log("postgres"),
            stop_signal=signal.SIGINT,
            stop_timeout_s=30,
            stop_rank=RANK_POSTGRES,
        )

    def redis(self) -> Program:
        """The embedded Redis; keeps its port over restarts, since everybody was told it."""

        def start() -> subprocess.Popen[bytes]:
            known = self.runtime.get("REDIS_URL")
            port = urlsplit(known).port if known else None
            server = embedded.start_redis(self.plan.state_dir / "redis", port=port, log=self._log("redis"))
            self.runtime["REDIS_URL"] = server.url
            return server.process

        return Program("redis", start, self._log("redis"), stop_timeout_s=15, stop_rank=RANK_REDIS)

    def manage(self, name: str, *arguments: str) -> Program:
        """One management command as a step."""
        return self._step(name, [sys.executable, "manage.py", *arguments])

    @property
    def is_migrated(self) -> bool:
        """Whether this database had every migration of this version before."""
        stamp = self.plan.state_dir / MIGRATED
        return stamp.exists() and stamp.read_text() == self._migrations_hash()

    def note_migrated(self) -> None:
        """Remember it for the next start, whose pages need not wait then."""
        (self.plan.state_dir / MIGRATED).write_text(self._migrations_hash())

    def _migrations_hash(self) -> str:
        digest = hashlib.sha256(self.runtime["DATABASE_URL"].encode())
        for path in sorted([*env.BASE_DIR.glob("*/migrations/*.py"), env.BASE_DIR / "requirements" / "base.lock"]):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()

    def web(self) -> Program:
        """The web server; ready when its pages answer."""
        command = [sys.executable, "-m", "uvicorn", "console.asgi:application", "--host", HOST]
        command += [
            "--port",
            str(self.plan.web_port),
            "--timeout-graceful-shutdown",
            "5",
            "--no-access-log",
            "--lifespan",
            "off",
        ]
        return self._lasting("web", command, is_ready=self._web_answers, settings={"DB_POOL": "1"}, stop_timeout_s=12)

    def worker(self, name: str, queues: Sequence[str]) -> Program:
        """A Celery worker. SIGTERM is remapped so that it hands unfinished tasks back to the queue within the soft limit."""
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "console",
            "worker",
            "-Q",
            ",".join(queues),
            "-n",
            f"{name}@%h",
        ]
        concurrency = 1 if "train" in queues else _concurrency()
        command += ["--concurrency", str(concurrency), "--loglevel", "INFO", "--without-mingle"]
        settings = {"REMAP_SIGTERM": "SIGQUIT"}
        return self._lasting(
            name, command, is_ready=_log_says(self._log(name), " ready."), settings=settings, stop_timeout_s=25
        )

    def beat(self) -> Program:
        """What sends periodic tasks. Its schedule file remembers when each ran last."""
        command = [sys.executable, "-m", "celery", "-A", "console", "beat", "--loglevel", "INFO", "--pidfile="]
        return self._lasting("beat", command, stop_timeout_s=10, stop_rank=RANK_STEPS)

    def model(self) -> Program:
        """Convert the model out of its package; a blink when that is done already."""
        return self._step(
            "model", [sys.executable, "-m", "inference.engine.prepare_model", "--out", str(self.plan.model_dir)]
        )

    def engine(self) -> Program:
        """The model engine under its own supervisor, which restarts it; so here it is started once."""
        run_dir = self.plan.state_dir / "engine"
        command = [
            sys.executable,
            "-m",
            "inference.engine",
            "--port",
            str(self.plan.engine_port),
            "--run-dir",
            str(run_dir),
        ]
        if self.plan.engine == "null":
            command += ["--engine", "null", "--profile", "cpu"]
        else:
            command += ["--model-dir", str(self.plan.model_dir)]
        (run_dir / "state.json").unlink(missing_ok=True)  # what an earlier run said is no news of this one
        return self._lasting(
            "engine",
            command,
            is_ready=lambda: _engine_state(run_dir)[0] == "healthy",
            describe=lambda: _without_seconds(_engine_state(run_dir)[1]),
            why=lambda: _engine_state(run_dir)[1],
            max_restarts=0,
            stop_timeout_s=25,
        )

    def _web_answers(self) -> bool:
        connection = http.client.HTTPConnection(HOST, self.plan.web_port, timeout=2)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _log(self, name: str) -> Path:
        return self.plan.log_dir / f"{name}.log"

    def _start(
        self, name: str, command: list[str], settings: Mapping[str, str]
    ) -> Callable[[], subprocess.Popen[bytes]]:
        def start() -> subprocess.Popen[bytes]:
            full = {"TACKROOM_STATE_DIR": str(self.plan.state_dir), **self.runtime, **settings}
            _rotate(self._log(name))
            return child(command, log=self._log(name), cwd=env.BASE_DIR, env=full)()

        return start

    def _step(self, name: str, command: list[str]) -> Program:
        return Program(
            name,
            self._start(name, command, {}),
            self._log(name),
            is_lasting=False,
            stop_timeout_s=10,
            stop_rank=RANK_STEPS,
        )

    def _lasting(
        self,
        name: str,
        command: list[str],
        *,
        is_ready: Callable[[], bool] | None = None,
        describe: Callable[[], str] | None = None,
        why: Callable[[], str] | None = None,
        settings: Mapping[str, str] | None = None,
        max_restarts: int | None = None,
        stop_timeout_s: float,
        stop_rank: int = RANK_WORK,
    ) -> Program:
        return Program(
            name,
            self._start(name, command, settings or {}),
            self._log(name),
            is_ready=is_ready,
            describe=describe,
            why=why,
            max_restarts=max_restarts,
            stop_timeout_s=stop_timeout_s,
            stop_rank=stop_rank,
        )


def _rotate(log: Path) -> None:
    """Every start has a log of its own; the one before is kept beside it."""
    if log.exists() and log.stat().st_size:
        log.replace(log.with_suffix(".log.1"))


def _log_says(log: Path, text: str) -> Callable[[], bool]:
    def says() -> bool:
        return log.exists() and text in log.read_text(errors="replace")

    return says


def _engine_state(run_dir: Path) -> tuple[str, str]:
    """State and message that the engine's supervisor last wrote; empty before it does."""
    try:
        status = json.loads((run_dir / "state.json").read_text())
        return str(status["state"]), str(status["message"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""


def _without_seconds(message: str) -> str:
    """`Starting: loading the model (8 s).` without the part that changes every second."""
    return message.split(" (", 1)[0].rstrip(".")


def _concurrency() -> int:
    """Two tasks side by side on small machines, half the cores on large ones, eight at most."""
    return min(8, max(2, (os.cpu_count() or 2) // 2))
