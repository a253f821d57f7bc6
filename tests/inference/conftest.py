"""A small harness of the demo shop, a scripted engine behind it, and the real engine for tests marked `engine`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser
from django.db import connections

from console.embedded import free_port
from harnesses.core.spec import (
    ArgumentMap,
    BindingCase,
    HarnessSpec,
    PromptSection,
    RuntimeSettings,
    Tool,
    ToolBinding,
)
from harnesses.services import harness_commit, harness_create
from inference.engine.config import resolve_config
from inference.engine.null_engine import NullEngine
from inference.engine.prepare_model import prepare_model
from inference.engine.supervisor import running_engine
from inference.models import Deployment, Session
from inference.services import checkpoint_register, deployment_register, session_start
from ledger.core.roles import Role
from ledger.services import user_create

HARNESS = "small-shop"
ITEM_SCHEMA = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}


def bound_tool(name: str, operation: str) -> Tool:
    case = BindingCase(operation=operation, arguments=(ArgumentMap(argument="item", path=("item",)),))
    return Tool(
        id=name.replace("_", "-"),
        name=name,
        description=f"Does {operation}.",
        input_schema=ITEM_SCHEMA,
        binding=ToolBinding(cases=(case,)),
    )


def small_spec(**runtime: object) -> HarnessSpec:
    """Two tools, one that reads and one that acts."""
    return HarnessSpec(
        prompt=(PromptSection(id="role", title="Role", body="You answer viewers of {{ shop.name }}."),),
        tools=(bound_tool("get_price", "get_price"), bound_tool("push_card", "push_item_card")),
        runtime=RuntimeSettings(**runtime),
    )


@dataclass(frozen=True)
class Bench:
    """Everything a turn needs: a scripted engine, its deployment, a harness, and who asks."""

    engine: NullEngine
    deployment: Deployment
    user: AbstractUser

    def session(self, *, viewer: str = "viewer") -> Session:
        return session_start(harness_slug=HARNESS, viewer=viewer, acting_user=self.user)


@pytest.fixture
async def close_worker_connections() -> AsyncIterator[None]:
    """Asynchronous code reaches the database through a thread of its own, whose connection nobody else closes."""
    yield
    await sync_to_async(connections.close_all)()


@pytest.fixture
def null_engine() -> Iterator[NullEngine]:
    with NullEngine(default_reply="Welcome to the show!") as engine:
        yield engine


@pytest.fixture
def make_bench(transactional_db: None, null_engine: NullEngine) -> Callable[..., Bench]:
    """`make_bench(deadline_ms=500)` sets up a harness with these runtime settings."""

    def make(**runtime: object) -> Bench:
        user = user_create(username="olga", password=None, roles=[Role.OPERATOR], acting_user=None)
        harness = harness_create(slug=HARNESS, title="Small shop", world="demo-shop", acting_user=user)
        harness_commit(harness=harness, spec=small_spec(**runtime), message="First", acting_user=user)
        checkpoint = checkpoint_register(name="nothing", served_name="null", acting_user=user)
        deployment = deployment_register(
            name="default",
            checkpoint=checkpoint,
            base_url=null_engine.base_url,
            engine_kind="null",
            is_default=True,
            acting_user=user,
        )
        return Bench(null_engine, deployment, user)

    return make


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()


@dataclass(frozen=True)
class RealEngine:
    """A running vLLM with the compact model: its base URL, model name and the model's folder."""

    base_url: str
    model: str
    model_dir: Path


def models_cache() -> Path:
    """Where prepared models stay from one test run to the next."""
    return Path(__file__).resolve().parents[2] / ".tackroom" / "models"


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEngine]:
    """The real engine: the one at TEST_ENGINE_URL, else one that is started here, once."""
    model_dir = models_cache() / "smollm2-135m-instruct"
    prepare_model(model_dir)
    if url := os.environ.get("TEST_ENGINE_URL"):
        card = httpx.get(f"{url.rstrip('/')}/models", trust_env=False, timeout=10).json()["data"][0]
        yield RealEngine(url.rstrip("/"), card["id"], model_dir)
        return
    config = resolve_config(
        model_dir=model_dir, port=free_port(), max_model_len=4_096, run_dir=tmp_path_factory.mktemp("engine")
    )
    with running_engine(config):
        yield RealEngine(config.base_url, config.served_name, model_dir)
