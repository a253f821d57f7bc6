"""A turn of the playground, streamed: the page's script shows what happens while it happens."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from console import playground_pages as pages
from console.forms.playground import CommentForm
from inference import services
from inference.api.streaming import TurnListener, stream_turn
from ledger.errors import TackroomError


@require_POST
@login_required
async def session_stream(request: HttpRequest, session_id: UUID) -> HttpResponseBase:
    """Take one turn; server-sent events as in the REST API, the last one with the turn as a part of the page."""
    user = cast("AbstractUser", await request.auser())
    form = CommentForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"detail": " ".join(str(error) for error in form.errors["comment"])}, status=422)
    comment = form.cleaned_data["comment"]

    async def take(on_event: TurnListener) -> Any:
        return await services.turn_take(session_id=session_id, comment=comment, acting_user=user, on_event=on_event)

    try:
        return await stream_turn(take, _as_page_part)
    except TackroomError as error:
        return JsonResponse({"detail": error.detail}, status=error.status)


def _as_page_part(turn: Any) -> dict[str, str]:
    context = {"item": pages.turn_view(turn, is_open=True), "session": turn.session}
    return {"html": render_to_string("console/playground/_turn.html", context).strip()}
