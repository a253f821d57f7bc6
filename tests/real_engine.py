"""Pytest plugin with the real engine: vLLM with the compact model, started once a run, for tests marked `engine`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from console.embedded import free_port

START_TIMEOUT_S = 900
"""For the first test that asks for the engine: it may have to convert the model before."""


@dataclass(frozen=True)
class RealEngine:
    """A running vLLM with the compact model: its base URL, model name and the model's folder."""

    base_url: str
    model: str
    model_dir: Path


def model_dir() -> Path:
    """Where the prepared model stays from one test run to the next, and where `make up` has it too."""
    return Path(__file__).resolve().parents[1] / ".tackroom" / "models" / "smollm2-135m-instruct"


@pytest.fixture(scope="session")
def real_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEngine]:
    """The real engine: the one at TEST_ENGINE_URL, else one that is started here, once."""
    from inference.engine.config import resolve_config
    from inference.engine.prepare_model import prepare_model
    from inference.engine.supervisor import running_engine

    folder = model_dir()
    prepare_model(folder)
    if url := os.environ.get("TEST_ENGINE_URL"):
        card = httpx.get(f"{url.rstrip('/')}/models", trust_env=False, timeout=10).json()["data"][0]
        yield RealEngine(url.rstrip("/"), card["id"], folder)
        return
    config = resolve_config(
        model_dir=folder, port=free_port(), max_model_len=4_096, run_dir=tmp_path_factory.mktemp("engine")
    )
    with running_engine(config):
        yield RealEngine(config.base_url, config.served_name, folder)
