"""What the playground shows: versions to choose from, the room, a lane for each version, and each turn with its trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser

from console import presenters
from console.presenters import Badge
from console.trace_steps import TraceView, trace_view
from harnesses import policy
from harnesses import selectors as harness_selectors
from harnesses.core.membership import HarnessAction
from harnesses.selectors.drafts import draft_get
from inference import selectors
from livestream.world import world_named

HARNESSES_OFFERED = 50
VERSIONS_OFFERED = 10
TURNS_SHOWN = 20


@dataclass(frozen=True)
class TurnView:
    """One turn: what was said and done, and the trace. `total` is how long the viewer waited, `own` Tackroom's part of it."""

    turn: Any
    trace: TraceView
    actions: list[ActionRow]
    total: str
    own: str
    is_open: bool = False


@dataclass(frozen=True)
class ActionRow:
    operation: str
    pairs: list[tuple[str, str]]


@dataclass(frozen=True)
class Lane:
    """One session beside others. `earlier_count` turns are not shown."""

    session: Any
    turns: list[TurnView]
    earlier_count: int


def version_choices(
    user: AbstractUser, slug: str = "", number: str = ""
) -> tuple[list[tuple[str, list[tuple[str, str]]]], bool]:
    """What a person may talk to, grouped by harness: what its labels point to, and its newest versions; and whether there is more.

    A value is `slug@label:name` or `slug@number`. The harness and the version that the address names come first. Raises NotFound
    for a version that the harness does not have.
    """
    allowed = policy.harnesses_allowing(
        user, HarnessAction.PLAY, harness_selectors.harness_list().filter(version_count__gt=0)
    )
    offered = list(allowed[: HARNESSES_OFFERED + 1])
    is_cut = len(offered) > HARNESSES_OFFERED
    named = next(iter(allowed.filter(slug=slug)), None) if harness_selectors.SLUG_PATTERN.fullmatch(slug) else None
    if named is not None:
        offered = [named, *(item for item in offered if item.pk != named.pk)]
    offered = offered[:HARNESSES_OFFERED]
    labels = harness_selectors.labels_by_harness(offered)
    newest = harness_selectors.newest_versions(offered, VERSIONS_OFFERED)
    groups = []
    for harness in offered:
        versions = newest.get(harness.pk, [])
        if (
            harness is named
            and number.isascii()
            and number.isdigit()
            and not any(str(item.number) == number for item in versions)
        ):
            versions = [harness_selectors.version_get(harness, number), *versions]
        options = [
            (f"{harness.slug}@label:{label.name}", f"{harness.slug} {label.name}: now v{label.version.number}")
            for label in labels.get(harness.pk, ())
        ]
        options += [
            (f"{harness.slug}@{item.number}", _label(harness.slug, item.number, item.message)) for item in versions
        ]
        groups.append((harness.title, options))
    return groups, is_cut


def _label(slug: str, number: int, message: str) -> str:
    return f"{slug} v{number}: {message[:50]}" if message else f"{slug} v{number}"


def draft_choice(user: AbstractUser, slug: str, draft_id: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The draft that the address names, as the first choice; nothing where it names none. Raises NotFound."""
    if not (slug and draft_id.isascii() and draft_id.isdigit()):
        return []
    draft = draft_get(policy.harness_for(user, slug, HarnessAction.PLAY), int(draft_id))
    label = f"{slug} draft r{draft.revision}: {draft.name[:50]}"
    return [("Draft", [(f"{slug}@draft:{draft.pk}", label)])]


def checkpoint_choices() -> list[tuple[str, str]]:
    """The checkpoints that a deployment serves."""
    return [(item.name, item.name) for item in selectors.served_checkpoints()]


def split_choice(value: str) -> dict[str, Any]:
    """`slug@number`, `slug@label:name` or `slug@draft:id` as arguments of `session_start`. For values the form has checked."""
    slug, _, which = value.rpartition("@")
    kind, _, key = which.partition(":")
    if kind == "label":
        return {"harness_slug": slug, "label": key}
    return {"harness_slug": slug, **({"draft_id": int(key)} if kind == "draft" else {"version_number": int(which)})}


def room_of(session: Any) -> dict[str, Any]:
    """The room now, as templates of the harness see it."""
    world = world_named(session.world)
    return dict(world.context(world.load(session.room_state), session.viewer))


def lane(user: AbstractUser, session_id: UUID) -> Lane:
    """A session that a person may see, with its last turns, oldest first. Raises NotFound."""
    session = selectors.session_get(session_id, viewer=user)
    newest = selectors.turn_list(session).defer(None).order_by("-number")[:TURNS_SHOWN]
    turns = [turn_view(turn, is_open=turn.number == session.turn_count) for turn in reversed(newest)]
    return Lane(session, turns, session.turn_count - len(turns))


def turn_view(turn: Any, *, is_open: bool = False) -> TurnView:
    """A turn, laid out."""
    actions = [ActionRow(item["operation"], presenters.flat_pairs(item["arguments"])) for item in turn.actions]
    total = presenters.milliseconds(turn.engine_ms + turn.overhead_ms)
    own_ms = max(0.0, turn.overhead_ms - turn.operations_ms)
    return TurnView(turn, trace_view(turn.trace, turn.errors), actions, total, presenters.milliseconds(own_ms), is_open)


@dataclass(frozen=True)
class EngineBanner:
    """What stands over the playground while the engine cannot answer."""

    deployment: Any
    badge: Badge
    title: str
    advice: str


_TITLES = {
    "starting": "The model engine is starting.",
    "degraded": "The model engine is not well.",
    "stopped": "The model engine is stopped.",
    "failed": "The model engine has failed.",
}
_ADVICE = {
    "starting": "You can write now: until it is up, viewers get the harness's fallback reply.",
    "degraded": "Replies may be slow or fall back. This page keeps looking.",
    "stopped": "Start it with make up. Until then viewers get the harness's fallback reply.",
    "failed": "Run manage.py doctor on the server: it says what is wrong and what to do.",
}


def engine_banner(deployment: Any) -> EngineBanner | None:
    """The banner for a deployment; None where it is healthy and there is nothing to say."""
    if deployment.state == "healthy":
        return None
    badge = presenters.deployment_badge(deployment.state)
    title = _TITLES.get(deployment.state, "The model engine cannot answer now.")
    return EngineBanner(deployment, badge, title, _ADVICE.get(deployment.state, ""))
