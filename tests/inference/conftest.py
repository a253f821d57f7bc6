"""A small harness of the demo shop, and a scripted engine behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser
from django.db import connections

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
from inference.engine.null_engine import NullEngine
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
