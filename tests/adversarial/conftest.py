"""Fixtures of the attacks: the furnished harness, and clients that give a 500 back instead of raising it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import AbstractUser
from django.db import connections, transaction
from django.test import Client

from ledger.core.tokens import Scope
from ledger.services import token_create
from tests.adversarial.furnishing import furnish
from tests.console.conftest import _token_estimate, deployment, engine  # noqa: F401

Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_log_of_refusals() -> Iterator[None]:
    """Thousands of requests are refused here, and Django would write a line about each."""
    logger = logging.getLogger("django.request")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def _connections(request: pytest.FixtureRequest) -> Iterator[None]:
    """Asynchronous views reach the database through a thread of their own, whose connection nobody else closes."""
    yield
    async_to_sync(sync_to_async(connections.close_all))()


@pytest.fixture
def admin(make_user: Any) -> AbstractUser:
    """Somebody who may do everything."""
    from ledger.core.roles import Role

    return make_user(Role.ADMIN, username="ada", full_name="Ada Admin")


@pytest.fixture
def furnished(admin: AbstractUser, reviewer: AbstractUser, deployment: Any) -> dict[str, Any]:  # noqa: F811
    return furnish(admin, reviewer)


@pytest.fixture
def ask(admin: AbstractUser) -> Ask:
    """`ask("POST", address, body, …)` sends a request with a token of the admin, and takes back what it changed."""
    secret = token_create(owner=admin, name="fuzz", scopes=list(Scope), acting_user=admin).secret
    client = Client(raise_request_exception=False)

    def send(
        method: str, address: str, body: bytes = b"", content_type: str = "application/json", **headers: str
    ) -> Any:
        sent = {
            "Authorization": f"Bearer {secret}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        with transaction.atomic():
            response = client.generic(method, address, body, content_type=content_type, headers=sent)
            transaction.set_rollback(True)
        return response

    return send
