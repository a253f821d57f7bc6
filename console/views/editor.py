"""Editing a harness: its drafts, how one is begun or put away, and the page of the editor.

The editor itself runs in the browser (`static/console/js/editor/`) and talks to the REST endpoints of drafts; this page gives it
what it must know at the start, and never the document: that is read fresh, so that no page out of a cache shows old text.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from console import harness_head
from console.forms.editor import DraftStartForm
from console.views.shared import SignedInRequest, page, paginate
from harnesses import policy, selectors, services
from harnesses.core.membership import HarnessAction, roles_allowing
from ledger.errors import Invalid

DOUBLE_CLICK = dt.timedelta(seconds=10)
"""A new draft asked for twice within this time by one person, on one version, is one draft."""
_OPEN, _COMMITTED, _DISCARDED = "open", "committed", "discarded"


@require_GET
@page()
def draft_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """The open drafts of a harness; with `?state=closed`, those committed or discarded."""
    harness = policy.harness_for(request.user, slug)
    is_closed = request.GET.get("state") == "closed"
    drafts = selectors.draft_list(harness)
    chosen = drafts.filter(state__in=(_COMMITTED, _DISCARDED)) if is_closed else drafts.filter(state=_OPEN)
    context = {
        **harness_head.head(request.user, harness, tab="drafts"),
        "page": paginate(request, chosen),
        "is_closed": is_closed,
        "open_count": drafts.filter(state=_OPEN).count(),
        "closed_count": drafts.filter(state__in=(_COMMITTED, _DISCARDED)).count(),
        "can_edit": not _reason_not_to_edit(request, harness),
    }
    return render(request, "console/editor/list.html", context)


@require_POST
@page()
def draft_start(request: SignedInRequest, slug: str) -> HttpResponse:
    """Go on with an open draft of one's own, or make one; where only others' are open, ask which it shall be."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    form = DraftStartForm(request.POST)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        raise Invalid.field(field, str(errors[0]), "Go back and choose again.")
    number, is_new = form.cleaned_data["from_version"], form.cleaned_data["new"]
    is_plain = number is None and not is_new
    drafts = selectors.draft_list(harness, state=_OPEN)
    mine = drafts.filter(Q(updated_by=request.user) | Q(created_by=request.user))
    known = mine.first() if is_plain else _asked_for_twice(mine, number)
    if known is None and is_plain and drafts.exists():
        head = harness_head.head(request.user, harness, tab="drafts")
        context = {**head, "page": paginate(request, drafts), "can_edit": True}
        return render(request, "console/editor/choose.html", context)
    draft = known or services.draft_open(
        harness=harness,
        from_version=selectors.version_get(slug, number) if number is not None else None,
        name=form.cleaned_data["name"],
        acting_user=request.user,
    )
    return redirect("console:draft_edit", slug, draft.pk)


def _asked_for_twice(mine: QuerySet[Any], number: int | None) -> Any:
    recent = mine.filter(created_at__gte=timezone.now() - DOUBLE_CLICK, revision=1)
    return (recent if number is None else recent.filter(base_version__number=number)).first()


@require_GET
@cache_control(no_store=True)
@page()
def draft_edit(request: SignedInRequest, slug: str, draft_id: int) -> HttpResponse:
    """The editor of a draft; where it cannot be edited (closed, archived, no right), the same page to read, with the reason."""
    harness = policy.harness_for(request.user, slug)
    draft = selectors.draft_get(harness, draft_id)
    context = {"harness": harness, "draft": draft, "editor": _editor_data(request, draft), "area": "harnesses"}
    return render(request, "console/editor/edit.html", context)


@require_POST
@page()
def draft_discard(request: SignedInRequest, slug: str, draft_id: int) -> HttpResponse:
    """Put a draft away. Its content is kept: it can be reopened."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    draft = services.draft_discard(draft=selectors.draft_get(harness, draft_id), acting_user=request.user)
    messages.success(request, f"“{draft.name}” is discarded. It is kept under “Closed”, where it can be reopened.")
    return redirect("console:draft_list", slug)


@require_POST
@page()
def draft_reopen(request: SignedInRequest, slug: str, draft_id: int) -> HttpResponse:
    """Take a discarded draft up again."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    draft = services.draft_reopen(draft=selectors.draft_get(harness, draft_id), acting_user=request.user)
    messages.success(request, f"“{draft.name}” is open again.")
    return redirect("console:draft_edit", slug, draft.pk)


def _editor_data(request: SignedInRequest, draft: Any) -> dict[str, Any]:
    """What the editor's scripts know from the start."""
    harness, slug = draft.harness, draft.harness.slug
    reason = _reason_not_to_edit(request, harness) or _reason_closed(draft)
    api = f"/api/v1/harnesses/{slug}"
    return {
        "slug": slug,
        "title": harness.title,
        "world": harness.world,
        "draftId": draft.pk,
        "draftName": draft.name,
        "baseNumber": draft.base_version.number if draft.base_version else None,
        "newestNumber": harness.version_count or None,
        "minApprovals": harness.min_approvals,
        "canEdit": not reason,
        "reason": reason,
        "canPlay": policy.may(request.user, HarnessAction.PLAY, harness),
        "username": request.user.username,
        "api": {"base": f"{api}/drafts/{draft.pk}", "harness": api, "root": "/api/v1"},
        "urls": {
            "harness": reverse("console:harness_detail", args=[slug]),
            "drafts": reverse("console:draft_list", args=[slug]),
            "login": f"{reverse('console:login')}?next={reverse('console:draft_list', args=[slug])}",
            "playground": f"{reverse('console:playground')}?harness={slug}&draft={draft.pk}",
            "compare": f"{reverse('console:harness_compare', args=[slug])}?draft={draft.pk}",
            "version": reverse("console:version_components", args=[slug, 0]),
            "review": f"{reverse('console:review_request', args=[slug])}?version=0",
            "language": reverse("console:editor_language"),
            "markdown": reverse("console:markdown_preview"),
        },
    }


def _reason_not_to_edit(request: SignedInRequest, harness: Any) -> str:
    """Why this person cannot edit this harness; empty where they can."""
    if harness.is_archived:
        return "This harness is archived. Take it back into use to edit it."
    if not policy.may(request.user, HarnessAction.EDIT, harness):
        roles = ", ".join(roles_allowing(HarnessAction.EDIT))
        return f"You may look at this harness, not edit it. To edit it takes one of these roles: {roles}."
    return ""


def _reason_closed(draft: Any) -> str:
    if draft.state == _COMMITTED and draft.committed_version:
        return f"This draft was committed as version {draft.committed_version.number}. Start a new draft to go on."
    if draft.state == _DISCARDED:
        return f"This draft was discarded by {draft.updated_by_name}. Reopen it in the list of drafts to go on."
    return ""
