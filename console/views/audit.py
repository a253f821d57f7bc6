"""Who did what, and when: the audit of everything, and the changelog of one harness."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console import audit_pages
from console.forms.audit import AuditFilterForm
from console.harness_head import head
from console.views.shared import SignedInRequest, page, paginate
from harnesses import policy
from harnesses import selectors as harness_selectors
from ledger import selectors
from ledger.audit_export import export_response
from ledger.core.roles import Permission
from ledger.errors import Invalid, NotFound

MAX_CANDIDATES = 500


@require_GET
@page(Permission.VIEW_AUDIT)
def audit_list(request: SignedInRequest) -> HttpResponse:
    """Audit entries, newest first, filtered."""
    form = AuditFilterForm(request.GET)
    entries = _filtered(request, form)
    shown = paginate(request, entries)
    context = {
        "form": form,
        "page": shown,
        "rows": audit_pages.entry_rows(shown.object_list),
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "area": "audit",
    }
    if request.htmx:
        return render(request, "console/audit/_results.html", context)
    context["people"] = selectors.people_list()[:MAX_CANDIDATES]
    visible = policy.visible_harnesses(request.user, harness_selectors.harness_list(with_archived=True))
    context["harnesses"] = visible[:MAX_CANDIDATES]
    return render(request, "console/audit/list.html", context, status=422 if form.errors else 200)


@require_GET
@page(Permission.VIEW_AUDIT)
def audit_export(request: SignedInRequest, file_format: str) -> HttpResponseBase:
    """What the audit page shows with the same filters, all of it, as a file."""
    form = AuditFilterForm(request.GET)
    entries = _filtered(request, form)
    if form.errors:
        raise Invalid("The filter cannot be read: go back and correct it, then export again.")
    return export_response(entries, file_format)


@require_GET
@page()
def harness_changelog(request: SignedInRequest, slug: str) -> HttpResponse:
    """Everything that was done to a harness and to what belongs to it."""
    harness = policy.harness_for(request.user, slug)
    entries = selectors.audit_list(viewer=request.user, within=("harness", harness.pk))
    shown = paginate(request, entries)
    context = {
        **head(request.user, harness, tab="changelog"),
        "page": shown,
        "rows": audit_pages.entry_rows(shown.object_list),
    }
    return render(request, "console/harnesses/changelog.html", context)


@require_GET
@page()
def harness_changelog_export(request: SignedInRequest, slug: str, file_format: str) -> HttpResponseBase:
    """The changelog of a harness as a file."""
    harness = policy.harness_for(request.user, slug)
    return export_response(selectors.audit_list(viewer=request.user, within=("harness", harness.pk)), file_format)


def _filtered(request: SignedInRequest, form: AuditFilterForm) -> Any:
    """The entries that a form asks for; all of them where it is not valid, so that a page shows the mistake beside them."""
    filters: dict[str, Any] = {}
    if form.is_valid():
        filters = form.filters()
        if slug := form.cleaned_data["harness"]:
            try:
                filters["within"] = ("harness", selectors.audit_object_id(request.user, "harness", slug))
            except NotFound as error:
                form.add_error("harness", error.detail)
                filters = {}
    return selectors.audit_list(viewer=request.user, **filters)
