"""A harness with one of everything, made through the services, and the address of everything in it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from harnesses.services import (
    draft_open,
    freeze_create,
    harness_commit,
    harness_create,
    label_move,
    member_set,
    release_schedule,
    review_request,
    thread_open,
)
from inference.services import session_start
from ledger.services import team_create, token_create
from tests.console import sample

SLUG = "under-fire"
ROOT = re.escape(str(Path(__file__).resolve().parents[2]))
LEAK = re.compile(
    rf"Traceback|site-packages|{ROOT}/|/usr/lib|\.py\b|psycopg|django\.|SELECT |INSERT INTO|UPDATE .* SET|object at 0x|<class "
)
"""What no answer tells: paths, tracebacks, SQL, the insides of Python."""


@dataclass(frozen=True)
class Address:
    """One address of the project. `parameters` are the names in it."""

    name: str
    view_name: str
    parameters: tuple[str, ...]
    is_api: bool

    def filled(self, values: dict[str, Any]) -> str:
        return reverse(self.view_name, kwargs={name: values[name] for name in self.parameters})


def addresses(resolver: Any = None, namespaces: tuple[str, ...] = ()) -> Iterator[Address]:
    """Every address but those of the admin site."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver) and pattern.app_name != "admin":
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from addresses(pattern, inner)
        elif isinstance(pattern, URLPattern):
            regex = getattr(pattern.pattern, "regex", None)
            names = tuple(pattern.pattern.converters) or tuple(regex.groupindex if regex else ())
            is_api = bool(namespaces) and namespaces[0].endswith("_api")
            yield Address(str(pattern.name), ":".join((*namespaces, str(pattern.name))), names, is_api)


@dataclass(frozen=True)
class Operation:
    """One operation out of the API's schema. `body` is its example, `query` the names of its parameters."""

    method: str
    path: str
    body: dict[str, Any] | None
    properties: dict[str, Any]
    query: tuple[str, ...]

    def at(self, values: dict[str, Any]) -> str:
        """Its address, with these values in the places of its parameters, as they stand."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), self.path)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\{(\w+)\}", self.path))


def operations() -> list[Operation]:
    """Every operation that the schema documents."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    found = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            part = schema["components"]["schemas"].get(name, {})
            query = tuple(item["name"] for item in operation.get("parameters", ()) if item["in"] == "query")
            found.append(Operation(method.upper(), path, part.get("example"), part.get("properties", {}), query))
    return found


def furnish(owner: AbstractUser, reviewer: AbstractUser) -> dict[str, Any]:
    """A harness with something of everything in it, as the parameters of addresses name it."""
    harness = harness_create(slug=SLUG, title="Under fire", world=sample.WORLD, acting_user=owner)
    for greeting in ("One.", "Two."):
        spec = sample.sample_spec(greeting=greeting)
        harness_commit(harness=harness, spec=spec, message=f"Say {greeting}", acting_user=owner)
    version = harness.versions.get(number=2)
    draft = draft_open(harness=harness, name="Evening stream", acting_user=owner)
    review = review_request(version=version, message="Please look.", reviewers=(), acting_user=owner)
    thread = thread_open(review=review, body="Why so short?", acting_user=reviewer)
    label_move(harness=harness, name="staging", version=version, reason="Try it.", acting_user=owner)
    soon = timezone.now() + dt.timedelta(hours=2)
    plan = release_schedule(
        harness=harness, name="nightly", version=version, due_at=soon, reason="Tonight.", acting_user=owner
    )
    freeze = freeze_create(
        harness=harness, starts_at=soon, ends_at=soon + dt.timedelta(hours=1), reason="Sale.", acting_user=owner
    )
    session = session_start(harness_slug=SLUG, seed=0, acting_user=owner)
    token = token_create(owner=owner, name="old", scopes=["harnesses:read"], acting_user=owner)
    team = team_create(slug="night-shift", name="Night shift", members=[owner.username], acting_user=None)
    member_set(harness=harness, kind="team", name=team.slug, role="viewer", acting_user=owner)
    return {
        "harness": harness,
        "slug": SLUG,
        "number": 1,
        "draft_id": draft.pk,
        "review_id": review.pk,
        "thread_id": thread.pk,
        "release_id": plan.pk,
        "freeze_id": freeze.pk,
        "session_id": session.pk,
        "token_id": token.token.pk,
        "file_format": "csv",
        "kind": "user",
        "name": "staging",
    }
