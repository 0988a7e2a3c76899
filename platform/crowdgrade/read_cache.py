"""Middleware that loads a user's teams and shares only once in a request that only reads."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from annotations.models.ties import cache_queries
from crowdgrade.read_retry import READS


class ReadCacheMiddleware:
    """Caches a user's teams and shares during requests that change nothing.

    Other requests load them each time, because they may change them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; GET and HEAD run with the cache."""
        if request.method not in READS:
            return self.get_response(request)
        with cache_queries():
            return self.get_response(request)
