"""Calling planned releases off, and freeze windows."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from console import label_pages
from console.forms.labels import FreezeForm
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy, selectors, services
from harnesses.core.membership import HarnessAction
from ledger.errors import Conflict, Denied, TackroomError


@require_POST
@page()
def release_cancel(request: SignedInRequest, slug: str, release_id: int) -> HttpResponse:
    """Call a planned release off."""
    release = selectors.release_get(policy.harness_for(request.user, slug), release_id)
    try:
        services.release_cancel(release=release, acting_user=request.user)
    except Conflict as error:
        messages.error(request, error.detail)
    else:
        messages.success(request, f"The release of “{release.label_name}” is cancelled.")
    return redirect("console:harness_labels", slug)


@require_http_methods(["GET", "POST"])
@page()
def freeze_list(request: SignedInRequest, slug: str | None = None) -> HttpResponse:
    """The freeze windows of all harnesses, or those that concern one; a POST makes another."""
    harness = policy.harness_for(request.user, slug) if slug is not None else None
    form = FreezeForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        values = {**form.cleaned_data, "starts_at": form.cleaned_data["starts_at"] or timezone.now()}
        try:
            services.freeze_create(harness=harness, acting_user=request.user, **values)
        except Denied:
            raise
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            messages.success(request, "Releases are frozen for that time.")
            return redirect(request.path)
    return _show_freezes(request, harness, form)


def _show_freezes(request: SignedInRequest, harness: Any, form: FreezeForm | None) -> HttpResponse:
    can_all = services.may_freeze_all(request.user)
    can_own = harness is not None and policy.may(request.user, HarnessAction.MANAGE, harness)
    shown = paginate(request, selectors.freeze_list(harness))
    now = timezone.now()
    context = {
        "harness": harness,
        "page": shown,
        "rows": [
            label_pages.freeze_row(freeze, now, can_end=can_own if freeze.harness_id else can_all) for freeze in shown
        ],
        "can_freeze": can_all if harness is None else can_own,
        "form": form or FreezeForm(),
        "area": "harnesses",
    }
    return render(request, "console/labels/freezes.html", context, status=422 if form is not None else 200)


@require_POST
@page()
def freeze_cancel(request: SignedInRequest, freeze_id: int) -> HttpResponse:
    """End a freeze window of the harness that the form names, or of all."""
    slug = request.POST.get("harness", "")
    harness = policy.harness_for(request.user, slug) if slug else None
    freeze = selectors.freeze_concerning(harness, freeze_id)
    services.freeze_cancel(freeze=freeze, acting_user=request.user)
    messages.success(request, "The freeze is over.")
    return redirect("console:harness_freezes", slug) if slug else redirect("console:freeze_list")
