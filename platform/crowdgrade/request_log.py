"""The id of a request, in every line that is logged for it and in the answer's header."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the request that this thread answers; it stays set until the next one, so that an error
while an answer is sent has the id too. "" outside of requests."""


class RequestIdMiddleware:
    """Gives each request an id of its own. A client's own header is never taken over."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, with the id in its header."""
        request_id.set(secrets.token_hex(8))
        response = self.get_response(request)
        response.headers[HEADER] = request_id.get()
        return response


class RequestFormatter(logging.Formatter):
    """Formats a record of a request with time, level and id, and any other as its message."""

    in_request = logging.Formatter(
        "%(asctime)s %(levelname)s [%(request_id)s] %(name)s: %(message)s"
    )

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record; a traceback follows it."""
        found = request_id.get()
        vars(record)["request_id"] = found
        return self.in_request.format(record) if found else super().format(record)
