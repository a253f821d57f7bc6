"""Where this installation finds its services, read once from the environment.

A value comes from the process environment, else from `.env`, else from `.tackroom/runtime.env`, which `make up` writes
for the embedded services. So `manage.py` commands in a second terminal find what `make up` started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(os.environ.get("TACKROOM_STATE_DIR") or BASE_DIR / ".tackroom").absolute()
RUNTIME_ENV = STATE_DIR / "runtime.env"
_QUOTES = "\"'"


def read_env_file(path: Path) -> dict[str, str]:
    """The `NAME=value` lines of a file, with comments, `export` and matching quotes taken off; empty where there is no file."""
    if not path.is_file():
        return {}
    values = {}
    for line in path.read_text(errors="replace").splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if not separator or line.lstrip().startswith("#"):
            continue
        value = value.strip()
        if len(value) > 1 and value[0] in _QUOTES and value[0] == value[-1]:
            value = value[1:-1]
        values[name.strip()] = value
    return values


def write_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Write `NAME=value` lines that only the owner may read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("# Written by `make up`; removed when it stops.\n")
        file.writelines(f"{name}={value}\n" for name, value in values.items())
    temporary.replace(path)


_dot_env = read_env_file(BASE_DIR / ".env")
_runtime = read_env_file(RUNTIME_ENV)


def configured(name: str, default: str = "") -> str:
    """What the operator set, in the process environment or in `.env`; never what an earlier `make up` wrote."""
    return os.environ.get(name) or _dot_env.get(name) or default


def read(name: str, default: str = "") -> str:
    """The value of an environment variable by the order above; `default` where it is nowhere."""
    return configured(name) or _runtime.get(name) or default


def read_bool(name: str, *, default: bool) -> bool:
    """As `read`, for 1/0, true/false, yes/no."""
    value = read(name)
    return default if value == "" else value.lower() in ("1", "true", "yes", "on")


def read_list(name: str) -> list[str]:
    """As `read`, for a comma-separated list."""
    return [item.strip() for item in read(name).split(",") if item.strip()]
