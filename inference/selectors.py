"""All reads of serving beyond a get."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db.models import Q, QuerySet

from harnesses import policy
from harnesses.contracts import ModelRef
from harnesses.core.jsonvalues import parse_json
from harnesses.core.membership import HarnessAction
from harnesses.core.parsing import spec_from_document
from harnesses.core.spec import HarnessSpec
from harnesses.ports import TokenCounter, estimate_tokens
from inference.core.tokens import TokenizerError, counter_for
from inference.models import Checkpoint, Deployment, Session, Turn
from ledger.errors import Conflict, NotFound

_RUNS_ON = ("harness_version__harness", "draft__harness", "checkpoint", "deployment")
_LONG = ("draft_document", "draft__document", "harness_version__document")
"""Texts of up to megabytes that no list and no page of a session shows."""


def checkpoint_list() -> QuerySet[Checkpoint]:
    """All checkpoints by name."""
    return Checkpoint.objects.select_related("base")


def served_checkpoints() -> list[Checkpoint]:
    """The checkpoints that a deployment serves, the default deployment's first."""
    deployments = Deployment.objects.select_related("checkpoint").order_by("-is_default", "checkpoint__name")
    return list({deployment.checkpoint_id: deployment.checkpoint for deployment in deployments}.values())


def deployment_list() -> QuerySet[Deployment]:
    """All deployments with their checkpoints, the default one first."""
    return Deployment.objects.select_related("checkpoint").order_by("-is_default", "name")


def default_deployment() -> Deployment | None:
    """The deployment that is used where nobody chooses; None before one is registered."""
    return Deployment.objects.select_related("checkpoint").filter(is_default=True).first()


def deployment_for(checkpoint_name: str | None) -> Deployment:
    """The deployment to use for a checkpoint, a healthy one first; for None the default. Raises NotFound, Conflict."""
    if checkpoint_name is None:
        if (deployment := default_deployment()) is None:
            raise Conflict("No model is deployed yet. Run `make up`, or register a deployment.", code="no_deployment")
        return deployment
    candidates = list(deployment_list().filter(checkpoint__name=checkpoint_name.replace("\x00", "")))
    if not candidates:
        known = ", ".join(checkpoint.name for checkpoint in served_checkpoints()) or "none"
        raise NotFound(f'No deployment serves a checkpoint "{checkpoint_name[:120]}". Served now: {known}.')
    return min(candidates, key=lambda item: item.state != Deployment.State.HEALTHY)


def model_ref(deployment: Deployment) -> ModelRef:
    """How to reach a deployment's checkpoint."""
    checkpoint = deployment.checkpoint
    return ModelRef(checkpoint.name, deployment.base_url, checkpoint.served_name)


def session_list(*, viewer: AbstractUser | None, harness_slug: str | None = None) -> QuerySet[Session]:
    """Sessions, newest first, with what they ran on; of one harness, or of all that `viewer` may see (None is the platform)."""
    sessions = Session.objects.select_related(*_RUNS_ON, "created_by").defer(*_LONG)
    if viewer is not None and not policy.may_everywhere(viewer, HarnessAction.VIEW):
        sessions = sessions.filter(_of_harnesses(policy.harnesses_allowing(viewer, HarnessAction.VIEW)))
    if harness_slug is None:
        return sessions
    return sessions.filter(Q(harness_version__harness__slug=harness_slug) | Q(draft__harness__slug=harness_slug))


def _of_harnesses(harnesses: QuerySet[Any]) -> Q:
    keys = harnesses.values("pk")
    return Q(harness_version__harness__in=keys) | Q(draft__harness__in=keys)


@lru_cache(maxsize=64)
def session_draft_spec(session_id: UUID) -> HarnessSpec:
    """The harness of a session on a draft, remembered: it never changes while the session lives."""
    document = Session.objects.values_list("draft_document", flat=True).get(pk=session_id)
    return spec_from_document(parse_json(document))


def session_get(session_id: UUID, *, viewer: AbstractUser | None) -> Session:
    """One session with what it runs on. Raises NotFound where there is none, or none that `viewer` may see."""
    session = session_list(viewer=viewer).filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"There is no session {session_id}.")
    return session


def turn_list(session: Session) -> QuerySet[Turn]:
    """The turns of a session, first one first, without their traces."""
    return Turn.objects.filter(session_id=session.pk).defer("trace").order_by("number")


def turn_get(session_id: UUID, number: int, *, viewer: AbstractUser | None) -> Turn:
    """One turn with its session and what it ran on. Raises NotFound where there is none, or none that `viewer` may see."""
    session_get(session_id, viewer=viewer)
    turns = Turn.objects.select_related(*(f"session__{name}" for name in _RUNS_ON)).defer(
        *(f"session__{name}" for name in _LONG)
    )
    turn = turns.filter(Q(session_id=session_id, number=number)).first() if 0 < number < 2**31 else None
    if turn is None:
        raise NotFound(f"Session {session_id} has no turn {number}.")
    return turn


def token_counter_of(checkpoint: Checkpoint) -> TokenCounter | None:
    """How a checkpoint's tokenizer counts; None where it is not on this machine."""
    try:
        return counter_for(Path(checkpoint.path)) if checkpoint.path else None
    except TokenizerError:
        return None


def default_token_counter() -> TokenCounter:
    """How the model in service counts tokens; a rough estimate where its tokenizer is not on this machine."""
    deployment = default_deployment()
    return (token_counter_of(deployment.checkpoint) if deployment else None) or estimate_tokens
