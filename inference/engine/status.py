"""What the supervisor tells others about its engine: a small JSON file, replaced whole, readable without any library."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

EngineState = Literal["starting", "healthy", "degraded", "stopped", "failed"]

STATE_FILE = "state.json"


class EngineStatus(BaseModel):
    """The engine's state since `since` (UTC), with a message for people.

    `supervisor_pid` and `engine_pid` are process ids (None: no such process). `restarts` counts restarts in a row.
    """

    model_config = ConfigDict(frozen=True)

    state: EngineState
    since: datetime
    message: str
    base_url: str
    served_name: str
    supervisor_pid: int | None = None
    engine_pid: int | None = None
    restarts: int = 0


def write_status(run_dir: Path, status: EngineStatus) -> None:
    """Replace the state file; a reader sees the old one or the new one, never half of one."""
    run_dir.mkdir(parents=True, exist_ok=True)
    temporary = run_dir / f".{STATE_FILE}.{os.getpid()}"
    temporary.write_text(status.model_dump_json(indent=2) + "\n")
    temporary.replace(run_dir / STATE_FILE)


def read_status(run_dir: Path) -> EngineStatus | None:
    """What the supervisor last wrote; None where it never ran or the file is broken.

    A state that claims a running engine while its supervisor is gone comes back as `stopped`.
    """
    try:
        status = EngineStatus.model_validate(json.loads((run_dir / STATE_FILE).read_text()))
    except (OSError, ValueError, ValidationError):
        return None
    if status.state in ("starting", "healthy", "degraded") and not is_alive(status.supervisor_pid):
        message = "The engine's supervisor is gone. Start it with `make up`."
        return status.model_copy(update={"state": "stopped", "message": message, "supervisor_pid": None})
    return status


def is_alive(pid: int | None) -> bool:
    """Whether a process of that id runs (a zombie does not)."""
    if not pid:
        return False
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    if Path("/proc/self").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)
