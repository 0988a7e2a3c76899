"""Simple text formatting (a few Markdown marks), rendered as safe HTML.

    # Heading   **strong**   *emphasis*   - list   1. list   > quote   [words](https://...)

Other Markdown has no effect, and HTML is shown as plain characters. A second library, which knows
nothing of Markdown, sanitizes the result, so that a flaw in one of the two does no harm.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

    from annotations.models import Passage

LONGEST_FORMATTED = 50_000
"""Most characters; a longer text is shown without formatting, and the editor says so."""

MARKS = ("heading", "list", "blockquote", "emphasis", "link", "newline", "escape", "entity")
BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6")
TAGS = {*BLOCKS, "ul", "ol", "blockquote", "strong", "em", "a", "br"}
SCHEMES = {"http", "https", "mailto"}


# Pages render the same guidelines and passages for every worker.
@lru_cache(maxsize=256)
def format_text(text: str, top: int = 2) -> SafeString:
    """Return a text with simple formatting as HTML; a too long text stays unformatted.

    `top` is the level of its highest heading, one below the page's heading above it. No heading is
    more than one level below the one before, as screen readers expect.
    """
    if len(text) > LONGEST_FORMATTED:
        return format_plain_text(text)
    tokens = _create_parser().parse(text)
    _level_headings(tokens, top)
    html = _create_parser().renderer.render(tokens, _create_parser().options, {})
    return mark_safe(_clean_html(html))  # noqa: S308


def format_plain_text(text: str) -> SafeString:
    """Return a plain text as escaped HTML that keeps line breaks and spaces."""
    return (
        format_html('<div class="plain-text" dir="auto">{}</div>', text) if text else mark_safe("")
    )


def format_passage(passage: Passage, top: int = 3) -> SafeString:
    """Return a passage's text as HTML; headings begin at level `top`."""
    if passage.format == passage.Format.SIMPLE:
        return format_text(passage.text, top)
    return format_plain_text(passage.text)


@cache
def _create_parser() -> MarkdownIt:
    """Return the Markdown parser that knows only the permitted marks."""
    # "zero" enables no syntax, so that only what is listed below has an effect.
    parser = MarkdownIt("zero", {"html": False, "breaks": True, "maxNesting": 20})
    # A link with another scheme stays plain text.
    parser.validateLink = _is_external_link  # type: ignore[method-assign,assignment]
    return parser.enable([*MARKS, "balance_pairs", "fragments_join"])


def _is_external_link(address: str) -> bool:
    """Return whether a link may be shown: only http, https and mailto."""
    return address.lower().startswith(("http://", "https://", "mailto:"))


def _level_headings(tokens: Iterable[Token], top: int) -> None:
    """Change the heading levels so that they begin at `top` and skip none."""
    level = top - 1
    for token in tokens:
        if token.type == "heading_open":
            # HTML has no heading below h6.
            level = min(top + int(token.tag[1]) - 1, level + 1, 6)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def _clean_html(html: str) -> str:
    """Return the HTML with only the permitted elements and attributes."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={
            **{tag: {"dir": "auto"} for tag in BLOCKS},
            "a": {"target": "_blank"},
        },
    )
