"""Where this installation finds its services, read once from the environment.

A value comes from the process environment, else from `.env`, else from `.tackroom/runtime.env`, which `manage.py up` writes
for the embedded services. So `manage.py` commands in a second terminal find what `make up` started.
"""

from __future__ import annotations

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(os.environ.get("TACKROOM_STATE_DIR", BASE_DIR / ".tackroom"))
RUNTIME_ENV = STATE_DIR / "runtime.env"


def _read_env_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    pairs = (line.split("=", 1) for line in path.read_text().splitlines() if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


_files = {**_read_env_file(RUNTIME_ENV), **_read_env_file(BASE_DIR / ".env")}


def read(name: str, default: str = "") -> str:
    """The value of an environment variable by the order above; `default` where it is nowhere."""
    return os.environ.get(name) or _files.get(name) or default


def read_bool(name: str, *, default: bool) -> bool:
    """As `read`, for 1/0, true/false, yes/no."""
    value = read(name)
    return default if value == "" else value.lower() in ("1", "true", "yes", "on")


def read_list(name: str) -> list[str]:
    """As `read`, for a comma-separated list."""
    return [item.strip() for item in read(name).split(",") if item.strip()]
