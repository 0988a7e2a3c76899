"""Who only reads is asked for once: the teams and shares that say what a page may show."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from annotations.models.ties import asked_once
from crowdgrade.retrying import READS


class ReadingMiddleware:
    """Keeps a user's teams and shares while a page is made, and not for the next one.

    A request that may change them asks each time: what it takes away is gone for the rest of it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        if request.method not in READS:
            return self.get_response(request)
        with asked_once():
            return self.get_response(request)
