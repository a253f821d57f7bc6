"""What pages about a harness say of its releases: that they are frozen now."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils import timezone

from harnesses import selectors

register = template.Library()


@register.inclusion_tag("console/labels/_freeze_banner.html")
def freeze_banner(harness: Any) -> dict[str, Any]:
    """A banner while the releases of a harness are frozen; nothing else."""
    return {"freeze": selectors.freeze_at(harness, timezone.now()), "harness": harness}


@register.inclusion_tag("console/labels/_moment_field.html")
def moment_field(form: Any, name: str) -> dict[str, Any]:
    """A time of the viewer's own clock, with the same moment in UTC beside it."""
    return {"bound": form[name], "offset": form[f"{name}_offset"], "is_optional": not form[name].field.required}
