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
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotations.answering.collecting import CODE
from annotations.answering.languages import among, language_of
from annotations.answering.wording import wording
from annotations.languages import own_name
from annotations.models import Collection, QuestionSetVersion


@contextmanager
def speaking(version: QuestionSetVersion, language: str) -> Iterator[None]:
    """Speak a language of a version while a page is made; its own for one that it has not."""
    version.shown_in = among(version, language) or version.spoken
    with translation.override(language_of(version)):
        yield


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
    version = collection.version
    content = version.shown_in or version.spoken
    said = wording.title(version, content)
    base = {
        "collection": collection,
        "title_of_study": said or collection.title or version.question_set.name,
        "language": language,
        "direction": "rtl" if translation.get_language_bidi() else "ltr",
        "content_language": content,
        "other_languages": [
            (tag, own_name(tag)) for tag in version.every_language if tag != content
        ],
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


def too_long(text: str, most: int) -> str:
    """Return what is said of a text with more characters than `most`."""
    return str(
        _("It has %(n)s characters, and at most %(most)s are possible. Please shorten it.")
        % {
            "n": number_format(len(text), force_grouping=True),
            "most": number_format(most, force_grouping=True),
        }
    )
