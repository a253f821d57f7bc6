"""Sessions on a draft: they try what is saved now, and keep it while the draft goes on."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import AbstractUser
from django.db import connections

from harnesses.core.spec import PromptSection
from harnesses.selectors import harness_get
from harnesses.selectors.drafts import draft_get
from harnesses.services.drafts import draft_open, draft_save
from inference.api.serializers import harness_document
from inference.selectors import session_get, session_list, turn_get
from inference.services import session_start, turn_take
from ledger.core.roles import Role
from ledger.errors import Denied, Invalid, NotFound
from ledger.services import user_create
from tests.inference.conftest import HARNESS, Bench, small_spec

pytestmark = pytest.mark.usefixtures("close_worker_connections_after")


@pytest.fixture
def close_worker_connections_after():
    """Asynchronous code reaches the database through a thread of its own, whose connection nobody else closes."""
    yield
    async_to_sync(sync_to_async(connections.close_all))()


def _draft_saying(bench: Bench, text: str):
    harness = harness_get(HARNESS)
    draft = draft_open(harness=harness, acting_user=bench.user)
    spec = small_spec().model_copy(update={"prompt": (PromptSection(id="role", title="Role", body=text),)})
    draft_save(draft=draft, document=spec.document(), revision=draft.revision, acting_user=bench.user)
    return draft_get(harness, draft.pk)


def test_a_session_on_a_draft_keeps_what_was_saved_when_it_began(bench: Bench):
    draft = _draft_saying(bench, "Say hello.")
    session = session_start(harness_slug=HARNESS, draft_id=draft.pk, acting_user=bench.user)
    changed = small_spec().document()
    draft_save(draft=draft, document=changed, revision=draft.revision, acting_user=bench.user)
    turn = asyncio.run(turn_take(acting_user=bench.user, session_id=session.pk, comment="Hi"))
    assert turn.trace["messages"][0]["content"].count("Say hello.") == 1
    stored = turn_get(session.pk, 1, viewer=bench.user)
    assert stored.session.harness_label == f"{HARNESS} draft r{draft.revision}"
    assert harness_document(session_get(session.pk, viewer=bench.user)) == {
        "slug": HARNESS,
        "version": None,
        "draft": draft.pk,
        "draft_revision": draft.revision,
        "hash": draft.spec_hash,
    }
    assert [row.pk for row in session_list(viewer=bench.user, harness_slug=HARNESS)] == [session.pk]


def test_a_session_is_of_a_version_or_of_a_draft(bench: Bench):
    draft = _draft_saying(bench, "Say hello.")
    with pytest.raises(Invalid, match="one of version, label, draft"):
        session_start(harness_slug=HARNESS, draft_id=draft.pk, version_number=1, acting_user=bench.user)
    with pytest.raises(NotFound):
        session_start(harness_slug=HARNESS, draft_id=draft.pk + 1000, acting_user=bench.user)


def test_a_viewer_may_not_play(bench: Bench):
    viewer: AbstractUser = user_create(username="vera", password=None, roles=[Role.VIEWER], acting_user=None)
    draft = _draft_saying(bench, "Say hello.")
    with pytest.raises(Denied, match="play"):
        session_start(harness_slug=HARNESS, draft_id=draft.pk, acting_user=viewer)
