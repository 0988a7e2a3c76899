"""Simple formatting: what people write with a few marks, as HTML that can do no harm.

    # Heading   **strong**   *emphasis*   - list   1. list   > quote   [words](https://...)

Nothing else of Markdown has a meaning, and HTML is shown as the characters it is. What comes out
is cleaned once more by a library that knows nothing of Markdown, so that one mistake in either of
the two lets nothing through.
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
"""Characters; a longer text is shown without formatting, and the editor says so."""

MARKS = ("heading", "list", "blockquote", "emphasis", "link", "newline", "escape", "entity")
BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6")
TAGS = {*BLOCKS, "ul", "ol", "blockquote", "strong", "em", "a", "br"}
SCHEMES = {"http", "https", "mailto"}


@lru_cache(maxsize=256)
def formatted(text: str, top: int = 2) -> SafeString:
    """Return a text with simple formatting as HTML; "" for an empty one.

    `top` is the level of the highest heading in it, one below the heading of the page it stands
    on. No heading is more than one level below the one before, as a screen reader expects.
    """
    if len(text) > LONGEST_FORMATTED:
        return plain(text)
    tokens = _parser().parse(text)
    _level_headings(tokens, top)
    html = _parser().renderer.render(tokens, _parser().options, {})
    return mark_safe(_cleaned(html))  # noqa: S308


def plain(text: str) -> SafeString:
    """Return a text as it is, escaped; its class keeps line breaks and spaces."""
    return (
        format_html('<div class="plain-text" dir="auto">{}</div>', text) if text else mark_safe("")
    )


def passage_text(passage: Passage, top: int = 3) -> SafeString:
    """Return the text of a passage as HTML, as its format says; `top` as in `formatted`."""
    if passage.format == passage.Format.SIMPLE:
        return formatted(passage.text, top)
    return plain(passage.text)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"html": False, "breaks": True, "maxNesting": 20})
    # A link that leads nowhere else, or is none, stays as it was written.
    parser.validateLink = _leads_elsewhere  # type: ignore[method-assign,assignment]
    return parser.enable([*MARKS, "balance_pairs", "fragments_join"])


def _leads_elsewhere(address: str) -> bool:
    return address.lower().startswith(("http://", "https://", "mailto:"))


def _level_headings(tokens: Iterable[Token], top: int) -> None:
    before = top - 1
    for token in tokens:
        if token.type == "heading_open":
            before = min(top + int(token.tag[1]) - 1, before + 1, 6)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{before}"


def _cleaned(html: str) -> str:
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
