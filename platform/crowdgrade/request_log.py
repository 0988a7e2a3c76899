"""Request ids: in every log record of a request, in a header of its response, and in tasks.

A task carries the id of the request that sent it, so that the records of the background process
have the id too.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from evaluation.runs.background.log_context import run_id

HEADER = "X-Request-ID"
TASK_HEADER = "request_id"
VALID_ID = re.compile(r"[0-9a-f]{16}")
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the request that this thread handles or whose task it works on, else "". It stays set until
the next request, so that an error while the response is sent has the id too."""


class RequestIdMiddleware:
    """Gives each request a random id; a client's own id is ignored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response with the request's id in a header."""
        request_id.set(secrets.token_hex(8))
        response = self.get_response(request)
        response.headers[HEADER] = request_id.get()
        return response


class RequestFormatter(logging.Formatter):
    """Log formatter: time, level and request id during a request, else the message only."""

    in_request = logging.Formatter(
        "%(asctime)s %(levelname)s [%(request_id)s] %(name)s: %(message)s"
    )

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a log record, with the traceback of an exception."""
        current_id = request_id.get()
        vars(record)["request_id"] = current_id
        return self.in_request.format(record) if current_id else super().format(record)


class JsonFormatter(logging.Formatter):
    """Log formatter: one JSON object per line, with the ids of request and run if known."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a log record as a line of JSON, with the traceback of an exception."""
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        values |= {name: text for name, text in _read_current_ids().items() if text}
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        return json.dumps(values, ensure_ascii=False)


def _read_current_ids() -> dict[str, str]:
    """Return the ids of the current request and run."""
    return {"request_id": request_id.get(), "run_id": run_id.get()}


def add_id_to_task(headers: dict[str, Any] | None) -> None:
    """Add the current request's id to the headers of a task that is being sent."""
    if headers is not None and request_id.get():
        headers[TASK_HEADER] = request_id.get()


def set_id_from_task(request: Any) -> None:
    """Set the current request id to that of a task's headers; "" if it has no valid one."""
    # Celery puts unknown headers of a message among the attributes of the task's request.
    value = getattr(request, TASK_HEADER, None) or (request.headers or {}).get(TASK_HEADER)
    is_valid = isinstance(value, str) and VALID_ID.fullmatch(value)
    request_id.set(str(value) if is_valid else "")
    run_id.set("")
