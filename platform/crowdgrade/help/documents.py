"""Documents of the help: read from Markdown, rendered to HTML, searched by section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = Path(__file__).resolve().parents[2] / "docs"
CONTENTS = "index"
"""Slug of the contents page. Only documents that it links to are shown and searched."""

MOST_RESULTS = 30
EXCERPT_BEFORE, EXCERPT_LENGTH = 60, 200


@dataclass(frozen=True)
class Section:
    """Section of a document: a heading, and the text up to the next heading.

    Attributes
    ----------
    anchor : HTML id of the heading; "" before the first heading.
    level : level of the heading, 1 for the title of the document.
    text : text without markup, with tables and code; spaces are single.
    """

    title: str
    anchor: str
    level: int
    text: str


@dataclass(frozen=True)
class Document:
    """Document of the help: its title, HTML, and sections in order."""

    slug: str
    title: str
    html: SafeString
    sections: Sequence[Section]


@dataclass(frozen=True)
class SearchResult:
    """Section that contains all search terms, with an excerpt around the first of them."""

    document: Document
    section: Section
    excerpt: str


def find_documents_folder() -> Path | None:
    """Return the folder of the documents; None if the installation has none."""
    return FOLDER if (FOLDER / f"{CONTENTS}.md").is_file() else None


# Cached: the documents are files of the release and do not change while a process runs.
@cache
def load_document(slug: str) -> Document | None:
    """Return a document by its slug; None if the contents page does not list it."""
    folder = find_documents_folder()
    if folder is None or (slug != CONTENTS and slug not in list_document_slugs()):
        return None
    source = (folder / f"{slug}.md").read_text(encoding="utf-8")
    # Comments are marks for programs that write parts of the documents.
    tokens = _build_parser().parse(re.sub(r"<!--.*?-->", "", source, flags=re.DOTALL))
    _set_anchors(tokens)
    _rewrite_links(tokens)
    sections = list(_split_sections(tokens))
    html = _build_parser().renderer.render(_drop_title(tokens), _build_parser().options, {})
    # The documents are files of the project, and the parser escapes HTML in them.
    safe = mark_safe(_make_scrollable(html))  # noqa: S308
    return Document(slug, sections[0].title if sections else slug, safe, sections)


@cache
def list_document_slugs() -> Sequence[str]:
    """Return the slugs of the documents in the contents page's order; [] without that page."""
    folder = find_documents_folder()
    if folder is None:
        return ()
    contents = (folder / f"{CONTENTS}.md").read_text(encoding="utf-8")
    return tuple(re.findall(r"\]\(([\w-]+)\.md\)", contents))


def find_picture(name: str) -> Path | None:
    """Return the path of an image that documents show; None for an unknown name."""
    folder = find_documents_folder()
    known = {} if folder is None else {path.name: path for path in folder.glob("screenshots/*.png")}
    return known.get(name)


def search_sections(query: str) -> list[SearchResult]:
    """Return the sections of all documents that contain every word of a query, up to a limit.

    Words match at the beginning of words, without regard to case. Sections whose title contains
    more of the words come first, then those of documents that the contents page names earlier.
    """
    words = query.split()
    patterns = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words]
    ranked: list[tuple[int, int, SearchResult]] = []
    if not patterns:
        return []
    documents = [document for slug in list_document_slugs() if (document := load_document(slug))]
    for document in documents:
        for section in document.sections:
            whole = f"{section.title} {section.text}"
            if all(pattern.search(whole) for pattern in patterns):
                in_title = sum(bool(pattern.search(section.title)) for pattern in patterns)
                result = SearchResult(document, section, _cut_excerpt(section.text, patterns))
                ranked.append((-in_title, len(ranked), result))
    # Without the result in the key: it has no order of its own.
    return [result for _, _, result in sorted(ranked, key=lambda row: row[:2])[:MOST_RESULTS]]


