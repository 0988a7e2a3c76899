"""What is shown under an address that belongs to nobody: forged, cut off, or deleted."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from annotations.answering.languages import spoken
from annotations.worker_pages.showing import not_kept


def nowhere(request: HttpRequest) -> HttpResponse:
    """Return a page that says so, with status 404, in the language that the browser asks for.

    Nothing is known of the study here, so its language is not either.
    """
    language = spoken(translation.get_language_from_request(request))
    with translation.override(language):
        direction = "rtl" if translation.get_language_bidi() else "ltr"
        context = {"language": language, "direction": direction}
        return not_kept(render(request, "worker/nowhere.html", context, status=404))
