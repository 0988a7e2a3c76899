"""Middleware that refuses NUL characters in URLs."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase


class UrlCheckMiddleware:
    """Returns 400 for URLs with a NUL character, which PostgreSQL cannot store.

    Forms need no such check: Django's form fields refuse the character.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; raise `BadRequest` for a URL with a NUL character."""
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("There is a NUL character in the address: take %00 out of it.")
        return self.get_response(request)
