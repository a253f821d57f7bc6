"""Writing deployments: registering them, and finding out how they are."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone

from inference.core.health import Health, ServedModel, judge_models, judge_silence
from inference.engine.status import read_status
from inference.models import Checkpoint, Deployment
from ledger.errors import Invalid
from ledger.services import audit_record, checked_text

_PROBE_TIMEOUT_S = 3.0


@transaction.atomic
def deployment_register(
    *,
    name: str,
    checkpoint: Checkpoint,
    base_url: str,
    engine_kind: str = Deployment.EngineKind.VLLM,
    max_model_len: int | None = None,
    is_default: bool = False,
    acting_user: AbstractUser | None,
) -> Deployment:
    """Make an engine known, or bring what is known of it up to date. With `is_default` it becomes the default one.

    `base_url` is the OpenAI-compatible URL, with its `/v1`. Raises Invalid.
    """
    name = checked_text("name", name, max_chars=120, is_required=True)
    base_url = _checked_url(base_url)
    if engine_kind not in Deployment.EngineKind.values:
        kinds = ", ".join(Deployment.EngineKind.values)
        raise Invalid.field("engine_kind", f'There is no engine kind "{engine_kind}".', f"Choose among {kinds}.")
    if is_default:
        Deployment.objects.filter(is_default=True).exclude(name=name).update(is_default=False)
    facts: dict[str, Any] = {"checkpoint": checkpoint, "base_url": base_url, "engine_kind": engine_kind}
    facts |= {"max_model_len": max_model_len} if max_model_len is not None else {}
    facts |= {"is_default": True} if is_default else {}
    existing = Deployment.objects.select_for_update(of=("self",)).select_related("checkpoint").filter(name=name).first()
    before = _told(existing, facts) if existing else None
    deployment = existing or Deployment(name=name, state_changed_at=timezone.now())
    for key, value in facts.items():
        setattr(deployment, key, value)
    after = _told(deployment, facts)
    if before == after:
        return deployment
    if before and (before["base_url"], before["checkpoint"]) != (after["base_url"], after["checkpoint"]):
        deployment.state, deployment.state_reason = Deployment.State.STARTING, "Not looked at yet."
        deployment.state_changed_at = timezone.now()
    deployment.save()
    audit_record(
        action="deployment.updated" if existing else "deployment.registered",
        acting_user=acting_user,
        object_type="deployment",
        object_id=deployment.pk,
        object_label=name,
        before=before,
        after=after,
    )
    return deployment


def _told(deployment: Deployment, facts: dict[str, Any]) -> dict[str, Any]:
    """The named facts of a deployment as plain JSON."""
    return {key: deployment.checkpoint.name if key == "checkpoint" else getattr(deployment, key) for key in facts}


def _checked_url(base_url: str) -> str:
    cleaned = checked_text("base_url", base_url, max_chars=500, is_required=True).rstrip("/")
    parts = urlsplit(cleaned)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid.field(
            "base_url", f'"{cleaned}" is no http or https address.', "Use one like http://127.0.0.1:8001/v1."
        )
    return cleaned


# --- probing ---------------------------------------------------------------------------------------------------------


def deployment_probe(*, deployment: Deployment, timeout_s: float = _PROBE_TIMEOUT_S) -> Deployment:
    """Ask the engine how it is and write down what was found. A change of state is audited. Never raises for a sick engine."""
    health = _examine(deployment, timeout_s)
    now = timezone.now()
    with transaction.atomic():
        current = Deployment.objects.select_for_update().get(pk=deployment.pk)
        before = {"state": current.state, "reason": current.state_reason}
        if current.state != health.state:
            current.state_changed_at = now
            audit_record(
                action="deployment.state_changed",
                acting_user=None,
                object_type="deployment",
                object_id=current.pk,
                object_label=current.name,
                before=before,
                after={"state": health.state, "reason": health.reason},
            )
        current.state, current.state_reason = health.state, health.reason
        current.last_seen_at = now if health.has_answered else current.last_seen_at
        current.max_model_len = health.max_model_len or current.max_model_len
        current.save(update_fields=["state", "state_reason", "state_changed_at", "last_seen_at", "max_model_len"])
    for field in ("state", "state_reason", "state_changed_at", "last_seen_at", "max_model_len"):
        setattr(deployment, field, getattr(current, field))
    return deployment


def _examine(deployment: Deployment, timeout_s: float) -> Health:
    base_url = deployment.base_url
    headers = {"Authorization": f"Bearer {settings.ENGINE_API_KEY}"} if settings.ENGINE_API_KEY else {}
    try:
        with httpx.Client(timeout=timeout_s, headers=headers, trust_env=False) as client:
            if deployment.engine_kind != Deployment.EngineKind.OPENAI:
                code = client.get(f"{base_url.removesuffix('/v1')}/health").status_code
                if code != 200:
                    return Health("degraded", f"The engine's health check answers {code}.")
            response = client.get(f"{base_url}/models")
    except httpx.TimeoutException:
        return Health("degraded", f"The engine at {base_url} does not answer within {timeout_s:g} s.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _unreachable(base_url, error)
    return _read_models(deployment.checkpoint.served_name, response, base_url)


def _unreachable(base_url: str, error: Exception) -> Health:
    status = read_status(settings.ENGINE_RUN_DIR)
    is_ours = status is not None and status.base_url == base_url
    return judge_silence(
        base_url,
        str(error) or type(error).__name__,
        status.state if status and is_ours else None,
        status.message if status and is_ours else "",
    )


def _read_models(served_name: str, response: httpx.Response, base_url: str) -> Health:
    if response.status_code != 200:
        return Health("degraded", f"The engine's model list answers {response.status_code}.")
    try:
        models = [
            ServedModel(str(card["id"]), _as_length(card.get("max_model_len"))) for card in response.json()["data"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return Health("degraded", f"What answers at {base_url} is no OpenAI-compatible engine.")
    return judge_models(served_name, models, base_url)


def _as_length(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 < value < 2**31 else None
