"""The members of a harness, and its settings: what is said of it, who may see it, how many approve, putting it away."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from console.forms.people import ROLE_CHOICES, HarnessSettingsForm, MemberForm, ReasonForm
from console.harness_head import head
from console.people_pages import access_rows, member_rows
from console.views.shared import SignedInRequest, page, put_errors_on
from harnesses import policy, selectors, services
from harnesses.core.membership import HarnessAction
from ledger import selectors as ledger_selectors
from ledger.errors import NotFound, TackroomError

MAX_CANDIDATES = 500


@require_http_methods(["GET", "POST"])
@page()
def member_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """Who works on a harness and in which role; a POST adds somebody."""
    harness = policy.harness_for(request.user, slug)
    form = MemberForm(request.POST if request.method == "POST" else None, initial={"kind": "user", "role": "operator"})
    if request.method == "POST":
        policy.require(request.user, HarnessAction.MANAGE, harness)
        if form.is_valid():
            try:
                services.member_set(harness=harness, acting_user=request.user, **form.cleaned_data)
            except NotFound as error:
                form.add_error("name", error.detail)
            except TackroomError as error:
                put_errors_on(form, error)
            else:
                messages.success(request, f"{form.cleaned_data['name']} is a member now.")
                return redirect("console:member_list", slug)
    context = {
        **head(request.user, harness, tab="members"),
        "form": form,
        "members": member_rows(selectors.member_list(harness)),
        "roles": ROLE_CHOICES,
        "access_rows": access_rows(),
        "people": ledger_selectors.people_list()[:MAX_CANDIDATES],
        "teams": ledger_selectors.team_list()[:MAX_CANDIDATES],
    }
    return render(request, "console/harnesses/members.html", context, status=422 if form.errors else 200)


@require_POST
@page()
def member_change(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give a member another role."""
    harness = policy.harness_for(request.user, slug, HarnessAction.MANAGE)
    kind, name, role = (request.POST.get(field, "") for field in ("kind", "name", "role"))
    try:
        services.member_set(harness=harness, kind=kind, name=name, role=role, acting_user=request.user)
    except TackroomError as error:
        messages.error(request, error.detail)
    else:
        messages.success(request, f"{name} has another role now.")
    return redirect("console:member_list", slug)


@require_POST
@page()
def member_remove(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a member out. Who thereby may not see the harness any more is led to the list."""
    harness = policy.harness_for(request.user, slug, HarnessAction.MANAGE)
    kind, name = request.POST.get("kind", ""), request.POST.get("name", "")
    try:
        services.member_remove(harness=harness, kind=kind, name=name, acting_user=request.user)
    except TackroomError as error:
        messages.error(request, error.detail)
    else:
        messages.success(request, f"{name} is no member of “{harness.title}” any more.")
    if not policy.may(request.user, HarnessAction.VIEW, harness):
        return redirect("console:harness_list")
    return redirect("console:member_list", slug)


@require_http_methods(["GET", "POST"])
@page()
def harness_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """What is said of a harness, who may see it, how many approve."""
    harness = policy.harness_for(request.user, slug)
    form = HarnessSettingsForm(request.POST) if request.method == "POST" else HarnessSettingsForm.of(harness)
    if request.method == "POST":
        policy.require(request.user, HarnessAction.MANAGE, harness)
        if form.is_valid():
            try:
                services.harness_update(harness=harness, acting_user=request.user, **form.cleaned_data)
            except TackroomError as error:
                put_errors_on(form, error)
            else:
                messages.success(request, "The settings are saved.")
                return redirect("console:harness_settings", slug)
    context = {**_settings_context(request, harness), "form": form}
    return render(request, "console/harnesses/settings.html", context, status=422 if form.errors else 200)


@require_POST
@page()
def harness_archive(request: SignedInRequest, slug: str) -> HttpResponse:
    """Put a harness away."""
    return _put(
        request, slug, services.harness_archive, "“{title}” is archived. It stays readable, and takes no commits."
    )


@require_POST
@page()
def harness_unarchive(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a harness back into use."""
    return _put(request, slug, services.harness_unarchive, "“{title}” is in use again.")


def _put(request: SignedInRequest, slug: str, service: Any, done: str) -> HttpResponse:
    harness = policy.harness_for(request.user, slug, HarnessAction.MANAGE)
    reason_form = ReasonForm(request.POST)
    if reason_form.is_valid():
        try:
            service(harness=harness, acting_user=request.user, reason=reason_form.cleaned_data["reason"])
        except TackroomError as error:
            put_errors_on(reason_form, error)
        else:
            messages.success(request, done.format(title=harness.title))
            return redirect("console:harness_settings", slug)
    context = {**_settings_context(request, harness, reason_form), "form": HarnessSettingsForm.of(harness)}
    return render(request, "console/harnesses/settings.html", context, status=422)


def _settings_context(request: SignedInRequest, harness: Any, reason_form: ReasonForm | None = None) -> dict[str, Any]:
    return {**head(request.user, harness, tab="settings"), "reason_form": reason_form or ReasonForm()}
