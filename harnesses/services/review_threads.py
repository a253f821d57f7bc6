"""All writes to the threads of a review: open one at a place of the version, reply, resolve, reopen."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone

from harnesses import policy
from harnesses.core.component_texts import component_texts, line_of
from harnesses.core.kinds import KINDS
from harnesses.core.membership import HarnessAction
from harnesses.models import Harness, Review, ReviewComment, ReviewThread
from harnesses.selectors.reviews import COMMENT_ACTIONS
from harnesses.selectors.versions import version_spec
from ledger.core.strict_json import JsonObject
from ledger.errors import Conflict, Denied, Invalid
from ledger.services import actor_name, audit_record, checked_text

MAX_COMMENT_CHARS = 10_000
MAX_QUOTE_CHARS = 500
REPEAT_WINDOW = dt.timedelta(seconds=10)
"""The same words by the same person at the same place within this time are a double click."""

MAY_NOT_COMMENT = (
    "You may read this review, and not comment on it. It takes the right to edit or to review the harness."
)


@dataclass(frozen=True)
class _Place:
    """Where in a version a thread is; all empty: the change as a whole. `quote` is the line as it stands there."""

    component_kind: str = ""
    component_id: str = ""
    field: str = ""
    line: int | None = None
    quote: str = ""


@transaction.atomic
def thread_open(
    *,
    review: Review,
    body: str,
    component_kind: str = "",
    component_id: str = "",
    field: str = "",
    line: int | None = None,
    acting_user: AbstractUser | None,
) -> ReviewThread:
    """Start a thread about a component of the version under review, a field of it, or a line of that field's text.

    Without a component it is about the change as a whole. Lines count from 1 in the text that `component_texts` gives. The same
    words at the same place within seconds are a double click and give the thread that is there. Raises Denied, Invalid by
    field, Conflict where the harness is archived.
    """
    body = checked_text("body", body, max_chars=MAX_COMMENT_CHARS, is_required=True)
    review = _lock(review, acting_user)
    place = _checked_place(review, component_kind, component_id, field, line)
    repeated = (
        ReviewComment.objects.filter(
            thread__review=review,
            thread__component_kind=place.component_kind,
            thread__component_id=place.component_id,
            thread__field=place.field,
            thread__line=place.line,
            author_id=acting_user.pk if acting_user else None,
            body=body,
            created_at__gte=timezone.now() - REPEAT_WINDOW,
        )
        .select_related("thread")
        .first()
    )
    if repeated is not None:
        return repeated.thread
    thread = ReviewThread.objects.create(
        review=review,
        version=review.version,
        component_kind=place.component_kind,
        component_id=place.component_id,
        field=place.field,
        line=place.line,
        quote=place.quote,
    )
    _comment(thread, body, acting_user)
    return thread


@transaction.atomic
def thread_reply(*, thread: ReviewThread, body: str, acting_user: AbstractUser | None) -> ReviewComment:
    """Say something more in a thread; a resolved one stays resolved. The same words again within seconds are a double click.

    Raises Denied, Invalid (field `body`), Conflict where the harness is archived.
    """
    body = checked_text("body", body, max_chars=MAX_COMMENT_CHARS, is_required=True)
    _lock(thread.review, acting_user)
    last = thread.comments.order_by("-id").first()
    if (
        last is not None
        and last.author_id == (acting_user.pk if acting_user else None)
        and last.body == body
        and last.created_at >= timezone.now() - REPEAT_WINDOW
    ):
        return last
    return _comment(thread, body, acting_user)


def thread_resolve(*, thread: ReviewThread, acting_user: AbstractUser | None) -> ReviewThread:
    """Mark a thread as resolved. One that is stays as it is. Raises Denied, Conflict where the harness is archived."""
    return _set_resolved(thread, True, acting_user)


def thread_reopen(*, thread: ReviewThread, acting_user: AbstractUser | None) -> ReviewThread:
    """Open a resolved thread again. An open one stays as it is. Raises Denied, Conflict where the harness is archived."""
    return _set_resolved(thread, False, acting_user)


@transaction.atomic
def _set_resolved(thread: ReviewThread, is_resolved: bool, acting_user: AbstractUser | None) -> ReviewThread:
    review = _lock(thread.review, acting_user)
    thread = ReviewThread.objects.select_related("version").get(pk=thread.pk)
    thread.review = review
    if is_resolved == (thread.resolved_at is not None):
        return thread
    thread.resolved_at = timezone.now() if is_resolved else None
    thread.resolved_by_id = acting_user.pk if is_resolved and acting_user else None
    thread.resolved_by_name = actor_name(acting_user) if is_resolved else ""
    thread.save(update_fields=["resolved_at", "resolved_by", "resolved_by_name"])
    _audit(thread, "review.thread_resolved" if is_resolved else "review.thread_reopened", acting_user)
    return thread


def _lock(review: Review, acting_user: AbstractUser | None) -> Review:
    """The review afresh, its harness locked and then itself. Raises NotFound, Denied, Conflict."""
    harness = Harness.objects.select_for_update(no_key=True).get(pk=review.harness_id)
    allowed = policy.actions(acting_user, harness)
    if HarnessAction.VIEW not in allowed:
        policy.require(acting_user, HarnessAction.VIEW, harness)
    if not allowed & COMMENT_ACTIONS:
        raise Denied(MAY_NOT_COMMENT)
    if harness.is_archived:
        raise Conflict(
            f'The harness "{harness.slug}" is archived. Take it back into use before you comment.', code="archived"
        )
    fresh = Review.objects.select_for_update(of=("self",)).select_related("version", "base_version").get(pk=review.pk)
    fresh.harness = harness
    return fresh


def _checked_place(review: Review, kind: str, component_id: str, field: str, line: int | None) -> _Place:
    """The place, if the version (or, of what it leaves out, the base) has it. Raises Invalid, naming the first wrong field."""
    if not kind:
        for name, value in (("component_id", component_id), ("field", field), ("line", line)):
            if value not in ("", None):
                mend = f"Name its component_kind too, or leave {name} out."
                raise Invalid.field(name, "It is not said of what kind of component.", mend, code="no_kind")
        return _Place()
    if kind not in KINDS:
        raise Invalid.field(
            "component_kind",
            f"{kind[:40]!a} is no kind.",
            f"Use one of {', '.join(KINDS)}.",
            code="bad_kind",
        )
    texts = _texts(review, kind, component_id)
    if not field:
        if line is not None:
            raise Invalid.field("line", "A line belongs to a field.", "Name the field too.", code="no_field")
        return _Place(kind, component_id)
    if field not in texts:
        mend = f"Use one of {', '.join(texts)}."
        raise Invalid.field("field", f"There is no field {field[:40]!a} there.", mend, code="bad_field")
    if line is None:
        return _Place(kind, component_id, field)
    quote = line_of(texts[field], line)
    if quote is None:
        last = texts[field].count("\n") + 1
        raise Invalid.field("line", f"There is no line {line}.", f"Use 1 to {last}.", code="bad_line")
    return _Place(kind, component_id, field, line, quote[:MAX_QUOTE_CHARS])


def _texts(review: Review, kind: str, component_id: str) -> dict[str, str]:
    for version in (review.version, review.base_version):
        texts = component_texts(version_spec(version), kind, component_id) if version is not None else None
        if texts is not None:
            return texts
    message = f"Version {review.version.number} has no {kind} {component_id[:64]!a}."
    raise Invalid.field("component_id", message, "Use the id of a component of it.", code="bad_component")


def _comment(thread: ReviewThread, body: str, acting_user: AbstractUser | None) -> ReviewComment:
    comment = ReviewComment.objects.create(
        thread=thread,
        author_id=acting_user.pk if acting_user else None,
        author_name=actor_name(acting_user),
        body=body,
    )
    _audit(thread, "review.commented", acting_user, {"comment": comment.pk, "excerpt": body[:200]})
    return comment


def _audit(
    thread: ReviewThread, action: str, acting_user: AbstractUser | None, after: JsonObject | None = None
) -> None:
    place: JsonObject = {"thread": thread.pk, "number": thread.version.number}
    if thread.component_kind:
        place |= {"component_kind": thread.component_kind, "component_id": thread.component_id}
    if thread.field:
        place |= {"field": thread.field, "line": thread.line}
    audit_record(
        action=action,
        acting_user=acting_user,
        object_type="review",
        object_id=thread.review_id,
        object_label=f"{thread.review.harness.slug} v{thread.review.version.number}",
        parent=("harness", thread.review.harness_id),
        after={**place, **(after or {})},
    )
