"""Starts programs, watches them, restarts them with growing pauses, and stops all of them in order. Knows no Django.

One loop in one thread: `tick` looks at every program once. What the programs are is said in `console.startup`.
"""

from __future__ import annotations

import enum
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console.processes import ProcessRecord, live_members, record_process, stop_processes

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 30.0
STABLE_AFTER_S = 60.0
TICK_S = 0.2


class State(enum.Enum):
    """Where a program stands."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting to restart"
    FINISHED = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Program:
    """One program to run.

    `start` starts it and returns the child, leader of a session of its own. `is_ready` tells whether it serves yet (None: at once).
    `is_lasting` programs are restarted when they end, up to `max_restarts` times in a row (None: always); others are steps that
    should end with 0. `why` explains an end in the program's own words (None: the log's last line). `stop_rank` orders stopping.
    """

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    log: Path
    is_ready: Callable[[], bool] | None = None
    is_lasting: bool = True
    max_restarts: int | None = None
    why: Callable[[], str] | None = None
    describe: Callable[[], str] | None = None
    stop_signal: int = signal.SIGTERM
    stop_timeout_s: float = 10.0
    stop_rank: int = 0


@dataclass
class _Run:
    """What the supervisor knows of a program."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    record: ProcessRecord | None = None
    state: State = State.STARTING
    started: float = 0.0
    restart_at: float = 0.0
    restarts: int = 0
    told: str = ""


Say = Callable[[str, str], None]


