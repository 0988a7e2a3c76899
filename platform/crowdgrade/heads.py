"""The answer to HEAD: the headers of GET, and no body."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase


class HeadMiddleware:
    """Empties the answer to HEAD, whose length stays in its header.

    The web server sends what it is given. On a connection that stays open a client would take the
    body for the beginning of the next answer.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; of a HEAD its headers alone."""
        response = self.get_response(request)
        if request.method != "HEAD":
            return response
        bare = HttpResponse(status=response.status_code, headers=dict(response.items()))
        if "Content-Type" not in response:
            del bare["Content-Type"]
        bare.cookies = response.cookies
        # Files that it would have sent are closed with the bare one.
        bare._resource_closers.extend(response._resource_closers)  # type: ignore[attr-defined]
        return bare
