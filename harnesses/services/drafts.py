"""Writes to drafts: open one, save with every change, commit, put away, take a save back, merge with what was committed meanwhile.

A save names the revision that it started from, and never overwrites one that it has not seen. What is saved has the shape of a
harness; findings keep nobody from saving. Every save is kept for a while (`MAX_REVISIONS_KEPT`). Locks are taken in one order
everywhere: the harness first, then the draft.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from harnesses import policy
from harnesses.core.jsonvalues import MAX_JSON_BYTES, JsonObject, JsonValue
from harnesses.core.membership import HarnessAction
from harnesses.core.merge import MergeResult, merge_specs
from harnesses.core.spec import HarnessSpec
from harnesses.documents import edit_spec, read_spec
from harnesses.errors import StaleDraft
from harnesses.models import DraftRevision, Harness, HarnessDraft, HarnessVersion
from harnesses.selectors.drafts import draft_base_spec, draft_spec, revision_get, revision_spec
from harnesses.selectors.versions import spec_findings, version_spec
from harnesses.services.versions import (
    MAX_MESSAGE_CHARS,
    CommitResult,
    document_text,
    harness_commit,
    refuse_archived,
)
from ledger.errors import Conflict, Invalid, TooLarge
from ledger.services import AuditObject, AuditWriter, actor_name, checked_text

MAX_REVISIONS_KEPT = 100
MAX_NAME_CHARS = 120
EDITING_PAUSE = dt.timedelta(minutes=15)
"""Saves of one person that follow one another more quickly than this are one entry of the audit log; each is a revision."""


@dataclass(frozen=True)
class SavedDraft:
    """A draft after a save, with its content. `is_new` is False where the content was there already: no revision was made."""

    draft: HarnessDraft
    spec: HarnessSpec
    is_new: bool


@transaction.atomic
def draft_open(
    *,
    harness: Harness,
    acting_user: AbstractUser | None,
    from_version: HarnessVersion | None = None,
    name: str = "",
    document: JsonValue = None,
    merged_from: HarnessVersion | None = None,
) -> HarnessDraft:
    """Open a draft on a version (None: the newest; an empty harness where there is none), with that content or another's.

    `merged_from` is the version of another harness whose changes `document` holds.
    Raises Invalid with every field of `document` that is wrong, Conflict for an archived harness, Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, harness)
    refuse_archived(harness)
    name = checked_text("name", name, max_chars=MAX_NAME_CHARS)
    base = from_version or harness.versions.select_related("harness").order_by("-number").first()
    if base is not None and base.harness_id != harness.pk:
        raise Invalid.field("from_version", "This version belongs to another harness.", "Choose one of this harness.")
    kept = version_spec(base) if base else HarnessSpec()
    spec = kept if document is None else read_spec(document, "document")
    draft = HarnessDraft.objects.create(
        harness=harness,
        name=name or (f"Changes to version {base.number}" if base else "First version"),
        base_version=base,
        merged_from=merged_from,
        document=_stored_text(spec),
        spec_hash=spec.spec_hash,
        created_by_id=_key(acting_user),
        created_by_name=actor_name(acting_user),
        updated_by_id=_key(acting_user),
        updated_by_name=actor_name(acting_user),
    )
    _keep_revision(draft)
    after: JsonObject = {"base": base.number if base else None, "spec_hash": draft.spec_hash}
    _audit(draft, "draft.opened", acting_user, after=after)
    return draft


@transaction.atomic
def draft_save(
    *,
    draft: HarnessDraft,
    revision: int,
    acting_user: AbstractUser | None,
    document: JsonValue = None,
    edits: JsonValue = None,
) -> SavedDraft:
    """Save new content, whole (`document`) or by `edits` that name only what changes, as the next revision.

    `revision` is the one that the change started from; if the draft was saved since, StaleDraft tells the current one and nothing
    is written. A whole document equal to what is saved makes no revision and is never stale, so that a repeated request is
    harmless. Raises Invalid with every field that is wrong, TooLarge, StaleDraft, Conflict (closed, archived), Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    sent = read_spec(document, "document") if edits is None else None
    locked = draft_lock(draft)
    refuse_closed(locked)
    if sent is None:
        refuse_stale(locked, revision)
        sent = edit_spec(draft_spec(locked), edits).spec
    text = _stored_text(sent)
    if text == locked.document:
        return SavedDraft(draft=locked, spec=sent, is_new=False)
    refuse_stale(locked, revision)
    store_content(locked, sent, acting_user, text=text)
    return SavedDraft(draft=locked, spec=sent, is_new=True)


@transaction.atomic
def draft_commit(*, draft: HarnessDraft, revision: int, message: str, acting_user: AbstractUser | None) -> CommitResult:
    """Make the draft's content the newest version, and close the draft.

    `revision` is the one that was looked at. Committing the same revision twice gives the same version twice. Where another
    version was committed since the draft's base, Conflict says to rebase. Raises InvalidHarness, Invalid, StaleDraft, Conflict,
    Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    message = checked_text("message", message, max_chars=MAX_MESSAGE_CHARS, is_required=True)
    Harness.objects.select_for_update(no_key=True).get(pk=draft.harness_id)
    locked = draft_lock(draft)
    spec = draft_spec(locked)
    if locked.committed_version is not None and revision == locked.revision:
        findings = spec_findings(spec, locked.harness.world)
        return CommitResult(version=locked.committed_version, is_new=False, findings=findings)
    refuse_closed(locked)
    refuse_stale(locked, revision)
    result = _commit(locked, spec, message, acting_user)
    locked.state = HarnessDraft.State.COMMITTED
    locked.committed_version = result.version
    locked.save(update_fields=["state", "committed_version"])
    after: JsonObject = {"number": result.version.number, "spec_hash": locked.spec_hash}
    _audit(locked, "draft.committed", acting_user, after=after, reason=message)
    return result


