"""The page of an outage: it tries again where that helps, and what was typed is not lost.

Nothing is wrong with the request then; the same one a little later will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from crowdgrade.outages import Outage, outage_of
from crowdgrade.rest.errors import RETRY_SECONDS, is_api, plain_problem


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
        """Return the page that tells it; None for every other error."""
        outage = outage_of(exception)
        return None if outage is None else outage_page(request, outage)
