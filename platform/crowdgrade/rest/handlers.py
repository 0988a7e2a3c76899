"""Errors that no view saw: problem documents under /api/, Django's pages elsewhere."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.views import defaults

from crowdgrade.outages import outage_of
from crowdgrade.request_log import request_id
from crowdgrade.rest.errors import is_api, plain_problem
from crowdgrade.rest.outage_page import outage_page


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """400."""
    if is_api(request):
        return plain_problem(request, "malformed")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """403."""
    if is_api(request):
        return plain_problem(request, "forbidden")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """404."""
    if is_api(request):
        return plain_problem(request, "not-found")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """500, or the page of an outage that came outside of a view: sessions, who is signed in."""
    outage = outage_of(sys.exc_info()[1])
    if outage is not None:
        return outage_page(request, outage)
    if is_api(request):
        return plain_problem(request, "server-error")
    return HttpResponse(render_to_string("500.html", {"request_id": request_id.get()}), status=500)
