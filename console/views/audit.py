"""Who did what, and when."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console.forms.audit import AuditFilterForm
from console.views.shared import SignedInRequest, page, paginate
from ledger import selectors
from ledger.core.roles import Permission


@require_GET
@page(Permission.VIEW_AUDIT)
def audit_list(request: SignedInRequest) -> HttpResponse:
    """Audit entries, newest first, filtered by area and text."""
    form = AuditFilterForm(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    entries = selectors.audit_list(action_prefix=chosen.get("area") or None, search=chosen.get("search", ""))
    context = {
        "form": form,
        "page": paginate(request, entries),
        "is_filtered": any(chosen.values()),
        "area": "audit",
    }
    template = "console/audit/_entries.html" if request.htmx else "console/audit/list.html"
    return render(request, template, context)
