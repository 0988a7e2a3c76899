"""The page of an outage: it tries again where that helps, and what was typed is not lost.

Nothing is wrong with the request then; the same one a little later will do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from crowdgrade.outages import Outage, outage_of
from crowdgrade.rest.errors import LOST_RACES, RETRY_SECONDS, is_api, plain_problem

logger = logging.getLogger(__name__)


def outage_page(request: HttpRequest, outage: Outage) -> HttpResponseBase:
    """Return the page, with what was sent in a form that sends it again; a problem for the API."""
    response: HttpResponse
    if is_api(request):
        response = plain_problem(request, outage.value)
    else:
        sent = request.method == "POST"
        fields = list(_fields(request)) if sent else []
        # A file that could not even be received is in neither.
        received = request.content_type != "multipart/form-data" or bool(fields)
        files = sent and (bool(request.FILES) or not received)
        context = {
            "outage": outage.value,
            "address": request.get_full_path(),
            "sent": sent,
            "files": files,
            "fields": [] if files else fields,
            "shown": [value for name, value in fields if _is_text(name, value)],
            "seconds": RETRY_SECONDS,
            "passes": outage.passes,
        }
        status = 503 if outage.passes else 507
        response = HttpResponse(render_to_string("503.html", context), status=status)
    if outage.passes:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    response.outage = outage  # type: ignore[attr-defined]  # for `crowdgrade.retrying`
    return response


def overtaken_page(request: HttpRequest, error: Exception) -> HttpResponseBase:
    """Return 409 where another request was first, 404 where it deleted what is asked for."""
    is_gone = isinstance(error, ObjectDoesNotExist)
    if is_api(request):
        return plain_problem(request, "not-found" if is_gone else "conflict")
    if is_gone:
        return HttpResponse(render_to_string("404.html"), status=404)
    return HttpResponse(render_to_string("409.html"), status=409)


def _fields(request: HttpRequest) -> Iterator[tuple[str, str]]:
    for name, values in request.POST.lists():
        for value in values:
            # A password does not go back into a page: it is typed again.
            yield name, "" if "password" in name.lower() else str(value)


def _is_text(name: str, value: str) -> bool:
    """Whether somebody typed it, as far as one can tell: what is worth to be seen again."""
    return " " in value.strip() and name != "csrfmiddlewaretoken"


class OutageMiddleware:
    """Answers for a view that met an outage."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Return the page that tells it, or that another request was first; None for the rest."""
        outage = outage_of(exception)
        if outage is not None:
            return outage_page(request, outage)
        if isinstance(exception, LOST_RACES):
            logger.error("%s %s: overtaken", request.method, request.path, exc_info=exception)
            return overtaken_page(request, exception)
        return None
