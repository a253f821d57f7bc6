"""The history of a harness: its versions, going back to one, forking, merging another harness in."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from console import compare_sides, harness_head, harness_pages, history_pages, merge_pages
from console.forms.history import ForkForm, MergeForm, RevertForm
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy, selectors, services
from harnesses.core.membership import HarnessAction
from ledger.errors import Denied, NotFound, TackroomError

VERSIONS_SHOWN = 25
"""Versions on one page of a history: each is several lines with all that can be done with it."""


@require_GET
@page()
def version_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """All versions, newest first, with where each stands and what can be done with it."""
    harness = policy.harness_for(request.user, slug)
    versions = paginate(request, selectors.version_list(harness), size=VERSIONS_SHOWN)
    rows = history_pages.version_rows(harness, versions.object_list)
    newest = rows[0].version if rows else None
    context = {
        **harness_head.head(request.user, harness, newest, tab="versions", row=rows[0] if rows else None),
        "page": versions,
        "rows": rows,
        "relatives": history_pages.relatives(request.user, harness),
        "default_new": newest.number if newest else None,
        "default_old": max(1, newest.number - 1) if newest else None,
    }
    return render(request, "console/harnesses/versions.html", context)


@require_http_methods(["GET", "POST"])
@page()
def version_revert(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Make an earlier version the newest one again, after a look at what that changes."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    version = selectors.version_get(harness, number)
    form = RevertForm(request.POST or None, initial={"message": f"Revert to version {version.number}"})
    if request.method == "POST" and form.is_valid():
        try:
            result = services.version_revert(
                version=version,
                message=form.cleaned_data["message"],
                expected_number=form.cleaned_data["newest"],
                acting_user=request.user,
            )
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            done = f"Version {result.version.number} is what version {number} was."
            nothing = f"Version {number} already is the content of the newest version: nothing was changed."
            messages.success(request, done) if result.is_new else messages.info(request, nothing)
            return redirect("console:version_list", slug)
    return _revert_page(request, harness, number, form)


def _revert_page(request: SignedInRequest, harness: Any, number: int, form: RevertForm) -> HttpResponse:
    comparison = selectors.version_compare(harness.slug, harness.version_count, number)
    context = {
        **harness_head.head(request.user, harness, comparison.new, tab="versions"),
        "form": form,
        "newest": comparison.old,
        "report": harness_pages.risk_view(comparison.risk),
        "is_same": comparison.diff.is_empty,
    }
    return render(request, "console/harnesses/revert.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@page()
def version_fork(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Make a harness of its own that begins with a version."""
    harness = policy.harness_for(request.user, slug)
    policy.require_create(request.user)
    version = selectors.version_get(harness, number)
    initial = {"title": f"{harness.title}, fork"[:120], "slug": f"{slug[:59]}-fork", "description": harness.description}
    form = ForkForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            fork = services.harness_fork(version=version, acting_user=request.user, **form.cleaned_data)
        except TackroomError as error:
            if error.code == "slug_taken":
                form.add_error("slug", error.detail)
            else:
                put_errors_on(form, error)
        else:
            messages.success(request, f"“{fork.title}” is made. Its first version is version {number} of {slug}.")
            return redirect("console:harness_detail", fork.slug)
    context = {**harness_head.head(request.user, harness, version, tab="versions"), "form": form}
    return render(request, "console/harnesses/fork.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@page()
def harness_merge(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Take the changes of another harness over, into a draft: first what would come, and what both changed."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    offered = [(item.slug, f"{item.title} ({item.slug})") for item in compare_sides.relatives(request.user, harness)]
    asked = request.POST if request.method == "POST" else {"source": request.GET.get("source", "")}
    is_asked = bool(asked.get("source"))
    if is_asked and asked["source"] not in dict(offered):
        offered = [*offered, (asked["source"], asked["source"])] if offered else []
    form = MergeForm(asked if is_asked else None, offered=offered, initial={"newest": harness.version_count})
    context: dict[str, Any] = {**harness_head.head(request.user, harness, tab="versions"), "form": form}
    if not is_asked or not form.is_valid():
        return render(request, "console/harnesses/merge.html", context, status=422 if form.errors else 200)
    try:
        version = _source(request, harness, form.cleaned_data["source"])
        if request.method == "POST":
            return _merged(request, harness, version, form)
    except TackroomError as error:
        form.add_error("source" if isinstance(error, NotFound | Denied) else None, error.detail)
        if isinstance(error, NotFound | Denied):
            return render(request, "console/harnesses/merge.html", context, status=422)
    context["preview"] = merge_pages.preview(harness, version, asked)
    return render(request, "console/harnesses/merge.html", context, status=422 if form.errors else 200)


def _source(request: SignedInRequest, harness: Any, text: str) -> Any:
    """The version of another harness that a merge takes from. Raises NotFound."""
    ref = text if "@" in text else f"{text}@{compare_sides.NEWEST}"
    version = compare_sides.read_side(request.user, harness, ref).version
    if version is None or version.harness_id == harness.pk:
        raise NotFound("A harness is merged with another one. To go back to an earlier version, revert to it.")
    return version


def _merged(request: SignedInRequest, harness: Any, version: Any, form: MergeForm) -> HttpResponseBase:
    draft = merge_pages.merge(
        harness=harness,
        version=version,
        expected_number=form.cleaned_data["newest"] or 0,
        chosen=request.POST.dict(),
        acting_user=request.user,
    )
    messages.success(request, f"The changes of {version.harness.slug} are in this draft. Nothing is committed yet.")
    return redirect("console:draft_edit", harness.slug, draft.pk)
