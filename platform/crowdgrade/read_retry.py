"""Middleware that repeats a request whose database connection was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase

from crowdgrade.database_timeouts import ANSWER_SECONDS
from crowdgrade.outages import Outage

logger = logging.getLogger(__name__)

READS = ("GET", "HEAD")


class RetryMiddleware:
    """Repeats GET and HEAD once if the database closed the connection.

    A database that restarts closes all connections; each process notices it only at the next use.
    Other methods are not repeated, because a change may have been stored. Nor is a request to a
    database that did not answer in time, which would wait as long again. A second failure is
    reported.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; repeat the request once if the connection was lost."""
        began = time.monotonic()
        response = self.get_response(request)
        is_lost = getattr(response, "outage", None) is Outage.LOST
        # A closed connection is noticed at once; a silent database only after the time limit.
        is_silent = time.monotonic() - began >= ANSWER_SECONDS
        if not is_lost or is_silent or request.method not in READS:
            return response
        if not isinstance(request, WSGIRequest):
            return response
        logger.warning("%s: the database ended the connection; trying once more", request.path)
        close_old_connections()
        # A new request object: the old one has cached the user and the session.
        return self.get_response(type(request)(request.environ))