def make_anchor(heading: str, used: set[str]) -> str:
    """Return the HTML id of a heading, as GitHub forms it, and add it to `used`.

    Lower case, without punctuation, a hyphen for each space; a repeated one ends in -1, -2, ...
    """
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    candidates = (f"{plain}-{number}" if number else plain for number in count())
    anchor = next(name for name in candidates if name not in used)
    used.add(anchor)
    return anchor


def _cut_excerpt(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Return the part of a section's text around the first matching word, cut at spaces."""
    positions = [match.start() for pattern in patterns if (match := pattern.search(text))]
    begin = max(0, min(positions, default=0) - EXCERPT_BEFORE)
    end = begin + EXCERPT_LENGTH
    cut = text[begin:end]
    if begin:
        cut = f"… {cut.partition(' ')[2]}"
    if end < len(text):
        cut = f"{cut.rpartition(' ')[0]} …"
    return cut


@cache
def _build_parser() -> MarkdownIt:
    """Return the Markdown parser: CommonMark with tables, without HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _set_anchors(tokens: Sequence[Token]) -> None:
    """Set each heading's HTML id, so that links with a fragment work."""
    used: set[str] = set()
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", make_anchor(_read_inline_text(inline), used))


def _drop_title(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without a level-1 heading at the start."""
    has_title = bool(tokens) and tokens[0].type == "heading_open" and tokens[0].tag == "h1"
    return tokens[3:] if has_title else tokens


def _make_scrollable(html: str) -> str:
    """Return the HTML with wide tables and code in boxes that scroll by keyboard."""
    numbers = count(1)

    def open_box(_: re.Match[str]) -> str:
        """Return the HTML that opens the box of the next table."""
        # Each region needs a name of its own for screen readers.
        name = f"Table {next(numbers)}"
        return (
            f'<div class="cg-table-wrap" tabindex="0" role="region" aria-label="{name}">'
            '<table class="cg-table">'
        )

    html = re.sub("<table>", open_box, html).replace("</table>", "</table></div>")
    return html.replace("<pre>", '<pre tabindex="0">')


def _rewrite_links(tokens: Sequence[Token]) -> None:
    """Change links to other documents and images to their URLs in the site.

    A link to another file of the repository, which the site does not serve, stays as text only.
    """
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                name = str(child.attrGet("src")).rpartition("/")[2]
                child.attrSet("src", reverse("admin:help-picture", args=[name]))
            elif child.type == "link_open":
                address = _find_site_url(str(child.attrGet("href")))
                if address is None:
                    child.attrs.pop("href")
                else:
                    child.attrSet("href", address)


def _find_site_url(link: str) -> str | None:
    """Return the site's URL for a link in a document; None if the site does not serve it."""
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return link
    name = parts.path.removesuffix(".md")
    if name == parts.path or (name not in list_document_slugs() and name != CONTENTS):
        return None
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return reverse("admin:help-document", args=[name]) + fragment


def _split_sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """Yield a section for each heading, with the text up to the next heading."""
    title, anchor, level = "", "", 1
    texts: list[str] = []
    heading: Token | None = None
    for token in tokens:
        if token.type == "heading_open":
            if title:
                yield Section(title, anchor, level, _join_texts(texts))
            heading, texts = token, []
        elif token.type == "inline" and heading is not None:
            title, anchor = _read_inline_text(token), str(heading.attrGet("id"))
            level, heading = int(heading.tag[1]), None
        elif token.type == "inline":
            texts.append(_read_inline_text(token))
        elif token.type in ("fence", "code_block"):
            texts.append(token.content)
    if title:
        yield Section(title, anchor, level, _join_texts(texts))


def _read_inline_text(inline: Token) -> str:
    """Return the text of a Markdown line without its markup."""
    # A line break is a token of its own: as a space it keeps the words around it apart.
    kinds = ("text", "code_inline")
    parts = (child.content if child.type in kinds else " " for child in inline.children or ())
    return " ".join("".join(parts).split())


def _join_texts(texts: Sequence[str]) -> str:
    """Return the texts joined, with single spaces."""
    return " ".join(" ".join(texts).split())
