"""Page for an unknown URL: a forged or incomplete token, or a deleted submission."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from annotations.answering.languages import resolve_interface_language
from annotations.worker_pages.rendering import disable_caching


def render_not_found(request: HttpRequest) -> HttpResponse:
    """Return the page for an unknown link (404), in the language that the browser requests.

    The study is unknown here, and so is its language.
    """
    language = resolve_interface_language(translation.get_language_from_request(request))
    with translation.override(language):
        direction = "rtl" if translation.get_language_bidi() else "ltr"
        context = {"language": language, "direction": direction}
        return disable_caching(render(request, "worker/nowhere.html", context, status=404))
