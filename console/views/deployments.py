"""What is served: deployments, their state, and their checkpoints."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console import presenters
from console.views.shared import SignedInRequest, page
from inference import selectors
from ledger.core.roles import Permission


@require_GET
@page(Permission.VIEW_HARNESS)
def deployment_list(request: SignedInRequest) -> HttpResponse:
    """All deployments; the table alone for htmx, which asks again every few seconds."""
    rows = [(item, presenters.deployment_badge(item.state)) for item in selectors.deployment_list()]
    context = {"deployments": rows, "checkpoints": selectors.checkpoint_list(), "area": "deployments"}
    template = "console/deployments/_deployments.html" if request.htmx else "console/deployments/list.html"
    return render(request, template, context)
