"""Errors that no view saw: problem documents under /api/, Django's pages elsewhere."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponseBase
from django.views import defaults

from crowdgrade.rest.busy import busy, is_busy
from crowdgrade.rest.errors import is_api, plain_problem


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
    """500, or 503 where a database was busy outside of a view: sessions, who is signed in."""
    if is_busy(sys.exc_info()[1]):
        return busy(request)
    if is_api(request):
        return plain_problem(request, "server-error")
    return defaults.server_error(request)