def _commit(draft: HarnessDraft, spec: HarnessSpec, message: str, acting_user: AbstractUser | None) -> CommitResult:
    base = draft.base_version.number if draft.base_version else 0
    try:
        return harness_commit(
            harness=draft.harness,
            spec=spec,
            message=message,
            acting_user=acting_user,
            source=HarnessVersion.Source.EDITOR,
            expected_number=base,
        )
    except Conflict as error:
        if error.code != "version_conflict":
            raise
        began = f"version {base}" if base else "an empty harness"
        detail = (
            f"This draft began from {began}, but version {draft.harness.version_count} was committed meanwhile. "
            "Rebase the draft on it, look at what changed, then commit."
        )
        raise Conflict(detail, code="version_conflict", title="Another version was committed meanwhile") from error


@transaction.atomic
def draft_discard(*, draft: HarnessDraft, acting_user: AbstractUser | None, reason: str = "") -> HarnessDraft:
    """Put a draft away, content and all; discarding twice is harmless. Raises Conflict for a committed one, Denied."""
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    locked = draft_lock(draft)
    refuse_committed(locked)
    if locked.state != HarnessDraft.State.DISCARDED:
        locked.state = HarnessDraft.State.DISCARDED
        locked.save(update_fields=["state"])
        _audit(locked, "draft.discarded", acting_user, before={"revision": locked.revision}, reason=reason)
    return locked


@transaction.atomic
def draft_reopen(*, draft: HarnessDraft, acting_user: AbstractUser | None, reason: str = "") -> HarnessDraft:
    """Take a discarded draft up again; an open one stays open. Raises Conflict (committed, archived), Denied."""
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    locked = draft_lock(draft)
    refuse_archived(locked.harness)
    refuse_committed(locked)
    if locked.state != HarnessDraft.State.OPEN:
        locked.state = HarnessDraft.State.OPEN
        locked.save(update_fields=["state"])
        _audit(locked, "draft.reopened", acting_user, after={"revision": locked.revision}, reason=reason)
    return locked


@transaction.atomic
def draft_restore(*, draft: HarnessDraft, revision: int, acting_user: AbstractUser | None) -> SavedDraft:
    """Make the content of an earlier save the newest revision; what it replaces stays a revision of its own.

    Raises NotFound where that save is not kept, Conflict (closed, archived), Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    locked = draft_lock(draft)
    refuse_closed(locked)
    earlier = revision_get(locked, revision)
    spec = revision_spec(earlier)
    if earlier.document == locked.document:
        return SavedDraft(draft=locked, spec=spec, is_new=False)
    before: JsonObject = {"revision": locked.revision, "spec_hash": locked.spec_hash}
    store_content(locked, spec, acting_user, is_told=False)
    after: JsonObject = {"revision": locked.revision, "spec_hash": locked.spec_hash, "restored": revision}
    _audit(locked, "draft.restored", acting_user, before=before, after=after)
    return SavedDraft(draft=locked, spec=spec, is_new=True)


@dataclass(frozen=True)
class RebasedDraft:
    """A draft with the newest version's changes in it. Where both changed the same, the draft's own stayed: see the conflicts."""

    saved: SavedDraft
    merge: MergeResult


@transaction.atomic
def draft_rebase(*, draft: HarnessDraft, acting_user: AbstractUser | None, revision: int | None = None) -> RebasedDraft:
    """Merge what was committed since the draft's base into it, and make the newest version its base.

    `revision`, where given, is the one that was looked at. A draft that is based on the newest version stays as it is. Raises
    StaleDraft, Conflict (closed, archived), Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, draft.harness)
    locked = draft_lock(draft)
    refuse_closed(locked)
    if revision is not None:
        refuse_stale(locked, revision)
    mine, base = draft_spec(locked), locked.base_version
    newest = locked.harness.versions.select_related("harness").order_by("-number").first()
    if newest is None or newest == base:
        return RebasedDraft(SavedDraft(locked, mine, is_new=False), MergeResult(mine, (), ()))
    merge = merge_specs(draft_base_spec(locked), mine, version_spec(newest))
    locked.base_version = newest
    before: JsonObject = {"base": base.number if base else None, "revision": locked.revision}
    store_content(locked, merge.spec, acting_user, is_told=False)
    after: JsonObject = {"base": newest.number, "revision": locked.revision, "conflicts": len(merge.conflicts)}
    _audit(locked, "draft.rebased", acting_user, before=before, after=after)
    return RebasedDraft(SavedDraft(locked, merge.spec, is_new=True), merge)