def child(
    command: Sequence[str], *, log: Path, cwd: Path, env: Mapping[str, str] | None = None
) -> Callable[[], subprocess.Popen[bytes]]:
    """A `Program.start` for an ordinary command whose output goes to a log file."""

    def start() -> subprocess.Popen[bytes]:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return subprocess.Popen(
                list(command),
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=cwd,
                env={**os.environ, **(env or {}), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )

    return start


def last_line(log: Path) -> str:
    """The last line of a log that says something, for messages."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4000))
            lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


@dataclass
class Supervisor:
    """Runs programs. `say(name, words)` takes each change of state; `pid_dir` holds the pid files for `make down`.

    `after_tick` may launch what waits for something else.
    """

    pid_dir: Path
    say: Say
    now: Callable[[], float] = time.monotonic
    runs: dict[str, _Run] = field(default_factory=dict)
    after_tick: Callable[[], None] = lambda: None

    def launch(self, program: Program) -> None:
        """Start a program and watch it from now on. Raises OSError where it cannot be started at all."""
        run = _Run(program)
        self.runs[program.name] = run
        self._start(run)

    def state(self, name: str) -> State | None:
        """Where a program stands; None for one that was never launched."""
        return self.runs[name].state if name in self.runs else None

    def _start(self, run: _Run) -> None:
        program = run.program
        run.state, run.started = State.STARTING, self.now()
        run.process = program.start()
        run.record = record_process(
            self.pid_dir, program.name, run.process.pid, stop_signal=program.stop_signal, stop_rank=program.stop_rank
        )
        if run.restarts or not program.is_lasting or program.is_ready is not None:
            self._tell(run, "starting" if program.is_lasting else "running")

    def _tell(self, run: _Run, words: str) -> None:
        if words != run.told:
            run.told = words
            self.say(run.program.name, words)

    def tick(self) -> None:
        """Look at every program once: collect the ended, restart those whose pause is over, ask the starting whether they serve."""
        for run in list(self.runs.values()):
            if run.state is State.WAITING and self.now() >= run.restart_at:
                self._restart(run)
            elif run.state in (State.STARTING, State.READY):
                self._look(run)
        self.after_tick()

    def _look(self, run: _Run) -> None:
        assert run.process is not None
        code = run.process.poll()
        if code is not None:
            self._ended(run, code)
            return
        program = run.program
        if run.state is State.STARTING and program.is_lasting and (program.is_ready is None or program.is_ready()):
            run.state = State.READY
            self._tell(run, "ready" if program.is_ready is None else f"ready after {self.now() - run.started:.1f} s")
        elif program.describe is not None and (words := program.describe()):
            self._tell(run, words)
        if run.restarts and self.now() - run.started > STABLE_AFTER_S:
            run.restarts = 0

    def _ended(self, run: _Run, code: int) -> None:
        program = run.program
        self._forget(run)
        if not program.is_lasting:
            run.state = State.FINISHED if code == 0 else State.FAILED
            seconds = self.now() - run.started
            self._tell(
                run, f"done in {seconds:.1f} s" if code == 0 else f"failed ({_exit(code)}): {self._why(program)}"
            )
            return
        if program.max_restarts is not None and run.restarts >= program.max_restarts:
            run.state = State.FAILED
            self._tell(run, f"failed ({_exit(code)}): {self._why(program)}")
            return
        delay_s = min(FIRST_DELAY_S * 2**run.restarts, LONGEST_DELAY_S)
        run.restarts += 1
        run.state, run.restart_at = State.WAITING, self.now() + delay_s
        self._tell(
            run, f"ended unasked ({_exit(code)}), restart {run.restarts} in {delay_s:.0f} s: {self._why(program)}"
        )

    def _restart(self, run: _Run) -> None:
        try:
            self._start(run)
        except Exception as error:  # whatever keeps one program from starting must not end the others
            run.restarts += 1
            run.state = State.WAITING
            run.restart_at = self.now() + min(FIRST_DELAY_S * 2**run.restarts, LONGEST_DELAY_S)
            self._tell(run, f"does not start: {error}")

    def _why(self, program: Program) -> str:
        reason = program.why() if program.why is not None else ""
        return f"{reason or last_line(program.log) or 'it said nothing'} (log: {program.log})"

    def _forget(self, run: _Run) -> None:
        """End what the program left behind, and drop its pid file."""
        if run.record is not None and live_members(run.record):
            stop_processes([run.record], timeout_s=3)
        run.process = run.record = None
        (self.pid_dir / f"{run.program.name}.json").unlink(missing_ok=True)

    def wait_for(self, name: str, *, is_stopping: Callable[[], bool], timeout_s: float | None = None) -> State:
        """Tick until a program is ready, done or failed, the time is over, or a stop is asked for; returns its state."""
        deadline = None if timeout_s is None else self.now() + timeout_s
        while not is_stopping() and (deadline is None or self.now() < deadline):
            self.tick()
            state = self.runs[name].state
            if state in (State.READY, State.FINISHED, State.FAILED):
                return state
            time.sleep(TICK_S)
        return self.runs[name].state

    def stop_all(self, *, is_hurried: Callable[[], bool] = lambda: False) -> list[str]:
        """Stop every program, rank by rank; returns the names of those that had to be killed."""
        killed: list[str] = []
        for rank in sorted({run.program.stop_rank for run in self.runs.values()}):
            runs = [run for run in self.runs.values() if run.program.stop_rank == rank]
            records = [run.record for run in runs if run.record is not None]
            if records:
                self.say("stopping", ", ".join(record.name for record in records))
            timeout_s = max((run.program.stop_timeout_s for run in runs), default=0)
            left = stop_processes(records, timeout_s=timeout_s, reap=self._reap, is_hurried=is_hurried)
            killed += [record.name for record in left]
            for run in runs:
                run.state = State.STOPPED
                self._forget(run)
        return killed

    def _reap(self) -> None:
        for run in self.runs.values():
            if run.process is not None:
                run.process.poll()


def _exit(code: int) -> str:
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


class Reporter:
    """Prints plain progress lines with the seconds since the start. Survives a terminal that went away."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, name: str, words: str) -> None:
        self.line(f"{time.monotonic() - self._started:7.1f} s  {name:<12} {words}")

    def line(self, text: str) -> None:
        """One line as it is."""
        try:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        except OSError:
            pass
