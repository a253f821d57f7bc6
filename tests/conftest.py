"""Fixtures that every test may use: people by role, an API client with a token, a small world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import connection
from rest_framework.test import APIClient

from harnesses import ports
from harnesses.core.operations import OperationCatalogue, OperationSpec
from ledger.core.roles import Role
from ledger.core.tokens import Scope
from ledger.services import token_create, user_create

# Slow password hashes protect people, and would only make every test slow.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

PASSWORD = "saddle-and-bridle-9"
TEST_WORLD = "test-shop"

MakeUser = Callable[..., AbstractUser]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The test database; before it is dropped, connections that threads of live servers still hold are ended.

    Only at the very end: earlier, one of them may be the next test's own.
    """
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def make_user(db: None) -> MakeUser:
    """`make_user(Role.OPERATOR, username="ana")` makes a user through the service; the password is `PASSWORD`."""

    def make(*roles: Role, username: str = "", full_name: str = "", is_superuser: bool = False) -> AbstractUser:
        username = username or "-".join(role.value for role in roles) or "nobody"
        return user_create(
            username=username,
            password=PASSWORD,
            roles=roles,
            full_name=full_name,
            is_superuser=is_superuser,
            acting_user=None,
        )

    return make


@pytest.fixture
def operator(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.OPERATOR, username="olga", full_name="Olga Operator")


@pytest.fixture
def reviewer(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.REVIEWER, username="rui", full_name="Rui Reviewer")


@pytest.fixture
def ml_engineer(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.ML_ENGINEER, username="mei", full_name="Mei Lin")


@pytest.fixture
def platform_engineer(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.PLATFORM_ENGINEER, username="petra", full_name="Petra Platform")


@pytest.fixture
def analyst(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.ANALYST, username="anton", full_name="Anton Analyst")


@pytest.fixture
def admin(make_user: MakeUser) -> AbstractUser:
    return make_user(Role.ADMIN, username="ada", full_name="Ada Admin")


@pytest.fixture
def make_api_client() -> Callable[..., APIClient]:
    """`make_api_client(user, scopes)` gives a client that sends a token of that user; the default is every scope."""

    def make(owner: AbstractUser, scopes: Iterable[str] = tuple(Scope)) -> APIClient:
        created = token_create(owner=owner, name="test", scopes=tuple(scopes), acting_user=owner)
        client = APIClient(raise_request_exception=False)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {created.secret}")
        return client

    return make


@pytest.fixture
def api(operator: AbstractUser, make_api_client: Callable[..., APIClient]) -> APIClient:
    """An API client with a token of the operator that carries every scope."""
    return make_api_client(operator)


def _operations() -> Iterator[OperationSpec]:
    text = {"type": "string"}
    price = {"type": "object", "properties": {"price_cents": {"type": "integer"}}, "required": ["price_cents"]}
    yield OperationSpec(
        name="get_price",
        title="Price of an item",
        description="Looks up what an item costs.",
        input_schema={"type": "object", "properties": {"item_id": text}, "required": ["item_id"]},
        output_schema=price,
    )
    yield OperationSpec(
        name="push_card",
        title="Push an item card",
        description="Shows an item to every viewer of the room.",
        input_schema={
            "type": "object",
            "properties": {"item_id": text, "note": text},
            "required": ["item_id"],
        },
        output_schema={"type": "object", "properties": {"is_shown": {"type": "boolean"}}, "required": ["is_shown"]},
        effect="write",
    )


@pytest.fixture
def demo_catalogue() -> OperationCatalogue:
    """Two small operations: `get_price` (read) and `push_card` (write)."""
    return {operation.name: operation for operation in _operations()}


@pytest.fixture
def world(demo_catalogue: OperationCatalogue, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a small registered world with `demo_catalogue`; tokens are counted by the estimate."""
    monkeypatch.setattr(ports, "_catalogue_loaders", dict(ports._catalogue_loaders))
    monkeypatch.setattr(ports, "_token_counter_loader", None)
    ports.register_world(TEST_WORLD, lambda: demo_catalogue)
    return TEST_WORLD
