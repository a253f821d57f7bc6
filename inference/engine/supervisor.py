"""Starts an engine, watches it, restarts it, and stops all of it.

The engine runs in a process group of its own. Its output goes to `engine.log` in the run folder, its state to `state.json`
(`inference.engine.status`), its config to `config.json`. Failures that cannot heal (a broken model folder, a taken port) end the
supervisor at once; others are retried with growing pauses, a bounded number of times.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from inference.engine.config import EngineConfig, save_config
from inference.engine.diagnosis import Fault, explain_exit, find_fault_before_start, read_log_tail
from inference.engine.launcher import build_launch
from inference.engine.status import EngineState, EngineStatus, is_alive, read_status, utc_now, write_status

LOG_FILE = "engine.log"
_LOCK_FILE = "supervisor.lock"
_MAX_LOG_BYTES = 20_000_000
_PR_SET_PDEATHSIG = 1

_PHASES = (
    ("Application startup complete", "almost ready"),
    ("init engine", "warming up"),
    ("KV cache", "reserving the cache"),
    ("Loading weights", "model loaded"),
    ("Starting to load model", "loading the model"),
    ("Initializing a V1 LLM engine", "starting the worker"),
    ("Resolved architecture", "reading the model's config"),
)


class SupervisorError(RuntimeError):
    """The supervisor cannot run; the message says why."""


@dataclass(frozen=True)
class Pace:
    """How often the supervisor looks and how patient it is, in seconds; tests use a quicker one."""

    poll_s: float = 1.0
    probe_timeout_s: float = 5.0
    failures_until_degraded: int = 2
    failures_until_restart: int = 15
    stable_after_s: float = 600.0
    longest_delay_s: float = 30.0


class Supervisor:
    """One engine under watch. `run` blocks until `stop` is called (from a signal handler or another thread) or nothing helps."""

    def __init__(
        self,
        config: EngineConfig,
        *,
        pace: Pace = Pace(),
        on_progress: Callable[[EngineStatus], None] | None = None,
    ) -> None:
        self.config = config
        self.log_path = config.run_dir / LOG_FILE
        self._pace = pace
        self._on_progress = on_progress
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._restarts = 0
        self._log_start = 0
        self._status = self._new_status("starting", "Starting the engine.")
        self._client = httpx.Client(timeout=pace.probe_timeout_s, trust_env=False)

    @property
    def status(self) -> EngineStatus:
        return self._status

    def stop(self) -> None:
        """Ask `run` to stop the engine and return."""
        self._stop.set()

    def run(self) -> EngineStatus:
        """Keep the engine running; returns the last status, `stopped` or `failed`. Raises SupervisorError when already running."""
        with self._only_one():
            save_config(self.config)
            _end_leftover(self.config)
            self._set("starting", "Starting the engine.")
            try:
                return self._keep_running()
            finally:
                self._end_engine()
                self._client.close()

    # --- the life of the engine --------------------------------------------------------------------------------------

    def _keep_running(self) -> EngineStatus:
        while not self._stop.is_set():
            fault = find_fault_before_start(self.config) or self._one_life()
            if self._stop.is_set():
                break
            if fault.is_final or self._restarts >= self.config.max_restarts:
                tries = f" Tried {self._restarts + 1} times." if self._restarts else ""
                return self._set("failed", fault.message + tries)
            delay_s = min(self.config.restart_delay_s * 2**self._restarts, self._pace.longest_delay_s)
            self._restarts += 1
            self._set("degraded", f"{fault.message} Restart {self._restarts} in {delay_s:.0f} s.")
            self._stop.wait(delay_s)
        self._end_engine()
        return self._set("stopped", "Stopped on request.")

    def _one_life(self) -> Fault:
        """Start the engine and watch it; returns why it had to end."""
        self._start_engine()
        started = time.monotonic()
        healthy_since: float | None = None
        failures = 0
        while not self._stop.wait(self._pace.poll_s):
            process = self._process
            assert process is not None
            if (code := process.poll()) is not None:
                self._end_engine()
                return explain_exit(code, self._log_tail())
            if self._is_healthy():
                failures = 0
                healthy_since = healthy_since or time.monotonic()
                self._set("healthy", "Answering.")
                if time.monotonic() - healthy_since > self._pace.stable_after_s:
                    self._restarts = 0
                continue
            elapsed_s = time.monotonic() - started
            if healthy_since is None:
                if elapsed_s > self.config.start_timeout_s:
                    self._end_engine()
                    return Fault(f"The engine did not get ready within {elapsed_s:.0f} s.", is_final=False)
                self._set("starting", f"Starting: {self._phase()} ({elapsed_s:.0f} s).")
                continue
            failures += 1
            if failures >= self._pace.failures_until_restart:
                self._end_engine()
                return Fault("The engine stopped answering.", is_final=False)
            if failures >= self._pace.failures_until_degraded:
                self._set("degraded", "The engine runs but does not answer its health check.")
        return Fault("Stopped on request.", is_final=True)

    def _is_healthy(self) -> bool:
        try:
            return self._client.get(f"{self.config.root_url}/health").status_code == 200
        except httpx.HTTPError:
            return False

    def _phase(self) -> str:
        tail = self._log_tail()
        return next((phase for mark, phase in _PHASES if mark in tail), "loading libraries")

    def _log_tail(self) -> str:
        """The end of what this life of the engine wrote; an earlier life's faults are not this one's."""
        return read_log_tail(self.log_path, start=self._log_start)

    # --- the process -------------------------------------------------------------------------------------------------

    def _start_engine(self) -> None:
        launch = build_launch(self.config)
        with self._open_log() as log:
            self._log_start = log.seek(0, 2)
            log.write(f"--- {utc_now().isoformat()} {' '.join(launch.command)}\n".encode())
            log.flush()
            self._process = subprocess.Popen(
                launch.command,
                env=dict(launch.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._set("starting", f"Starting: {self._phase()} (0 s).")

    def _open_log(self) -> IO[bytes]:
        self.config.run_dir.mkdir(parents=True, exist_ok=True)
        if self.log_path.exists() and self.log_path.stat().st_size > _MAX_LOG_BYTES:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        return self.log_path.open("ab")

    def _end_engine(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _end_group(process.pid, self.config.stop_timeout_s, process)

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[None]:
        self.config.run_dir.mkdir(parents=True, exist_ok=True)
        with (self.config.run_dir / _LOCK_FILE).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SupervisorError(
                    f"An engine supervisor already runs for {self.config.run_dir}. Stop it with `make down` first."
                ) from None
            yield

    # --- state -------------------------------------------------------------------------------------------------------

    def _new_status(self, state: EngineState, message: str) -> EngineStatus:
        return EngineStatus(
            state=state,
            since=utc_now(),
            message=message,
            base_url=self.config.base_url,
            served_name="null" if self.config.engine == "null" else self.config.served_name,
            supervisor_pid=os.getpid(),
            engine_pid=self._process.pid if self._process else None,
            restarts=self._restarts,
        )

    def _set(self, state: EngineState, message: str) -> EngineStatus:
        status = self._new_status(state, message)
        if status.state == self._status.state:
            status = status.model_copy(update={"since": self._status.since})
        if status != self._status or not (self.config.run_dir / "state.json").exists():
            self._status = status
            write_status(self.config.run_dir, status)
            if self._on_progress:
                self._on_progress(status)
        return status


def _die_with_parent() -> None:
    """In the child: be told to stop when the supervisor dies without a chance to say so (Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_group(group: int, timeout_s: float, process: subprocess.Popen[bytes] | None = None) -> None:
    """SIGTERM, then after `timeout_s` SIGKILL, to every process of the group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process is not None:
            process.poll()
        if not _group_exists(group):
            return
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    if process is not None:
        process.wait()


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end_leftover(config: EngineConfig) -> None:
    """End an engine whose supervisor was killed before it could: the state file names it, its command line confirms it."""
    status = read_status(config.run_dir)
    if status is None or not is_alive(status.engine_pid) or is_alive(status.supervisor_pid):
        return
    pid = status.engine_pid or 0
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
        if "vllm.entrypoints" in words or "inference.engine.null_engine" in words:
            _end_group(pid, config.stop_timeout_s)


@contextlib.contextmanager
def running_engine(config: EngineConfig, *, pace: Pace = Pace(), timeout_s: float = 300.0) -> Iterator[Supervisor]:
    """Run an engine in a background thread for the length of a `with` block, ready when the block starts.

    Raises SupervisorError with the engine's own reason where it does not get ready.
    """
    supervisor = Supervisor(config, pace=pace)
    thread = threading.Thread(target=supervisor.run, name="engine-supervisor", daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + timeout_s
        while supervisor.status.state != "healthy":
            if not thread.is_alive() or time.monotonic() > deadline:
                raise SupervisorError(supervisor.status.message)
            time.sleep(0.05)
        yield supervisor
    finally:
        supervisor.stop()
        thread.join(config.stop_timeout_s + 10)
