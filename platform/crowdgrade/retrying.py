"""A page that lost its connection to the database in the middle is made once more, quietly."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase

from crowdgrade.outages import Outage

logger = logging.getLogger(__name__)

READS = ("GET", "HEAD")


class RetryMiddleware:
    """Asks for a page again where the database ended the connection that it was made with.

    A server that is restarted ends every connection, and each is noticed only when it is used. What
    was under way is undone by the server, and who only reads asks for nothing else the second time.
    A change is never repeated: whether it was stored is not known. A second failure is told.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, of the second attempt if need be."""
        response = self.get_response(request)
        lost = getattr(response, "outage", None) is Outage.LOST
        if not lost or request.method not in READS or not isinstance(request, WSGIRequest):
            return response
        logger.warning("%s: the database ended the connection; trying once more", request.path)
        close_old_connections()
        # A new request: the old one remembers who asks, and that a session was looked for.
        return self.get_response(type(request)(request.environ))
