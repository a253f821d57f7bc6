"""Two versions of a harness: what changed for the model first, the text second, the document last."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console import harness_pages
from console.forms.harnesses import CompareForm
from console.views.harnesses import head
from console.views.shared import SignedInRequest, page
from harnesses import policy, selectors

MAX_CHOICES = 300


@require_GET
@page()
def harness_compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """Compare `?old=` with `?new=`; without them, the newest version with the one before it."""
    harness = policy.harness_for(request.user, slug)
    if harness.version_count == 0:
        return render(request, "console/harnesses/empty.html", head(request, harness))
    form = CompareForm(_chosen(request, harness.version_count), versions=_choices(harness))
    context: dict[str, Any] = {**head(request, harness, tab="compare"), "form": form}
    if form.is_valid():
        comparison = selectors.version_compare(slug, form.cleaned_data["old"], form.cleaned_data["new"])
        context.update(harness_pages.comparison(comparison), version=comparison.new)
    return render(request, "console/harnesses/compare.html", context, status=200 if form.is_valid() else 422)


def _chosen(request: SignedInRequest, newest: int) -> dict[str, str]:
    new = request.GET.get("new") or str(newest)
    before = int(new) - 1 if new.isascii() and new.isdigit() and len(new) < 10 else newest - 1
    return {"new": new, "old": request.GET.get("old") or str(max(1, before))}


def _choices(harness: Any) -> list[tuple[int, str]]:
    rows = selectors.version_list(harness).values_list("number", "message")[:MAX_CHOICES]
    return [(number, f"v{number}: {message[:60]}" if message else f"v{number}") for number, message in rows]
