"""Starting and closing viewers' sessions."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone
from pydantic import ValidationError

from harnesses import policy
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.membership import HarnessAction
from harnesses.runtime.trace import Conversation
from harnesses.selectors import label_get, version_get
from harnesses.selectors.drafts import draft_get
from inference.core.cleaning import storable
from inference.models import Session
from inference.selectors import deployment_for
from ledger.errors import Conflict, Invalid, NotFound
from ledger.services import checked_text
from livestream.world import World, world_named

MAX_VIEWER_CHARS = 80
MAX_ROOM_BYTES = 500_000
MAX_SEED = 2**31 - 1
EMPTY_CONVERSATION = Conversation().model_dump(mode="json")


@transaction.atomic
def session_start(
    *,
    harness_slug: str,
    version_number: int | None = None,
    label: str | None = None,
    draft_id: int | None = None,
    checkpoint_name: str | None = None,
    viewer: str = "viewer",
    room: JsonObject | None = None,
    seed: int | None = None,
    acting_user: AbstractUser,
) -> Session:
    """Open a session of a harness version, of what a label points to now, or of a draft as it is saved now, on a checkpoint.

    With none of the three it is the newest version; without a checkpoint the default deployment's. The session keeps its version
    when the label moves on.
    The room is `room`, a state as its world stores it, or a fresh one for `seed` (0 where neither is given). Raises NotFound,
    Invalid, Conflict.
    """
    _check_one_of(version=version_number, label=label, draft=draft_id)
    harness = policy.harness_for(acting_user, harness_slug, HarnessAction.PLAY)
    if harness.archived_at is not None:
        raise Conflict(f'The harness "{harness_slug}" is archived. Choose another one.')
    if draft_id is not None:
        surface = _draft(harness, draft_id)
    elif label is not None:
        surface = {"harness_version": label_get(harness, label).version}
    else:
        surface = {"harness_version": version_get(harness, version_number)}
    deployment = deployment_for(checkpoint_name)
    viewer = checked_viewer(viewer)
    world = _world(harness.world)
    return Session.objects.create(
        **surface,
        deployment=deployment,
        checkpoint=deployment.checkpoint,
        world=world.name,
        room_state=storable(world.dump(_opened(world, room, seed))),
        conversation=EMPTY_CONVERSATION,
        viewer=viewer,
        seed=seed,
        created_by_id=acting_user.pk,
    )


def _check_one_of(**given: object) -> None:
    """Raises Invalid where more than one thing to run on is given, naming the last."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        message = "A session runs on a version, on what a label points to, or on a draft."
        raise Invalid.field(names[-1], message, f"Give one of {', '.join(given)}.", code="one_of")


def _draft(harness: Any, draft_id: int) -> dict[str, Any]:
    draft = draft_get(harness, draft_id)
    state = {"draft_revision": draft.revision, "draft_document": draft.document, "draft_hash": draft.spec_hash}
    return {"draft": draft, **state}


@transaction.atomic
def session_close(*, session_id: UUID, acting_user: AbstractUser) -> Session:
    """End a session: it takes no more turns. One that is closed already stays as it is. Raises NotFound, Denied."""
    sessions = Session.objects.select_for_update(of=("self",)).select_related(
        "harness_version__harness", "draft__harness"
    )
    session = sessions.filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"There is no session {session_id}.")
    require_play(acting_user, session)
    if session.closed_at is None:
        session.closed_at = timezone.now()
        session.closed_by_id = acting_user.pk
        session.save(update_fields=["closed_at", "closed_by"])
    return session


def require_play(acting_user: AbstractUser | None, session: Session) -> None:
    """Raises NotFound where the session's harness is not theirs to see, Denied where it is not theirs to use.

    Takes no query for a harness that is open to everybody, as long as the session comes with its harness.
    """
    if not policy.may(acting_user, HarnessAction.VIEW, session.harness):
        raise NotFound(f"There is no session {session.pk}.")
    policy.require(acting_user, HarnessAction.PLAY, session.harness)


def checked_viewer(viewer: str) -> str:
    """A viewer's name in its stored form. Raises Invalid."""
    cleaned = checked_text("viewer", viewer, max_chars=MAX_VIEWER_CHARS, is_required=True)
    if "\n" in cleaned or "\t" in cleaned:
        raise Invalid.field("viewer", "The name has more than one line.", "Write it in one line.")
    return cleaned


def _world(name: str) -> World[Any]:
    try:
        return world_named(name)
    except ValueError as error:
        raise Conflict(str(error)) from error


def _opened(world: World[Any], room: JsonObject | None, seed: int | None) -> Any:
    if room is None:
        if seed is not None and not 0 <= seed <= MAX_SEED:
            raise Invalid.field("seed", f"{seed} is out of range.", f"Use a whole number from 0 to {MAX_SEED}.")
        return world.open(seed or 0)
    if seed is not None:
        raise Invalid.field("seed", "A seed draws a room; here one is given.", "Give either room or seed.")
    if (size := len(json.dumps(room))) > MAX_ROOM_BYTES:
        raise Invalid.field("room", f"The room is {size:,} bytes; the limit is {MAX_ROOM_BYTES:,}.", "Shorten it.")
    try:
        return world.load(room)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["room", *(str(part) for part in first["loc"])])
        raise Invalid.field(where, f"{first['msg']}.", f"See what a fresh room of {world.name} looks like.") from error
    except ValueError as error:
        raise Invalid.field("room", f"{error}.", f"See what a fresh room of {world.name} looks like.") from error
