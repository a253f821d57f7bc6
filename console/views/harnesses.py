"""Harnesses and their versions: list, create, components, rendered prompt, findings, export."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import F, FilteredRelation, Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from console import harness_head, harness_list_pages, harness_pages, history_pages
from console.forms.harnesses import HarnessFilterForm, HarnessForm
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy, selectors, services
from ledger.core.roles import Permission
from ledger.errors import Conflict, TackroomError


@require_GET
@page()
def harness_list(request: SignedInRequest) -> HttpResponse:
    """The harnesses in use that the person may see, with what changed last in each, and what waits for the person.

    `?search=` finds some; `?archived=1` shows those put away too.
    """
    form = HarnessFilterForm(request.GET)
    search = form.cleaned_data["search"] if form.is_valid() else ""
    with_archived = request.GET.get("archived") == "1"
    newest = FilteredRelation("versions", condition=Q(versions__number=F("version_count")))
    harnesses = (
        policy.visible_harnesses(request.user, selectors.harness_list(search=search, with_archived=with_archived))
        .alias(newest=newest)
        .annotate(
            message=F("newest__message"), author_name=F("newest__author_name"), changed_at=F("newest__created_at")
        )
    )
    shown = paginate(request, harnesses)
    context = {
        "page": shown,
        "rows": harness_list_pages.rows(shown.object_list),
        "mine": harness_list_pages.my_work(request.user),
        "form": form,
        "search": search,
        "with_archived": with_archived,
        "can_change": request.user.has_perm(Permission.CHANGE_HARNESS),
        "area": "harnesses",
    }
    return render(request, "console/harnesses/list.html", context)


@require_http_methods(["GET", "POST"])
@page(Permission.CHANGE_HARNESS)
def harness_create(request: SignedInRequest) -> HttpResponse:
    """Make an empty harness; its content comes with the first import."""
    form = HarnessForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            harness = services.harness_create(acting_user=request.user, **form.cleaned_data)
        except Conflict as error:
            form.add_error("slug", error.detail)
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            messages.success(request, f"“{harness.title}” is made. Import its first version.")
            return redirect("console:harness_import", harness.slug)
    context = {"form": form, "area": "harnesses"}
    return render(request, "console/harnesses/create.html", context, status=422 if form.errors else 200)


@require_GET
@page()
def harness_detail(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The newest version of a harness, or what to do where there is none."""
    harness = policy.harness_for(request.user, slug)
    if harness.version_count == 0:
        return render(request, "console/harnesses/empty.html", head(request, harness))
    return version_components(request, slug, harness.version_count)


@require_GET
@page()
def version_components(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """What a version is made of."""
    version = selectors.version_get(policy.harness_for(request.user, slug), number)
    components = harness_pages.components(selectors.version_spec(version))
    context = {**head(request, version.harness, version, tab="components"), **components}
    context["blames"] = history_pages.blames(version)
    return render(request, "console/harnesses/components.html", context)


@require_GET
@page()
def version_prompt(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """The system prompt as the model reads it, with tokens part by part."""
    version = selectors.version_get(policy.harness_for(request.user, slug), number)
    prompt, problem = harness_pages.rendered(version)
    context = {**head(request, version.harness, version, tab="prompt"), "prompt": prompt, "problem": problem}
    return render(request, "console/harnesses/prompt.html", context)


@require_GET
@page()
def version_findings(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """What validation finds in a version now."""
    version = selectors.version_get(policy.harness_for(request.user, slug), number)
    findings = harness_pages.finding_rows(selectors.version_findings(version))
    context = {**head(request, version.harness, version, tab="findings"), "findings": findings}
    return render(request, "console/harnesses/findings.html", context)


@require_GET
@page()
def version_export(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """A version as a zip of the folder layout."""
    version = selectors.version_get(policy.harness_for(request.user, slug), number)
    filename, content = selectors.version_export(version)
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type="application/zip", headers=headers)


def head(request: SignedInRequest, harness: Any, version: Any = None, *, tab: str = "") -> dict[str, Any]:
    """What the top of every page about a harness shows; see `console.harness_head`."""
    return harness_head.head(request.user, harness, version, tab=tab)
