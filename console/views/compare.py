"""Two harnesses side by side: what changed for the model first, the prompt second, the texts of the components last."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console import compare_pages, harness_head
from console.compare_sides import NOTHING, Side
from console.forms.compare import CompareForm
from console.views.shared import SignedInRequest, page
from harnesses import policy, selectors
from ledger.errors import NotFound

LAYOUTS = ("side", "unified")
_KEPT_LAYOUT = "diff_layout"


@require_GET
@page()
def harness_compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """Compare `?old=` with `?new=`; without them, the newest version with the one before it, or a draft with its base."""
    harness = policy.harness_for(request.user, slug)
    data = _chosen(request, harness)
    if harness.version_count == 0 and not data["new"].startswith("draft:"):
        return render(request, "console/harnesses/empty.html", harness_head.head(request.user, harness))
    form = CompareForm(data, user=request.user, harness=harness)
    is_valid = form.is_valid()
    form.offer()
    new: Side | None = form.cleaned_data.get("new")
    version = new.version if new is not None and new.harness.pk == harness.pk else None
    context: dict[str, Any] = {
        **harness_head.head(request.user, harness, version, tab="compare"),
        "form": form,
        "layout": _layout(request),
    }
    if is_valid:
        context.update(compare_pages.comparison(form.cleaned_data["old"], form.cleaned_data["new"]))
    return render(request, "console/harnesses/compare.html", context, status=200 if is_valid else 422)


def _layout(request: SignedInRequest) -> str:
    """How texts are shown: as asked for now, or else as the last time."""
    asked = request.GET.get("layout")
    if asked in LAYOUTS and asked != request.session.get(_KEPT_LAYOUT):
        request.session[_KEPT_LAYOUT] = asked
    layout: str = request.session.get(_KEPT_LAYOUT, LAYOUTS[0])
    return layout


def _chosen(request: SignedInRequest, harness: Any) -> dict[str, str]:
    """Both references, completed by what is likely meant where one is left out."""
    asked = request.GET
    draft = asked.get("draft", "")
    new = asked.get("new") or asked.get("to") or (f"draft:{draft}" if draft else str(harness.version_count))
    return {"old": asked.get("old") or asked.get("from") or _before(harness, new), "new": new}


def _before(harness: Any, new: str) -> str:
    """What a side is compared with by default: the version before it, or what a draft started from."""
    newest = harness.version_count
    if new.startswith("draft:"):
        try:
            base = selectors.draft_get(harness, new.removeprefix("draft:")).base_version
        except NotFound:
            return str(newest or NOTHING)
        return str(base.number) if base else NOTHING
    if "@" in new:
        return str(newest)
    number = int(new) if new.isascii() and new.isdigit() and len(new) < 10 else newest
    return str(max(1, number - 1))
