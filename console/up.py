"""`python -m console.up [up | down | clean]`: start everything this installation runs, stop it, or remove its data.

Called by `make up`, `make down` and `make clean`. Knows no Django: it must start before there is a database.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from console import embedded
from console import environment as env
from console.processes import (
    ProcessRecord,
    is_running,
    live_members,
    read_record,
    read_records,
    record_process,
    stop_processes,
)
from console.startup import (
    RANK_POSTGRES,
    WORKERS,
    Plan,
    Programs,
    StartupError,
    check_given_services,
    check_ports,
    check_state_dir,
    make_plan,
)
from console.supervision import TICK_S, Reporter, State, Supervisor, last_line

SUPERVISOR = "supervisor"
DOWN_TIMEOUT_S = 90
STEP_TIMEOUT_S = 600
WEB_TIMEOUT_S = 60
OUR_FILES = (
    *("postgres", "postgres.unfinished", "postgres-programs", "redis", "models", "engine", "logs", "pids"),
    *(
        "runtime.env",
        "migrated",
        "secret_key",
        "celerybeat-schedule*",
        "demo-logins.json",
        "up.lock",
        f"{SUPERVISOR}.json",
    ),
)


class _Signals:
    """Counts the requests to stop: the first asks for an orderly stop, the second for a quick one."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # `nohup make up` stays
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.count += 1

    def is_stopping(self) -> bool:
        return self.count > 0

    def is_hurried(self) -> bool:
        return self.count > 1


