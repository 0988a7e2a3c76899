"""A database that is busy for longer than a request waits: a page that tries again, nothing lost.

SQLite has one place for a writer, and a server may refuse a connection or break up two that wait
for each other. Nothing is wrong with the request then; the same one a little later will do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import psycopg
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from crowdgrade.rest.errors import is_api, plain_problem

RETRY_SECONDS = 5
# Codes of PostgreSQL: no lock in time, a deadlock, serialization, too many connections, starting.
STATES = {"55P03", "40P01", "40001", "53300", "57P03"}


def is_busy(error: BaseException | None) -> bool:
    """Whether a database only asks to come again: not where its disk is full, or it is gone."""
    if not isinstance(error, OperationalError):
        return False
    cause = error.__cause__
    if isinstance(cause, sqlite3.OperationalError):
        # The lower byte is the kind: SQLITE_BUSY and SQLITE_LOCKED.
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (5, 6)
    return isinstance(cause, psycopg.Error) and cause.sqlstate in STATES


def busy(request: HttpRequest) -> HttpResponseBase:
    """Return the page, with what was sent in a form that sends it again; a problem for the API."""
    response: HttpResponse
    if is_api(request):
        response = plain_problem(request, "busy")
    else:
        sent = request.method == "POST"
        fields = list(_fields(request)) if sent else []
        files = sent and bool(request.FILES)
        context = {
            "address": request.get_full_path(),
            "sent": sent,
            "files": files,
            "fields": [] if files else fields,
            "shown": [value for name, value in fields if _is_text(name, value)],
            "seconds": RETRY_SECONDS,
        }
        response = HttpResponse(render_to_string("503.html", context), status=503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    return response


def _fields(request: HttpRequest) -> Iterator[tuple[str, str]]:
    for name, values in request.POST.lists():
        for value in values:
            # A password does not go back into a page: it is typed again.
            yield name, "" if "password" in name.lower() else str(value)


def _is_text(name: str, value: str) -> bool:
    """Whether somebody typed it, as far as one can tell: what is worth to be seen again."""
    return " " in value.strip() and name != "csrfmiddlewaretoken"


class BusyMiddleware:
    """Answers for a view that met a busy database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Return the page that tries again; None for every other error."""
        return busy(request) if is_busy(exception) else None
