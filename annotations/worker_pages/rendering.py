"""Rendering of the worker pages: in the worker's language, never cached or indexed."""

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
from annotations.answering.languages import choose_interface_language, find_language
from annotations.answering.wording import wording
from annotations.languages import get_native_language_name
from annotations.models import Collection, QuestionSetVersion


@contextmanager
def use_language(version: QuestionSetVersion, language: str) -> Iterator[None]:
    """Activate a version's language and its interface language in the `with` block.

    A language that the version does not have is replaced by that of its original texts.
    """
    version.shown_in = find_language(version, language) or version.text_language
    with translation.override(choose_interface_language(version)):
        yield


def render_worker_page(
    request: HttpRequest,
    template: str,
    collection: Collection,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Return a rendered worker page; to be called within `use_language`."""
    # `render` now, not a lazy template response: that would be rendered after the `with` block.
    language = translation.get_language()
    version = collection.version
    content = version.shown_in or version.text_language
    translated_title = wording.load_title(version, content)
    base = {
        "collection": collection,
        "title_of_study": translated_title or collection.title or version.question_set.name,
        "language": language,
        "direction": "rtl" if translation.get_language_bidi() else "ltr",
        "content_language": content,
        "other_languages": [
            (tag, get_native_language_name(tag)) for tag in version.all_languages if tag != content
        ],
    }
    response = render(request, f"worker/{template}", base | (context or {}), status=status)
    return disable_caching(response)


def disable_caching(response: HttpResponse) -> HttpResponse:
    """Return the response with headers against caching and search engines."""
    add_never_cache_headers(response)
    # `no-store`: the browser of a shared computer must not keep a copy either.
    response["Cache-Control"] = "private, no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def build_return_url(collection: Collection, code: str) -> str:
    """Return the URL to the panel with a completion code; "" if no URL is set."""
    # Nothing of the request enters the URL, so that a forged link cannot redirect elsewhere.
    return collection.return_url.replace(CODE, quote(code, safe=""))


def format_length_error(text: str, most: int) -> str:
    """Return the message for a text longer than `most` characters."""
    return str(
        _("It has %(n)s characters, and at most %(most)s are possible. Please shorten it.")
        % {
            "n": number_format(len(text), force_grouping=True),
            "most": number_format(most, force_grouping=True),
        }
    )