# --- what all writes share -------------------------------------------------------------------------------------------


def draft_lock(draft: HarnessDraft) -> HarnessDraft:
    """The draft as it is now, locked until the transaction ends.

    What it refers to is read afterwards: in one query with the lock it would be what it was before the wait for the lock.
    """
    locked = HarnessDraft.objects.select_for_update(no_key=True).get(pk=draft.pk)
    locked.harness = Harness.objects.get(pk=locked.harness_id)
    keys = [key for key in (locked.base_version_id, locked.committed_version_id) if key is not None]
    versions = HarnessVersion.objects.select_related("harness").defer("document").in_bulk(keys)
    locked.base_version = versions[locked.base_version_id] if locked.base_version_id else None
    locked.committed_version = versions[locked.committed_version_id] if locked.committed_version_id else None
    return locked


def store_content(
    draft: HarnessDraft, spec: HarnessSpec, acting_user: AbstractUser | None, *, text: str = "", is_told: bool = True
) -> None:
    """Make `spec` the next revision of a locked draft; old revisions are thinned out. Raises TooLarge.

    `is_told`: where a spell of editing begins with it, the audit log says so; else the caller tells it in words of its own.
    """
    before = draft.revision
    if is_told and _begins_editing(draft, acting_user):
        _audit(draft, "draft.edited", acting_user, before={"revision": before, "spec_hash": draft.spec_hash})
    draft.document = text or _stored_text(spec)
    draft.spec_hash = spec.spec_hash
    draft.revision = before + 1
    draft.updated_by_id = _key(acting_user)
    draft.updated_by_name = actor_name(acting_user)
    draft.save()
    _keep_revision(draft)


def refuse_stale(draft: HarnessDraft, revision: int) -> None:
    """Raises StaleDraft where the draft is no longer at that revision."""
    if revision != draft.revision:
        raise StaleDraft(sent=revision, revision=draft.revision, by=draft.updated_by_name, at=draft.updated_at)


def refuse_closed(draft: HarnessDraft) -> None:
    """Raises Conflict where the draft is committed or discarded, or its harness archived."""
    refuse_archived(draft.harness)
    refuse_committed(draft)
    if draft.state == HarnessDraft.State.DISCARDED:
        raise Conflict("This draft is discarded. Reopen it to go on.", code="draft_closed")


def refuse_committed(draft: HarnessDraft) -> None:
    """Raises Conflict where the draft has become a version."""
    if draft.committed_version is not None:
        detail = f"This draft is committed as version {draft.committed_version.number}. Open a new draft to go on."
        raise Conflict(detail, code="draft_closed")


def _audited(draft: HarnessDraft) -> AuditObject:
    return AuditObject("draft", draft.pk, f"{draft.harness.slug}: {draft.name}", ("harness", draft.harness_id))


_audit = AuditWriter(_audited)


def _begins_editing(draft: HarnessDraft, acting_user: AbstractUser | None) -> bool:
    """Whether a save is the first one of a spell of editing: after the opening, after somebody else's, after a pause."""
    is_same_person = draft.updated_by_id == _key(acting_user) and draft.updated_by_name == actor_name(acting_user)
    return draft.revision == 1 or not is_same_person or timezone.now() - draft.updated_at > EDITING_PAUSE


def _keep_revision(draft: HarnessDraft) -> None:
    DraftRevision.objects.create(
        draft=draft,
        revision=draft.revision,
        document=draft.document,
        spec_hash=draft.spec_hash,
        author_id=draft.updated_by_id,
        author_name=draft.updated_by_name,
    )
    # One of each person stays however old: who wrote a part of a draft may not approve it (`harnesses.selectors.authorship`).
    newer = DraftRevision.objects.filter(draft=draft, author=OuterRef("author"), revision__gt=OuterRef("revision"))
    old = DraftRevision.objects.filter(draft=draft, revision__lte=draft.revision - MAX_REVISIONS_KEPT)
    old.filter(Q(author=None) | Exists(newer)).delete()


def _stored_text(spec: HarnessSpec) -> str:
    text = document_text(spec)
    size = len(text.encode())
    if size > MAX_JSON_BYTES:
        raise TooLarge(
            f"The harness is {size:,} bytes of JSON with everything written out; the limit is {MAX_JSON_BYTES:,}. "
            "Shorten its texts or split it."
        )
    return text


def _key(acting_user: AbstractUser | None) -> int | None:
    return acting_user.pk if acting_user else None
