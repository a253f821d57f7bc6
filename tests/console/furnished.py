"""A console with something in it: harnesses, an engine, sessions with turns, tokens. For browser tests and screenshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harnesses.selectors import version_get
from harnesses.services import harness_create, label_move
from inference.engine.null_engine import NullEngine
from inference.services import session_start, turn_take
from ledger.models import User
from ledger.services import token_create
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


def _take(engine: NullEngine, session: Any, comment: str, replies: list[str]) -> None:
    engine.replies.extend(replies)
    run_async(turn_take(session_id=session.pk, comment=comment, acting_user=session.created_by))
