"""Files that a door sends: their names, and that they are kept and never shown."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from annotations.exchange.writing.formats import CONTENT_TYPES

# Characters of each part of a name; file systems take 255 bytes in all.
LONGEST_PART = 40


def file_name(*parts: str) -> str:
    """Return the name of a file, without its ending, out of texts that people wrote.

    Letters, digits, underscores and single hyphens stay; a text without any is left out.
    """
    slugs = (slugify(part, allow_unicode=True)[:LONGEST_PART].strip("-_") for part in parts)
    return "-".join(filter(None, slugs)) or "crowdgrade"


def download(chunks: Iterator[bytes], name: str, kind: str) -> StreamingHttpResponse:
    """Return a file NAME.KIND that is sent in pieces as it is made; KIND says what it is."""
    return StreamingHttpResponse(
        chunks, content_type=CONTENT_TYPES[kind], headers=attached(f"{name}.{kind}")
    )


def attached(name: str) -> dict[str, str]:
    """Return the headers of a file that is never run as a page."""
    return {"Content-Disposition": content_disposition_header(True, name) or ""}