@contextlib.contextmanager
def _only_one(plan: Plan) -> Iterator[None]:
    """Hold the installation's lock, which the system lets go of however this process ends. Raises StartupError."""
    with (plan.state_dir / "up.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            runtime = env.read_env_file(plan.state_dir / "runtime.env")
            url = f"http://127.0.0.1:{runtime['WEB_PORT']}/" if "WEB_PORT" in runtime else "its pages"
            raise StartupError(f"Tackroom is already running here: {url}. Stop it with `make down`.") from None
        record_process(plan.state_dir, SUPERVISOR, os.getpid(), stop_signal=signal.SIGTERM, stop_rank=0)
        try:
            yield
        finally:
            (plan.state_dir / f"{SUPERVISOR}.json").unlink(missing_ok=True)


def up() -> int:
    """Start everything and stay until a signal; returns the exit status."""
    reporter = Reporter()
    try:
        plan = make_plan()
        check_state_dir(plan)
        with _only_one(plan):
            if leftovers := sweep(plan.pid_dir):
                reporter("leftovers", f"of an earlier run stopped: {', '.join(leftovers)}")
            check_ports(plan)
            check_given_services(plan)
            return _Up(plan, reporter).run()
    except (StartupError, embedded.EmbeddedServiceError) as error:
        reporter.line(f"\n{error}")
        return 1


class _Up:
    """One run of `make up`."""

    def __init__(self, plan: Plan, reporter: Reporter) -> None:
        self.plan = plan
        self.reporter = reporter
        self.signals = _Signals()
        self.programs = Programs(plan)
        self.supervisor = Supervisor(plan.pid_dir, reporter, after_tick=self._go_on)
        self.pending: list[str] = []
        self.is_welcomed = False

    def run(self) -> int:
        code = 1
        try:
            self._start_pages()
            self._start_rest()
            self._watch()
            code = 0
        except OSError as error:
            raise StartupError(
                f"A program could not be started: {error}. Run `make install`, then `make up` again."
            ) from error
        finally:
            if self.signals.count:
                code = 0
                self.reporter.line("")
            killed = self.supervisor.stop_all(is_hurried=self.signals.is_hurried)
            (self.plan.state_dir / "runtime.env").unlink(missing_ok=True)
            words = f"everything; {', '.join(killed)} had to be killed" if killed else "everything"
            self.reporter("stopped", words)
        return code

    def _start_pages(self) -> None:
        """Stores, migrations, web server: after this the pages answer. Raises StartupError."""
        plan, programs, supervisor = self.plan, self.programs, self.supervisor
        programs.runtime["DATABASE_URL"] = plan.database_url
        if not plan.database_url:
            supervisor.launch(programs.postgres())
        programs.runtime["REDIS_URL"] = plan.redis_url
        if not plan.redis_url:
            supervisor.launch(programs.redis())
        programs.runtime["ENGINE_URL"] = plan.engine_url or plan.own_engine_url
        programs.write_runtime_env()
        supervisor.tick()
        # Tables that are known to be as the code wants them are checked after the pages are there, all others before.
        steps = (self._web, self._migrate) if programs.is_migrated else (self._migrate, self._web)
        for step in steps:
            if not self.signals.is_stopping():
                step()

    def _web(self) -> None:
        self.supervisor.launch(self.programs.web())
        self.supervisor.wait_for("web", is_stopping=self.signals.is_stopping, timeout_s=WEB_TIMEOUT_S)
        if self.signals.is_stopping():
            return
        if demo_logins(self.plan.state_dir):
            self._print_welcome()
        self._begin_engine()

    def _start_rest(self) -> None:
        if self.signals.is_stopping():
            return
        self.supervisor.launch(self.programs.manage("seed", "seed_demo"))
        self.supervisor.wait_for("seed", is_stopping=self.signals.is_stopping, timeout_s=STEP_TIMEOUT_S)
        if self.signals.is_stopping():
            return
        if not self.is_welcomed:
            self._print_welcome()
        for name, queues in WORKERS:
            self.supervisor.launch(self.programs.worker(name, queues))
        self.supervisor.launch(self.programs.beat())

    def _migrate(self) -> None:
        """Raises StartupError: without its tables nothing works."""
        self.supervisor.launch(self.programs.manage("migrate", "migrate", "--noinput"))
        state = self.supervisor.wait_for("migrate", is_stopping=self.signals.is_stopping, timeout_s=STEP_TIMEOUT_S)
        if state is State.FAILED:
            log = self.plan.log_dir / "migrate.log"
            raise StartupError(f"The database could not be migrated: {last_line(log)}\nThe whole log: {log}")
        if state is State.FINISHED:
            self.programs.note_migrated()

    def _begin_engine(self) -> None:
        """The slowest part goes first once the pages are there: prepare the model; the rest follows in `_go_on`."""
        if self.plan.engine_url or self.plan.engine == "null":
            self.pending = ["deployment", "engine"]
        elif self.plan.engine == "vllm":
            self.supervisor.launch(self.programs.model())
            self.pending = ["engine", "deployment"]
        if self.plan.engine_url:
            self.pending.remove("engine")

    def _go_on(self) -> None:
        """Once the model is there, start the engine; once the tables are, too, say in the database which deployment serves it."""
        if not self.pending or self.supervisor.state("model") not in (None, State.FINISHED):
            return
        if self.pending[0] == "engine":
            self.supervisor.launch(self.programs.engine())
        elif self.supervisor.state("migrate") is State.FINISHED:
            self.supervisor.launch(self.programs.manage("deployment", "register_deployment"))
        else:
            return
        self.pending.pop(0)

    def _watch(self) -> None:
        """Stay until a signal."""
        while not self.signals.is_stopping():
            self.supervisor.tick()
            time.sleep(TICK_S)

    def _print_welcome(self) -> None:
        self.is_welcomed = True
        line = self.reporter.line
        line(f"\n  Tackroom is at {self.plan.web_url}")
        for login in demo_logins(self.plan.state_dir):
            line(f"    {login['username']:<10} {login['password']:<20} {login['role']}")
        if not self.plan.engine_url and self.plan.engine != "none":
            line("  The model engine is still warming up; the pages say so until it answers.")
        line("  Ctrl-C, or `make down` in another terminal, stops all of it.\n")


def demo_logins(state_dir: Path) -> list[dict[str, str]]:
    """User name, password and role of each demo user, as `seed_demo` left them; empty where there is no demo."""
    try:
        return list(json.loads((state_dir / "demo-logins.json").read_text()))
    except (OSError, ValueError):
        return []


# --- down ------------------------------------------------------------------------------------------------------------


def sweep(pid_dir: Path) -> list[str]:
    """Stop what an earlier run left behind, workers before stores; returns the names of what was still there."""
    records = [record for record in read_records(pid_dir) if live_members(record)]
    for rank in sorted({record.stop_rank for record in records}):
        chosen = [record for record in records if record.stop_rank == rank]
        stop_processes(chosen, timeout_s=30 if rank == RANK_POSTGRES else 20)
    for path in pid_dir.glob("*.json"):
        path.unlink(missing_ok=True)
    return [record.name for record in records]


def down() -> int:
    """Ask the running `make up` to stop and wait for it, then stop what a crashed one left; returns the exit status."""
    state_dir = env.STATE_DIR
    say = Reporter()
    record = read_record(state_dir / f"{SUPERVISOR}.json")
    was_running = record is not None and is_running(record)
    if record is not None and was_running:
        say("down", f"asking process {record.pid} to stop everything")
        if not _wait_for_end(record, say):
            say("down", f"process {record.pid} did not end within {DOWN_TIMEOUT_S} s: killing it")
            stop_processes([record], timeout_s=0)
    leftovers = sweep(state_dir / "pids")
    (state_dir / f"{SUPERVISOR}.json").unlink(missing_ok=True)
    (state_dir / "runtime.env").unlink(missing_ok=True)
    if leftovers:
        say("down", f"leftovers of a crashed run stopped: {', '.join(leftovers)}")
    say("down", "stopped" if was_running or leftovers else "nothing was running")
    return 0


def _wait_for_end(record: ProcessRecord, say: Reporter) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(record.pid, signal.SIGTERM)
    deadline = time.monotonic() + DOWN_TIMEOUT_S
    next_word = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not is_running(record):
            return True
        if time.monotonic() > next_word:
            left = [one.name for one in read_records(env.STATE_DIR / "pids") if live_members(one)]
            say("down", f"still stopping: {', '.join(left) or 'the supervisor'}")
            next_word = time.monotonic() + 5
        time.sleep(0.1)
    return False


def clean() -> int:
    """Remove the data of this installation; the packages in `.venv` stay. Refuses while it runs."""
    state_dir = env.STATE_DIR
    record = read_record(state_dir / f"{SUPERVISOR}.json")
    if record is not None and is_running(record):
        Reporter().line("Tackroom is running here. Stop it with `make down` first.")
        return 1
    sweep(state_dir / "pids")
    if state_dir.exists():
        home = embedded.postgres_home(state_dir / "postgres")
        for folder in (state_dir, home.parent):
            _remove_known(folder)
    Reporter().line(f"Removed {state_dir}.")
    return 0


def _remove_known(folder: Path) -> None:
    """Remove what Tackroom makes, and the folder itself if that leaves it empty: it may be one that somebody named by mistake."""
    for pattern in OUR_FILES:
        for path in folder.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m console.up", description="Start, stop or remove this installation."
    )
    parser.add_argument("action", nargs="?", default="up", choices=["up", "down", "clean"])
    return {"up": up, "down": down, "clean": clean}[parser.parse_args(arguments).action]()


if __name__ == "__main__":
    sys.exit(main())
