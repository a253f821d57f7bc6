"""What the pages about history share: who last changed a component."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context

from console.history_pages import Blames

register = template.Library()


@register.inclusion_tag("console/harnesses/_blame.html", takes_context=True)
def last_changed(context: Context, kind: str, component_id: str) -> dict[str, Any]:
    """ "Last changed in v7 by Li", with the way to that change; nothing where the page knows no history (an import's preview)."""
    blames: Blames = context.get("blames") or {}
    maker = blames.get((kind, component_id))
    if maker is None:
        return {"maker": None}
    return {"maker": maker, "harness": context["harness"], "before": maker.number - 1, "kind": kind, "id": component_id}
