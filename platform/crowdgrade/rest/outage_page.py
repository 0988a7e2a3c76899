"""Page shown during an outage; it retries if that can help, and keeps the posted values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from crowdgrade.outages import Outage, find_outage
from crowdgrade.rest.errors import LOST_RACES, RETRY_SECONDS, build_problem_response, is_api_request

logger = logging.getLogger(__name__)


def render_outage(request: HttpRequest, outage: Outage) -> HttpResponseBase:
    """Return the page on an outage; for API requests the error as JSON.

    Status 503 if the outage ends by itself, else 507. Posted values are in a form that sends them
    again, but for files, which a page cannot contain.
    """
    response: HttpResponse
    if is_api_request(request):
        response = build_problem_response(request, outage.value)
    else:
        is_posted = request.method == "POST"
        fields = list(_list_posted_fields(request)) if is_posted else []
        # If receiving a file failed, both fields and files are empty.
        is_received = request.content_type != "multipart/form-data" or bool(fields)
        has_files = is_posted and (bool(request.FILES) or not is_received)
        context = {
            "outage": outage.value,
            "address": request.get_full_path(),
            "sent": is_posted,
            "files": has_files,
            # Without its files the form would be incomplete, so it is not offered again.
            "fields": [] if has_files else fields,
            "shown": [value for name, value in fields if _is_typed_text(name, value)],
            "seconds": RETRY_SECONDS,
            "passes": outage.is_temporary,
        }
        status = 503 if outage.is_temporary else 507
        response = HttpResponse(render_to_string("503.html", context), status=status)
    if outage.is_temporary:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    response.outage = outage  # type: ignore[attr-defined]  # for `crowdgrade.read_retry`
    return response


def render_conflict(request: HttpRequest, error: Exception) -> HttpResponseBase:
    """Return the response to a concurrent change: 409, or 404 if the row was deleted."""
    is_gone = isinstance(error, ObjectDoesNotExist)
    if is_api_request(request):
        return build_problem_response(request, "not-found" if is_gone else "conflict")
    if is_gone:
        return HttpResponse(render_to_string("404.html"), status=404)
    return HttpResponse(render_to_string("409.html"), status=409)


def _list_posted_fields(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of the posted form fields."""
    for name, values in request.POST.lists():
        for value in values:
            # A password must not be in a page; the user types it again.
            yield name, "" if "password" in name.lower() else str(value)


def _is_typed_text(name: str, value: str) -> bool:
    """Return whether a value is probably typed text: it contains a space."""
    return " " in value.strip() and name != "csrfmiddlewaretoken"


class OutageMiddleware:
    """Returns the page on an outage, or on a concurrent change, if a view raised such an error."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to the request, unchanged."""
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Return the page on an outage or a concurrent change; None for other errors."""
        outage = find_outage(exception)
        if outage is not None:
            return render_outage(request, outage)
        if isinstance(exception, LOST_RACES):
            logger.error("%s %s: overtaken", request.method, request.path, exc_info=exception)
            return render_conflict(request, exception)
        return None
