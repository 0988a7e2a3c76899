"""Handlers of errors outside of views: API errors below /api/, else Django's error pages."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.views import defaults

from crowdgrade.outages import find_outage
from crowdgrade.request_log import request_id
from crowdgrade.rest.errors import build_problem_response, is_api_request
from crowdgrade.rest.outage_page import render_outage


def handle_bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return the response with status 400: JSON for API URLs, else a page."""
    if is_api_request(request):
        return build_problem_response(request, "malformed")
    return defaults.bad_request(request, exception)


def handle_permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return the response with status 403: JSON for API URLs, else a page."""
    if is_api_request(request):
        return build_problem_response(request, "forbidden")
    return defaults.permission_denied(request, exception)


def handle_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return the response with status 404: JSON for API URLs, else a page."""
    if is_api_request(request):
        return build_problem_response(request, "not-found")
    return defaults.page_not_found(request, exception)


def handle_server_error(request: HttpRequest) -> HttpResponseBase:
    """Return the response with status 500 (JSON or page), or the page of an outage.

    An outage can occur outside of a view, such as in the middleware of sessions.
    """
    outage = find_outage(sys.exc_info()[1])
    if outage is not None:
        return render_outage(request, outage)
    if is_api_request(request):
        return build_problem_response(request, "server-error")
    return HttpResponse(render_to_string("500.html", {"request_id": request_id.get()}), status=500)
