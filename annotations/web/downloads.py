"""File downloads: file names, and headers that prevent browsers from showing the file."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from annotations.exchange.writing.formats import CONTENT_TYPES

# Characters of each part of a name; file systems take 255 bytes in all.
LONGEST_PART = 40


def build_file_name(*parts: str) -> str:
    """Return a safe file name without extension, built from user-written texts.

    Letters, digits, underscores and single hyphens stay; a text without any is left out.
    """
    slugs = (slugify(part, allow_unicode=True)[:LONGEST_PART].strip("-_") for part in parts)
    return "-".join(filter(None, slugs)) or "crowdgrade"


def build_download_response(chunks: Iterator[bytes], name: str, kind: str) -> StreamingHttpResponse:
    """Return a response that streams a file named `name`.`kind`, with the kind's content type."""
    return StreamingHttpResponse(
        chunks, content_type=CONTENT_TYPES[kind], headers=build_attachment_headers(f"{name}.{kind}")
    )


def build_attachment_headers(name: str) -> dict[str, str]:
    """Return the HTTP headers by which the browser saves a file under a name and never shows it."""
    return {"Content-Disposition": content_disposition_header(True, name) or ""}
