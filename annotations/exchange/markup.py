"""Remove the HTML of rich-text fields from answers and wordings.

Only tags of formatted text count. An answer with any other tag, such as `<script>` or `<table>`, or
with a tag that is opened and never closed, is about HTML and is not changed.
"""

from __future__ import annotations

import html
import re
from argparse import ArgumentParser
from collections import Counter
from html.entities import html5

HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
BLOCKS = HEADINGS | {"p", "div", "li", "ul", "ol", "blockquote", "center"}
"""Tags that begin and end a line."""
TYPEFACES = frozenset({"b", "i", "u", "s", "em", "strong", "strike", "sub", "sup", "small", "big"})
INLINE = TYPEFACES | {"a", "del", "font", "ins", "mark", "span"}
BREAKS = frozenset({"br"})
"""Tags without a closing tag; each is a line break."""
FORMATTING = BLOCKS | INLINE | BREAKS
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[a-z][a-z0-9-]*)(?:\s[^<>]*|/)?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
LONGEST_EXAMPLE = 60


def strip_markup(text: str) -> str:
    """Return a text without formatting tags, its entities decoded; other tags are kept."""
    if "<" not in text and "&" not in text:
        return text
    lines = _decode_entities(_TAG.sub(_replace_tag, text)).split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def remove_formatting(text: str) -> str:
    """Return an answer of a rich-text field as plain text; any other answer unchanged.

    A block or `<br>` is a line of its own. Unchanged are answers with an unknown tag or an unclosed
    one, and those that consist of `<br>` alone.
    """
    if "<" not in text and "&" not in text:
        return text
    tags = list(_TAG.finditer(text))
    if not tags:
        return _decode_entities(text).strip() if _ENTITY.search(text) else text
    names = [tag["name"].lower() for tag in tags]
    if not FORMATTING.issuperset(names) or not _are_tags_closed(tags):
        return text
    if BREAKS.issuperset(names) and not _TAG.sub("", text).strip():
        return text
    return strip_markup(text)


def _are_tags_closed(tags: list[re.Match[str]]) -> bool:
    """Return whether each tag except `<br>` has as many closing as opening tags."""
    counts = Counter[str]()
    for tag in tags:
        name = tag["name"].lower()
        if name not in BREAKS:
            counts[name] += -1 if tag["closing"] else 1
    return not any(counts.values())


def _replace_tag(tag: re.Match[str]) -> str:
    """Return the replacement of a tag: a line break or "" for formatting, else the tag itself."""
    name = tag["name"].lower()
    if name not in FORMATTING:
        return tag[0]
    return "" if name in INLINE else "\n"


def _decode_entities(text: str) -> str:
    """Return a text with its known HTML entities decoded; a no-break space becomes a space."""
    return _ENTITY.sub(_decode_entity, text)


def _decode_entity(entity: re.Match[str]) -> str:
    """Return the character of a known HTML entity; an unknown one unchanged."""
    name = entity[0][1:]
    is_known = name.startswith("#") or name in html5
    return html.unescape(entity[0]).replace("\xa0", " ") if is_known else entity[0]


MISSING = ("NA", "nan", "NaN", "<NA>")
"""What R and pandas write for a missing value."""


class FormattingReader:
    """Reader of answers that removes their formatting and counts the answers with any.

    With `keeps` the answers stay as typed and are only counted. Answers that are only a word for a
    missing value, such as NA, stay and are counted too.
    """

    def __init__(self, keeps: bool = False) -> None:
        self._keeps = keeps
        self.n_formatted = 0
        self.missing: Counter[str] = Counter()
        self.example = ("", "")

    def read_answer(self, text: str) -> str:
        """Return an answer as it is stored: without formatting, or as typed with `keeps`."""
        if (word := text.strip()) in MISSING:
            self.missing[word] += 1
            return text
        plain = remove_formatting(text)
        if plain == text:
            return text
        self.n_formatted += 1
        if self.n_formatted == 1:
            self.example = (shorten_example(text), shorten_example(plain))
        return text if self._keeps else plain

    @property
    def keeps_formatted(self) -> bool:
        """Whether some answer had formatting and kept it."""
        return self._keeps and self.n_formatted > 0

    @property
    def notes(self) -> list[str]:
        """Report sentences on answers with formatting and on words for a missing value."""
        of_missing = [
            f"Answers that are only “{word}”: {count:,}. R or pandas writes this for a missing "
            "value; if they are missing, empty these cells in the file"
            for word, count in sorted(self.missing.items())
        ]
        if not self.n_formatted:
            return of_missing
        typed, plain = self.example
        if self._keeps:
            sentence = f"Answers with HTML, read as typed: {self.n_formatted:,}, such as “{typed}”"
            return [*of_missing, sentence]
        return [
            *of_missing,
            f"HTML removed from answers: {self.n_formatted:,}, such as “{typed}”, read as “{plain}”"
            ". --keep-html (“Keep HTML in answers” on the page) reads them as typed",
        ]


def add_keep_html_argument(parser: ArgumentParser) -> None:
    """Add the option --keep-html to a command line parser."""
    parser.add_argument(
        "--keep-html",
        action="store_true",
        help="read answers with their HTML, such as <p>Paris</p>, as typed; without it formatting "
        "tags are removed and entities decoded, and the answers are counted",
    )


def shorten_example(text: str) -> str:
    """Return a text on one line, cut to 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_EXAMPLE else f"{line[: LONGEST_EXAMPLE - 3]}..."
