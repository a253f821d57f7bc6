"""Markdown of Skills as HTML for the editor's preview: raw HTML is shown as text, and what comes out is cleaned once more."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

HEADING_SHIFT = 2
"""A skill's `#` becomes an `<h3>`: the preview stands below the headings of the page."""

_TAGS = {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


def markdown_html(text: str) -> str:
    """CommonMark with tables and strike-through as safe HTML: no scripts, no styles, no images, only web and mail links."""
    return nh3.clean(
        _parser().render(text), tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.core.ruler.push("shift_headings", _shift_headings)
    return parser


def _shift_headings(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + HEADING_SHIFT)}"
