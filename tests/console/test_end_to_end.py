"""The whole way of a harness change, in a real browser, against the real model: import, understand, try under both versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from playwright.sync_api import Browser, expect

from harnesses.core.spec import HarnessSpec
from harnesses.formats.archive import write_zip
from harnesses.formats.folder import export_folder
from harnesses.services import harness_commit, harness_create
from inference.models import Turn
from inference.services import checkpoint_register, deployment_probe, deployment_register
from livestream.demo import demo_harness
from livestream.world import DEMO_SHOP, world_named
from tests.conftest import PASSWORD
from tests.console.browser import DESKTOP, Visitor, live_server, open_visitor
from tests.real_engine import START_TIMEOUT_S, RealEngine

OLD_NAME, NEW_NAME = "price", "cost"
ANSWER_TIMEOUT_MS = 240_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(START_TIMEOUT_S),
]


@pytest.fixture
def visitor(transactional_db: None, browser: Browser) -> Iterator[Visitor]:
    with live_server() as url:
        person = open_visitor(browser, url, viewport=DESKTOP)
        yield person
        person.context.close()
        assert person.problems == []


def patient(spec: HarnessSpec) -> HarnessSpec:
    """The same harness with a deadline that a busy machine keeps."""
    return spec.model_copy(update={"runtime": spec.runtime.model_copy(update={"deadline_ms": 200_000})})


def install(spec: HarnessSpec, real_engine: RealEngine, operator: AbstractUser) -> None:
    """What `make up` seeds: the demo harness, and the real engine as the default deployment."""
    harness = harness_create(slug="demo-shop", title="Demo shop host", world=DEMO_SHOP, acting_user=operator)
    harness_commit(harness=harness, spec=spec, message="Import the demo harness", acting_user=operator)
    checkpoint = checkpoint_register(
        name="smollm2-135m-instruct", served_name=real_engine.model, path=real_engine.model_dir, acting_user=operator
    )
    deployment = deployment_register(
        name="local", checkpoint=checkpoint, base_url=real_engine.base_url, is_default=True, acting_user=operator
    )
    probed = deployment_probe(deployment=deployment)
    assert probed.state == "healthy", probed.state_reason


def with_tool_renamed(spec: HarnessSpec, folder: Path) -> Path:
    """The harness as a colleague would send it: our folder, zipped, one tool's name changed in its file."""
    files = export_folder(spec, "Demo shop")
    path = f"tools/{OLD_NAME}.json"
    files[path] = json.dumps({**json.loads(files[path]), "name": NEW_NAME}).encode()
    target = folder / "renamed.zip"
    target.write_bytes(write_zip(files))
    return target


def test_a_renamed_tool_is_understood_and_reaches_the_same_operation_under_both_names(
    visitor: Visitor, real_engine: RealEngine, operator: AbstractUser, tmp_path: Path
):
    spec = patient(demo_harness())
    install(spec, real_engine, operator)
    visitor.log_in(operator.username, PASSWORD)
    visitor.go("/harnesses/demo-shop/")

    visitor.import_file("demo-shop", with_tool_renamed(spec, tmp_path), "Call the price tool cost")
    headline = f"Tool renamed: {OLD_NAME} → {NEW_NAME} (T1, preserving)"
    expect(visitor.page.get_by_text(headline)).to_be_visible()
    visitor.commit_import()
    visitor.go("/harnesses/demo-shop/compare/?from=1&to=2")
    expect(visitor.page.get_by_text(headline)).to_be_visible()

    world = world_named(DEMO_SHOP)
    item = world.open(0).shelf[0]
    visitor.start_session("demo-shop@2", other="demo-shop@1")
    visitor.say(f"price of {item}?", lanes=2, timeout_ms=ANSWER_TIMEOUT_MS)

    assert visitor.reached_operations() == ["get_price", "get_price"]
    traces = [turn.trace for turn in Turn.objects.order_by("session__created_at")]
    assert {call["tool_name"] for trace in traces for call in trace["calls"]} == {OLD_NAME, NEW_NAME}
    assert {json.dumps(call["operation_arguments"]) for trace in traces for call in trace["calls"]} == {
        json.dumps({"item": item})
    }
    assert all(trace["stop_reason"] == "reply" for trace in traces)
