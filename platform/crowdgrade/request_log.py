"""Request ids: in every log record of a request, and in a header of its response."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the request that this thread handles, "" outside of requests. It stays set until the next
request, so that an error while the response is sent has the id too."""


class RequestIdMiddleware:
    """Gives each request a random id; a client's header is ignored, as it can be forged."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, with the request's id in its header."""
        request_id.set(secrets.token_hex(8))
        response = self.get_response(request)
        response.headers[HEADER] = request_id.get()
        return response


class RequestFormatter(logging.Formatter):
    """Log formatter: time, level and id during a request, else the message alone."""

    in_request = logging.Formatter(
        "%(asctime)s %(levelname)s [%(request_id)s] %(name)s: %(message)s"
    )

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a log record, with the traceback of an exception."""
        current_id = request_id.get()
        vars(record)["request_id"] = current_id
        return self.in_request.format(record) if current_id else super().format(record)
