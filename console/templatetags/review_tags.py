"""What the pages of reviews share: badges of states, and comments with the versions they mention as links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from console import review_pages
from console.forms import reviews
from console.forms.reviews import CommentForm
from console.presenters import Badge
from console.review_diffs import Place

register = template.Library()


@register.filter
def review_badge(state: str) -> Badge:
    """The badge of a review's state."""
    return review_pages.state_badge(state)


@register.filter
def verdict_badge(verdict: str) -> Badge:
    """The badge of a verdict."""
    return review_pages.verdict_badge(verdict)


@register.filter
def component_badge(state: str) -> Badge:
    """The badge of what became of a component."""
    return review_pages.component_badge(state)


@register.filter
def approvals(given: int, needed: int) -> str:
    """How far a review is: `1 of 2 approvals`, or `3 approvals, 2 needed` where there are more than it takes."""
    if given > needed:
        return f"{given} approvals, {needed} needed"
    return f"{given} of {needed} approval{'' if needed == 1 else 's'}"


@register.simple_tag
def reply_form(thread: Any, sent: Mapping[int, CommentForm]) -> CommentForm:
    """The form for saying something in a thread: the one that was sent and came back, or a fresh one."""
    return sent.get(thread.pk) or reviews.reply_form(thread.pk)


@register.simple_tag
def compose_address(review: Any, place: Place, field: str = "", line: int | None = None) -> str:
    """Where a comment on a component, or on a line of a field of it, is written."""
    given = {"component_kind": place.kind, "component_id": place.component_id, "field": field, "line": line}
    chosen = urlencode({name: value for name, value in given.items() if value})
    return f"{reverse('console:thread_compose', args=[review.pk])}?{chosen}"


@register.simple_tag
def said(text: str, harness: Any) -> SafeString:
    """What somebody wrote: as typed, with the versions of the harness that it mentions as links."""
    return format_html_join("", "{}", ((_piece(harness, *item),) for item in _pieces(text, harness)))


def _pieces(text: str, harness: Any) -> list[tuple[str, int | None]]:
    return review_pages.linked_pieces(text, harness.version_count)


def _piece(harness: Any, text: str, number: int | None) -> SafeString | str:
    if number is None:
        return text
    return format_html('<a href="{}">{}</a>', reverse("console:version_components", args=[harness.slug, number]), text)
