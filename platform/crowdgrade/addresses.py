"""What no address of ours holds, refused before anything reads it."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase


class AddressMiddleware:
    """Refuses a NUL character in an address with 400: no text has one, and PostgreSQL breaks on it.

    The bodies of forms need no help: Django's fields refuse the character by name.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, or raise BadRequest."""
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("There is a NUL character in the address: take %00 out of it.")
        return self.get_response(request)
