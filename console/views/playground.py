"""The playground: talk to a harness version as a viewer, alone or beside a second version, and watch what happens."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.models import AbstractUser
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from console import playground_pages as pages
from console.forms.playground import CommentForm, StartForm
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy
from harnesses.core.membership import HarnessAction
from inference import selectors, services
from ledger.errors import Denied, NotFound, TackroomError

SESSIONS_SHOWN = 15


@require_http_methods(["GET", "POST"])
@page()
def playground(request: SignedInRequest) -> HttpResponse:
    """Choose what to talk to, or go on with an earlier session."""
    policy.require_somewhere(request.user, HarnessAction.PLAY)
    slug, draft_id = request.GET.get("harness", ""), request.GET.get("draft", "")
    drafts = pages.draft_choice(request.user, slug, draft_id)
    offered, is_cut = pages.version_choices(request.user, slug, request.GET.get("version", ""))
    versions, checkpoints = [*drafts, *offered], pages.checkpoint_choices()
    chosen = f"draft:{draft_id}" if drafts else request.GET.get("version", "")
    initial = {"version": f"{slug}@{chosen}"}
    form = StartForm(request.POST or None, versions=versions, checkpoints=checkpoints, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            return _start(request, form.cleaned_data)
        except TackroomError as error:
            put_errors_on(form, error)
    context = {
        "form": form,
        "has_versions": bool(versions),
        "is_cut": is_cut,
        "has_checkpoints": bool(checkpoints),
        "page": paginate(request, selectors.session_list(viewer=request.user), size=SESSIONS_SHOWN),
        "area": "playground",
    }
    return render(request, "console/playground/start.html", context, status=422 if form.errors else 200)


def _start(request: SignedInRequest, chosen: dict[str, Any]) -> HttpResponse:
    ids = []
    for value in filter(None, (chosen["version"], chosen["other"])):
        session = services.session_start(
            **pages.split_choice(value),
            checkpoint_name=chosen["checkpoint"],
            viewer=chosen["viewer"],
            seed=chosen["seed"],
            acting_user=request.user,
        )
        ids.append(session.pk)
    return redirect(_address(*ids))


@require_GET
@page()
def session_detail(request: SignedInRequest, session_id: UUID) -> HttpResponse:
    """A session, and with `?beside=` a second one, lane by lane."""
    return _show(request, session_id, CommentForm())


@require_POST
@page()
def session_say(request: SignedInRequest, session_id: UUID) -> HttpResponse:
    """Take a turn in each lane: the way without scripts. The page's script streams it instead."""
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show(request, session_id, form)
    ids = _lane_ids(request, session_id)
    try:
        async_to_sync(_take_all)(request.user, ids, form.cleaned_data["comment"])
    except (NotFound, Denied):
        raise
    except TackroomError as error:
        put_errors_on(form, error)
        return _show(request, session_id, form)
    return redirect(f"{_address(*ids)}#newest")


async def _take_all(user: AbstractUser, ids: list[UUID], comment: str) -> None:
    await asyncio.gather(*(services.turn_take(session_id=each, comment=comment, acting_user=user) for each in ids))


@require_GET
@page()
def turn_detail(request: SignedInRequest, session_id: UUID, number: int) -> HttpResponse:
    """The whole trace of one turn."""
    turn = selectors.turn_get(session_id, number, viewer=request.user)
    context = {"session": turn.session, "item": pages.turn_view(turn, is_open=True), "area": "playground"}
    return render(request, "console/playground/turn.html", context)


@require_GET
@page()
def engine_banner(request: SignedInRequest, session_id: UUID) -> HttpResponse:
    """The engine's state, asked for again and again by the page while it cannot answer."""
    session = selectors.session_get(session_id, viewer=request.user)
    context = {"banner": pages.engine_banner(session.deployment), "session": session, "is_update": True}
    return render(request, "console/playground/_banner.html", context)


def _show(request: SignedInRequest, session_id: UUID, form: CommentForm) -> HttpResponse:
    lanes = [pages.lane(request.user, lane_id) for lane_id in _lane_ids(request, session_id)]
    session = lanes[0].session
    context = {
        "form": form,
        "lanes": lanes,
        "session": session,
        "beside": lanes[1].session if len(lanes) > 1 else None,
        "room": pages.room_of(session),
        "is_closed": any(lane.session.closed_at for lane in lanes),
        "can_play": all(policy.may(request.user, HarnessAction.PLAY, lane.session.harness) for lane in lanes),
        "banner": pages.engine_banner(session.deployment),
        "area": "playground",
    }
    return render(request, "console/playground/session.html", context, status=422 if form.errors else 200)


def _lane_ids(request: SignedInRequest, session_id: UUID) -> list[UUID]:
    """The session of the address, and the one that `?beside=` names; what is no session id is passed over."""
    try:
        beside = UUID(request.GET.get("beside", ""))
    except ValueError:
        return [session_id]
    return [session_id] if beside == session_id else [session_id, beside]


def _address(session_id: UUID, beside: UUID | None = None) -> str:
    address = reverse("console:session_detail", args=[session_id])
    return f"{address}?beside={beside}" if beside else address
