"""Pytest plugin that gives the tests a real PostgreSQL and a real Redis before Django reads its settings.

Loaded with `-p tests.services`. `TEST_DATABASE_URL` and `TEST_REDIS_URL` use servers that are already there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

import pytest

from console import embedded


class _Stoppable(Protocol):
    def stop(self) -> None: ...


_started: list[_Stoppable] = []
_folder: list[Path] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    folder = Path(tempfile.mkdtemp(prefix="tackroom-tests-"))
    folder.chmod(0o755)
    _folder.append(folder)
    os.environ["TACKROOM_STATE_DIR"] = str(folder / "state")
    os.environ["DB_POOL"] = "0"
    if url := os.environ.get("TEST_DATABASE_URL"):
        os.environ["DATABASE_URL"] = url
    else:
        postgres = embedded.start_postgres(folder / "postgres", is_throwaway=True)
        _started.append(postgres)
        os.environ["DATABASE_URL"] = postgres.url
    if url := os.environ.get("TEST_REDIS_URL"):
        os.environ["REDIS_URL"] = url
    else:
        redis = embedded.start_redis(folder / "redis", is_persistent=False)
        _started.append(redis)
        os.environ["REDIS_URL"] = redis.url


def pytest_unconfigure() -> None:
    for service in reversed(_started):
        service.stop()
    for folder in _folder:
        shutil.rmtree(folder, ignore_errors=True)
