"""Fixtures of the console's tests: a harness with two versions, an engine without a model, a signed-in client."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser

from harnesses import ports
from harnesses.services import harness_commit, harness_create
from inference.engine.null_engine import NullEngine
from inference.services import checkpoint_register, deployment_probe, deployment_register
from ledger.models import User
from tests.console import sample
from tests.console.browser import launched_browser, live_server

SignIn = Callable[[User], Client]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a module; its event loop must not outlive it."""
    with launched_browser() as running:
        yield running


@pytest.fixture
def console_url(transactional_db: None) -> Iterator[str]:
    """The console on a live server over the test database."""
    with live_server() as url:
        yield url


@pytest.fixture
def sign_in() -> SignIn:
    """`sign_in(user)` gives a client that is signed in as that user; it raises what a view lets through."""

    def make(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture(autouse=True)
def _token_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_token_counter_loader", None)


@pytest.fixture
def harness(operator: User):
    """A harness with two versions: in the second, the price tool is renamed and a section reworded."""
    made = harness_create(
        slug=sample.SLUG,
        title=sample.TITLE,
        world=sample.WORLD,
        description="Answers viewers' questions in the live room.",
        acting_user=operator,
    )
    harness_commit(harness=made, spec=sample.sample_spec(), message="First version", acting_user=operator)
    second = sample.sample_spec(price_name="fetch_price", greeting="Answer in one short, friendly sentence.")
    harness_commit(harness=made, spec=second, message="Rename the price tool, shorter answers", acting_user=operator)
    return made


@pytest.fixture
def engine() -> Iterator[NullEngine]:
    """A running engine that says what the test tells it to."""
    with NullEngine() as running:
        yield running


@pytest.fixture
def deployment(engine: NullEngine, operator: User):
    """The default deployment: the Null engine, found healthy."""
    checkpoint = checkpoint_register(name="null-model", served_name=engine.model, acting_user=operator)
    made = deployment_register(
        name="local",
        checkpoint=checkpoint,
        base_url=engine.base_url,
        engine_kind="null",
        is_default=True,
        acting_user=operator,
    )
    return deployment_probe(deployment=made)
