"""How a page of workers is made: in their language, kept by no cache, listed by no robot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import add_never_cache_headers

from annotations.answering.collecting import CODE
from annotations.answering.languages import language_of
from annotations.models import Collection, QuestionSetVersion


@contextmanager
def speaking(version: QuestionSetVersion) -> Iterator[str]:
    """Speak the language of a version while a page is made."""
    language = language_of(version)
    with translation.override(language):
        yield language


def shown(
    request: HttpRequest,
    template: str,
    collection: Collection,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Return a page, made now, while its language is spoken."""
    language = translation.get_language()
    base = {
        "collection": collection,
        "title_of_study": collection.title or collection.version.question_set.name,
        "language": language,
        "direction": "rtl" if translation.get_language_bidi() else "ltr",
        "content_language": collection.version.spoken,
    }
    response = render(request, f"worker/{template}", base | (context or {}), status=status)
    return not_kept(response)


def not_kept(response: HttpResponse) -> HttpResponse:
    """Return the response with what keeps it out of caches, also of the browser's, and of lists."""
    add_never_cache_headers(response)
    response["Cache-Control"] = "private, no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def way_back(collection: Collection, code: str) -> str:
    """Return the address of the panel with a code, "" where the requester has named none.

    Nothing of a request goes into it, so that nobody can be led elsewhere by a made-up link.
    """
    return collection.return_url.replace(CODE, quote(code, safe=""))
