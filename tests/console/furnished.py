"""A console with something in it: harnesses with drafts, reviews, labels and teams, an engine, sessions with turns, tokens.

For browser tests and screenshots.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from harnesses.selectors import version_get
from harnesses.services import (
    draft_discard,
    draft_open,
    draft_save,
    freeze_create,
    harness_archive,
    harness_create,
    harness_fork,
    label_move,
    member_set,
    release_schedule,
    review_request,
    thread_open,
    thread_reply,
)
from inference.engine.null_engine import NullEngine
from inference.services import session_start, turn_take
from ledger.models import User
from ledger.services import team_create, token_create
from tests.console import sample
from tests.console.browser import run_async

PRICE_QUESTION = "How much is the vacuum lunch box?"


@dataclass(frozen=True)
class Furnished:
    """What was made; `addresses` names every page to look at."""

    first: Any
    second: Any
    addresses: dict[str, str]


def furnish(harness: Any, engine: NullEngine, operator: User) -> Furnished:
    """Two sessions side by side, each with turns that call tools, fire hooks and go wrong."""
    harness_create(slug="night-market", title="Night market", world=sample.WORLD, acting_user=operator)
    token_create(owner=operator, name="Stream platform, staging", scopes=["sessions:write"], acting_user=operator)
    staged = {"harness": harness, "name": "staging", "acting_user": operator}
    for number in (1, 2):
        label_move(**staged, version=version_get(harness, number), reason="Try it before the evening stream.")
    sessions = [
        session_start(harness_slug=harness.slug, version_number=number, viewer="wren_42", seed=0, acting_user=operator)
        for number in (1, 2)
    ]
    for session, tool in zip(sessions, ("get_price", "fetch_price"), strict=True):
        _take(
            engine, session, PRICE_QUESTION, [f"CALL {tool}; item: K7", "The vacuum lunch box is ¥129 for this stream."]
        )
        _take(engine, session, "Can I get my money back?", [])
        card = ["CALL show_cards; item: K7", "CALL show_card; item: K7", "There it is, on your screen now."]
        _take(engine, session, "Show it to me please 🙏", card)
    first, second = sessions
    versions = f"/harnesses/{harness.slug}/versions"
    addresses = {
        **_changing(harness, operator),
        "harnesses": "/harnesses/",
        "new-harness": "/harnesses/new/",
        "components": f"/harnesses/{harness.slug}/",
        "prompt": f"{versions}/2/prompt/",
        "findings": f"{versions}/2/findings/",
        "versions": f"{versions}/",
        "empty-harness": "/harnesses/night-market/",
        "import": f"/harnesses/{harness.slug}/import/",
        "compare": f"/harnesses/{harness.slug}/compare/?old=1&new=2",
        "labels": f"/harnesses/{harness.slug}/labels/",
        "release": f"/harnesses/{harness.slug}/labels/production/move/?version=2",
        "label-history": f"/harnesses/{harness.slug}/labels/staging/history/",
        "undo": f"/harnesses/{harness.slug}/labels/staging/undo/",
        "freezes": f"/harnesses/{harness.slug}/freezes/",
        "playground": f"/playground/?harness={harness.slug}&version=2",
        "session": f"/playground/{first.pk}/",
        "side-by-side": f"/playground/{first.pk}/?beside={second.pk}",
        "turn": f"/playground/{first.pk}/turns/3/",
        "deployments": "/deployments/",
        "audit": "/audit/",
        "tokens": "/account/tokens/",
        "password": "/account/password/",
        "not-found": "/nowhere/",
    }
    return Furnished(first, second, addresses)


def _changing(harness: Any, operator: User) -> dict[str, str]:
    """A harness in the middle of a change: drafts, a review with a thread, a planned release, a freeze, a fork, a team."""
    here, older, newer = f"/harnesses/{harness.slug}", version_get(harness, 1), version_get(harness, 2)
    draft = draft_open(harness=harness, name="Warmer words for the evening stream", acting_user=operator)
    words = {"op": "set", "kind": "tool", "id": "price", "fields": {"description": ""}}
    draft_save(draft=draft, revision=draft.revision, edits=[words], acting_user=operator)
    draft_discard(draft=draft_open(harness=harness, name="Given up", acting_user=operator), acting_user=operator)
    review = review_request(version=newer, message="Is the new name clear? It was another in v1.", acting_user=operator)
    place: dict[str, Any] = {"component_kind": "tool", "component_id": "price", "field": "name", "line": 1}
    thread = thread_open(review=review, body="Why not the old one?", acting_user=operator, **place)
    thread_reply(thread=thread, body="Viewers ask for prices in other words.", acting_user=operator)
    now = timezone.now()
    released: dict[str, Any] = {"name": "production", "confirm": "production", "acting_user": operator}
    release_schedule(harness=harness, version=newer, due_at=now + dt.timedelta(hours=9), reason="Tonight", **released)
    freeze_create(
        harness=harness, starts_at=now, ends_at=now + dt.timedelta(hours=5), reason="Rehearsal", acting_user=operator
    )
    fork = harness_fork(version=older, slug="stream-host-night", title="Stream host, at night", acting_user=operator)
    archived = harness_create(slug="old-shop", title="Old shop", world=sample.WORLD, acting_user=operator)
    harness_archive(harness=archived, reason="The shop has closed.", acting_user=operator)
    team_create(slug="night-shift", name="Night shift", members=[operator.username], acting_user=None)
    member_set(harness=harness, kind="team", name="night-shift", role="reviewer", acting_user=operator)
    return {
        "archived-harnesses": "/harnesses/?archived=1",
        "archived-harness": f"/harnesses/{archived.slug}/settings/",
        "editor": f"{here}/drafts/{draft.pk}/",
        "editor-of-a-tool": f"{here}/drafts/{draft.pk}/#tool/price",
        "drafts": f"{here}/drafts/",
        "closed-drafts": f"{here}/drafts/?state=closed",
        "compare-draft": f"{here}/compare/?draft={draft.pk}",
        "older-version": f"{here}/versions/1/",
        "revert": f"{here}/versions/1/revert/",
        "fork": f"{here}/versions/1/fork/",
        "merge": f"{here}/merge/?source={fork.slug}",
        "reviews": "/reviews/?tab=open",
        "reviews-of-harness": f"{here}/reviews/",
        "request-review": f"{here}/reviews/new/?version=1",
        "review": f"/reviews/{review.pk}/",
        "members": f"{here}/members/",
        "settings": f"{here}/settings/",
        "changelog": f"{here}/changelog/",
        "freezes-of-all": "/releases/freezes/",
        "teams": "/teams/",
        "team": "/teams/night-shift/",
    }


def _take(engine: NullEngine, session: Any, comment: str, replies: list[str]) -> None:
    engine.replies.extend(replies)
    run_async(turn_take(session_id=session.pk, comment=comment, acting_user=session.created_by))
