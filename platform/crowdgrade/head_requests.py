"""Middleware that answers HEAD requests with the headers of GET and no body."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase


class HeadRequestMiddleware:
    """Removes the body of responses to HEAD requests; Content-Length stays.

    The web server would send the body, and on a persistent connection the client would read it as
    the beginning of the next response.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to the request, without its body for HEAD."""
        response = self.get_response(request)
        if request.method != "HEAD":
            return response
        bare = HttpResponse(status=response.status_code, headers=dict(response.items()))
        if "Content-Type" not in response:
            del bare["Content-Type"]
        bare.cookies = response.cookies
        # Closing the bare response also closes the files of the original one.
        bare._resource_closers.extend(response._resource_closers)  # type: ignore[attr-defined]
        return bare
