"""Telling our processes from others: pid files that are checked against `/proc`, ports and who holds them. Linux, standard library.

A pid alone proves nothing, since the system gives it to somebody else one day. A pid file here also holds the process's start time
and the boot it belongs to; nothing is ever ended by its name.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

_PROC = Path("/proc")
_LISTENING = "0A"
_POLL_S = 0.05


@dataclass(frozen=True)
class ProcessRecord:
    """A process we started as the leader of its own session.

    `start_ticks` and `boot_id` make the pid unique; `cwd` confirms members of its session that outlive it; `stop_rank` orders
    stopping (lower first); `stop_signal` is what it takes for an orderly end.
    """

    name: str
    pid: int
    start_ticks: int
    boot_id: str
    cwd: str
    stop_signal: int = signal.SIGTERM
    stop_rank: int = 0


def boot_id() -> str:
    """The kernel's name for this boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command's name: [0] state, [3] session, [19] start ticks. None: no such process."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None


def start_ticks(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None where it does not run (a zombie does not)."""
    fields = _stat_fields(pid)
    return None if fields is None or fields[0] in ("Z", "X") else int(fields[19])


def record_process(folder: Path, name: str, pid: int, *, stop_signal: int, stop_rank: int) -> ProcessRecord | None:
    """Write the pid file of a process that was just started; None where it is gone already."""
    ticks = start_ticks(pid)
    if ticks is None:
        return None
    try:
        cwd = os.readlink(_PROC / str(pid) / "cwd")
    except OSError:
        cwd = ""
    record = ProcessRecord(name, pid, ticks, boot_id(), cwd, int(stop_signal), stop_rank)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{name}.new"
    temporary.write_text(json.dumps(asdict(record)))
    temporary.replace(folder / f"{name}.json")
    return record


def read_record(path: Path) -> ProcessRecord | None:
    """The record in a pid file; None for a missing or broken file."""
    try:
        return ProcessRecord(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def read_records(folder: Path) -> list[ProcessRecord]:
    """Every readable pid file of a folder."""
    found = (read_record(path) for path in sorted(folder.glob("*.json")))
    return [record for record in found if record is not None]


def is_running(record: ProcessRecord) -> bool:
    """Whether this very process still runs."""
    return record.boot_id == boot_id() and start_ticks(record.pid) == record.start_ticks


def live_members(record: ProcessRecord) -> list[int]:
    """The process, and what it left in its session, as pids. Empty when all of it is gone."""
    if record.boot_id != boot_id():
        return []
    leader_ticks = start_ticks(record.pid)
    if leader_ticks is not None and leader_ticks != record.start_ticks:
        return []  # the pid is somebody else's by now, so its session is, too
    members = [record.pid] if leader_ticks is not None else []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == record.pid:
            continue
        fields = _stat_fields(int(entry.name))
        if fields is None or fields[0] in ("Z", "X") or int(fields[3]) != record.pid:
            continue
        with contextlib.suppress(OSError):
            if int(fields[19]) >= record.start_ticks and os.readlink(entry / "cwd") == record.cwd:
                members.append(int(entry.name))
    return members


def stop_processes(
    records: Iterable[ProcessRecord],
    *,
    timeout_s: float,
    reap: Callable[[], None] = lambda: None,
    is_hurried: Callable[[], bool] = lambda: False,
    now: Callable[[], float] = time.monotonic,
) -> list[ProcessRecord]:
    """Stop processes together: each one's own signal, then SIGKILL to what is left of its session after `timeout_s`.

    `reap` is called while waiting, so that a parent collects its children. `is_hurried` ends the waiting early. Returns the
    records that had to be killed.
    """
    waiting = [record for record in records if live_members(record)]
    for record in waiting:
        _send([record.pid] if is_running(record) else live_members(record), record.stop_signal)
    deadline = now() + timeout_s
    while waiting and now() < deadline and not is_hurried():
        time.sleep(_POLL_S)
        reap()
        for record in waiting:
            if not is_running(record):
                _send(live_members(record), signal.SIGTERM)  # what the leader left behind
        waiting = [record for record in waiting if live_members(record)]
    for record in waiting:
        _send(live_members(record), signal.SIGKILL)
    deadline = now() + 5
    while any(live_members(record) for record in waiting) and now() < deadline:
        time.sleep(_POLL_S)
        reap()
    return waiting


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


# --- ports -----------------------------------------------------------------------------------------------------------


def is_port_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def port_holder(port: int) -> str | None:
    """Who listens on a TCP port, as `process 123 (python -m http.server)`; None where this user may not know."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    inodes.add(f"socket:[{fields[9]}]")
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or not inodes:
            continue
        with contextlib.suppress(OSError):
            if any(os.readlink(descriptor) in inodes for descriptor in (entry / "fd").iterdir()):
                return f"process {entry.name} ({command_line(int(entry.name))[:80]})"
    return None


def command_line(pid: int) -> str:
    """A process's command line with its words parted by spaces; empty where it is gone."""
    with contextlib.suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return " ".join(word.decode("utf-8", "replace") for word in words if word)
    return ""
