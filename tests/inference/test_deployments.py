"""Checkpoints and deployments: registering them, and what a probe finds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser

from console.embedded import free_port
from harnesses.ports import estimate_tokens
from inference.engine.null_engine import NullEngine
from inference.engine.status import EngineState, EngineStatus, utc_now, write_status
from inference.models import Checkpoint, Deployment
from inference.selectors import default_deployment, default_token_counter, deployment_for, model_ref, served_checkpoints
from inference.services import checkpoint_register, deployment_probe, deployment_register
from inference.tasks import probe_deployments
from ledger.errors import Conflict, Invalid, NotFound
from ledger.selectors import audit_list
from tests.inference.test_prepare_model import write_model, write_safetensors

pytestmark = pytest.mark.django_db


@pytest.fixture
def checkpoint(operator: AbstractUser) -> Checkpoint:
    return checkpoint_register(name="nothing", served_name="null", acting_user=operator)


def deploy(checkpoint: Checkpoint, url: str, name: str = "default", *, is_default: bool = True) -> Deployment:
    return deployment_register(
        name=name, checkpoint=checkpoint, base_url=url, engine_kind="null", is_default=is_default, acting_user=None
    )


def test_a_checkpoint_with_weights_knows_their_hashes(tmp_path: Path, operator: AbstractUser):
    write_model(tmp_path)
    checkpoint = checkpoint_register(name="tiny", served_name="tiny", path=tmp_path, acting_user=operator)
    assert len(checkpoint.content_hash) == 64
    assert len(checkpoint.tokenizer_hash) == 64
    assert checkpoint.size_bytes > 0
    assert audit_list(object_type="checkpoint", object_id=checkpoint.pk).count() == 1
    again = checkpoint_register(name="tiny", served_name="tiny", path=tmp_path, acting_user=operator)
    assert again.pk == checkpoint.pk
    assert audit_list(object_type="checkpoint", object_id=checkpoint.pk).count() == 1
    write_safetensors(tmp_path / "model.safetensors", b"\x01" * 64)
    with pytest.raises(Conflict, match="other weights"):
        checkpoint_register(name="tiny", served_name="tiny", path=tmp_path, acting_user=operator)


def test_wrong_checkpoints_are_refused(tmp_path: Path, checkpoint: Checkpoint):
    with pytest.raises(Invalid, match="no model folder"):
        checkpoint_register(name="x", served_name="x", path=tmp_path / "none", acting_user=None)
    with pytest.raises(Invalid, match="kind"):
        checkpoint_register(name="x", served_name="x", kind="toy", acting_user=None)
    with pytest.raises(Invalid, match="base"):
        checkpoint_register(name="x", served_name="x", kind="adapter", acting_user=None)
    adapter = checkpoint_register(name="x", served_name="x", kind="adapter", base=checkpoint, acting_user=None)
    assert adapter.base == checkpoint


def test_there_is_one_default_deployment(checkpoint: Checkpoint):
    deploy(checkpoint, "http://127.0.0.1:1/v1", "first")
    deploy(checkpoint, "http://127.0.0.1:2/v1", "second")
    current = default_deployment()
    assert current
    assert current.name == "second"
    assert Deployment.objects.filter(is_default=True).count() == 1
    assert served_checkpoints() == [checkpoint]
    assert model_ref(current).base_url == "http://127.0.0.1:2/v1"


def test_a_new_address_is_looked_at_afresh(checkpoint: Checkpoint, null_engine: NullEngine):
    deployment = deployment_probe(deployment=deploy(checkpoint, null_engine.base_url))
    assert deployment.state == "healthy"
    assert deploy(checkpoint, null_engine.base_url).state == "healthy"
    assert deploy(checkpoint, "http://127.0.0.1:1/v1/").state == "starting"


@pytest.mark.parametrize("url", ["", "engine", "ftp://host/v1", "file:///etc/passwd", "http://"])
def test_addresses_must_be_http(checkpoint: Checkpoint, url):
    with pytest.raises(Invalid, match="base_url"):
        deploy(checkpoint, url)


def test_a_probe_finds_health_sickness_and_the_wrong_model(checkpoint: Checkpoint, null_engine: NullEngine):
    deployment = deploy(checkpoint, null_engine.base_url)
    assert deployment_probe(deployment=deployment).state == "healthy"
    assert deployment.max_model_len == null_engine.max_model_len
    assert deployment.last_seen_at
    null_engine.fail("unhealthy")
    assert deployment_probe(deployment=deployment).state == "degraded"
    null_engine.heal()
    null_engine.model = "another"
    assert "another" in deployment_probe(deployment=deployment).state_reason
    changes = audit_list(object_type="deployment", action_prefix="deployment.state_changed")
    assert [entry.after and entry.after["state"] for entry in changes.order_by("id")] == ["healthy", "degraded"]


@pytest.mark.parametrize("state", ["starting", "failed", "stopped", "degraded"])
def test_a_silent_engine_is_what_its_supervisor_says(checkpoint: Checkpoint, settings, tmp_path, state: EngineState):
    url = f"http://127.0.0.1:{free_port()}/v1"
    settings.ENGINE_RUN_DIR = tmp_path
    status = EngineStatus(
        state=state,
        since=utc_now(),
        message="In its words.",
        base_url=url,
        served_name="null",
        supervisor_pid=os.getpid(),
    )
    write_status(tmp_path, status)
    deployment = deployment_probe(deployment=deploy(checkpoint, url))
    assert (deployment.state, deployment.state_reason) == (state, "In its words.")


def test_a_silent_engine_without_supervisor_is_stopped(checkpoint: Checkpoint, settings, tmp_path):
    settings.ENGINE_RUN_DIR = tmp_path
    deployment = deploy(checkpoint, f"http://127.0.0.1:{free_port()}/v1")
    probe_deployments()
    deployment.refresh_from_db()
    assert deployment.state == "stopped"
    assert "No engine answers" in deployment.state_reason


def test_choosing_a_deployment_prefers_the_healthy_one(checkpoint: Checkpoint, null_engine: NullEngine):
    with pytest.raises(Conflict, match="No model is deployed"):
        deployment_for(None)
    deploy(checkpoint, "http://127.0.0.1:1/v1", "asleep")
    deployment_probe(deployment=deploy(checkpoint, null_engine.base_url, "awake", is_default=False))
    assert deployment_for(None).name == "asleep"
    assert deployment_for("nothing").name == "awake"
    with pytest.raises(NotFound, match="nothing"):
        deployment_for("gpt")


def test_tokens_are_counted_by_the_default_checkpoint(tmp_path: Path, checkpoint: Checkpoint):
    assert default_token_counter() is estimate_tokens
    write_model(tmp_path)
    words = {"[UNK]": 0, "how": 1, "much": 2}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    tiny = checkpoint_register(name="tiny", served_name="tiny", path=tmp_path, acting_user=None)
    deploy(tiny, "http://127.0.0.1:1/v1")
    assert default_token_counter()("how much is it") == 4
    (tmp_path / "tokenizer.json").write_text("{broken")
    assert default_token_counter() is estimate_tokens
