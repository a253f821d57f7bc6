"""The small things that every page shares: badge, time, field, empty state, navigation, measures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import template
from django.contrib.auth.models import AbstractUser
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect
from django.http import HttpRequest
from django.template.context import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console import presenters
from harnesses import policy
from harnesses.core.membership import HarnessAction
from ledger.core.roles import Permission

register = template.Library()

NAVIGATION: tuple[tuple[str, str, str, Permission | HarnessAction | None], ...] = (
    ("Harnesses", "console:harness_list", "harnesses", None),
    ("Reviews", "console:review_list", "reviews", None),
    ("Playground", "console:playground", "playground", HarnessAction.PLAY),
    ("Deployments", "console:deployment_list", "deployments", Permission.VIEW_HARNESS),
    ("Audit", "console:audit_list", "audit", Permission.VIEW_AUDIT),
)
"""Label, URL, area, and what it takes: a permission, an action that is allowed with some harness, or nothing (a page that shows
each person what is theirs)."""
API_DOCS_URL_NAME = "api-docs"
THEMES = ("light", "dark")

register.filter("milliseconds", presenters.milliseconds)
register.filter("size", presenters.size)
register.filter("json_text", presenters.json_text)


@register.simple_tag
def badge(item: presenters.Badge) -> SafeString:
    """A state in text and colour."""
    return format_html('<span class="badge badge--{}" title="{}">{}</span>', item.tone, item.hint, item.label)


@register.simple_tag
def moment(value: datetime | None, empty: str = "never") -> SafeString:
    """A point in time: UTC as sent, the viewer's zone once the page's script has run."""
    if value is None:
        return format_html('<span class="soft">{}</span>', empty)
    utc = value.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        utc.isoformat(timespec="seconds"),
        utc.strftime("%Y-%m-%d %H:%M:%S UTC"),
        utc.strftime("%-d %b %Y, %H:%M UTC"),
    )


@register.filter
def count(value: int | None) -> str:
    """A number with separators."""
    return "not told" if value is None else f"{value:,}"


@register.filter
def short_hash(value: str) -> str:
    """The first 10 digits of a content hash: enough to tell versions apart by eye."""
    return value[:10]


@register.filter
def plural(number: int, words: str) -> str:
    """`3|plural:"tool,tools"` → `3 tools`."""
    one, many = words.split(",")
    return f"{number:,} {one if number == 1 else many}"


@register.inclusion_tag("console/_field.html")
def field(bound: BoundField) -> dict[str, Any]:
    """A form field: label, help, control and errors, tied together for screen readers."""
    widget = bound.field.widget
    return {
        "bound": bound,
        "is_group": isinstance(widget, CheckboxSelectMultiple | RadioSelect),
        "is_check": type(widget) is CheckboxInput,
        "is_optional": not bound.field.required and not isinstance(widget, CheckboxInput),
    }


@register.inclusion_tag("console/_empty.html")
def empty(title: str, text: str, url: str = "", action: str = "") -> dict[str, str]:
    """What stands where there is nothing yet: why, and what to do."""
    return {"title": title, "text": text, "url": url, "action": action}


@register.inclusion_tag("console/_navigation.html", takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """The one navigation. What the person may not see is left out, so that no link is dead."""
    area, user = context.get("area", ""), context.get("user")
    entries = [
        {"label": label, "url": reverse(name), "is_here": key == area}
        for label, name, key, needed in NAVIGATION
        if user is not None and user.is_authenticated and _is_offered(user, needed)
    ]
    return {
        "entries": entries,
        "api_docs_url": reverse(API_DOCS_URL_NAME),
        "is_api_docs": "swagger_ui_css" in context,
        "user": user,
        "theme": theme_of(context.get("request")),
        "csrf_token": context.get("csrf_token"),
    }


def _is_offered(user: AbstractUser, needed: Permission | HarnessAction | None) -> bool:
    if needed is None:
        return True
    return policy.may_somewhere(user, needed) if isinstance(needed, HarnessAction) else user.has_perm(needed)


@register.simple_tag(takes_context=True)
def theme(context: Context) -> str:
    """The theme that the viewer chose, or nothing: then the system decides."""
    return theme_of(context.get("request"))


def theme_of(request: HttpRequest | None) -> str:
    choice = request.COOKIES.get("tackroom_theme", "") if request else ""
    return choice if choice in THEMES else ""


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """The query string of this page with some parameters set, or (None) dropped."""
    parameters = context["request"].GET.copy()
    for key, value in changes.items():
        if value is None:
            parameters.pop(key, None)
        else:
            parameters[key] = str(value)
    return f"?{parameters.urlencode()}" if parameters else "?"
