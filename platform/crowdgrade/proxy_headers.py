"""Middleware that takes the client's IP address and scheme from headers of known proxies."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect

ADDRESS_HEADER, SCHEME_HEADER = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"


class ProxyMiddleware:
    """Replaces a known proxy's address and scheme in the request by the client's.

    The last PROXIES addresses in X-Forwarded-For are from our own proxies; clients can forge those
    before them. Links, cookies, CSRF checks, rate limits and the lockout then all use the same
    client. With PROXIES = 0 no header counts. With HTTPS on, a page requested by HTTP is
    redirected to HTTPS.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to the request with the client's address and scheme."""
        if settings.PROXIES:
            self._apply_headers(request)
            scheme = _take_last_value(request.META.get(SCHEME_HEADER, ""))
            if settings.HTTPS and scheme == "http" and request.method in ("GET", "HEAD"):
                return HttpResponsePermanentRedirect(
                    f"https://{request.get_host()}{request.get_full_path()}"
                )
        return self.get_response(request)

    def _apply_headers(self, request: HttpRequest) -> None:
        """Set address and scheme of the request from the proxies' headers, if valid."""
        addresses = [part.strip() for part in request.META.get(ADDRESS_HEADER, "").split(",")]
        # With fewer addresses the request bypassed a proxy: trust none of them.
        if len(addresses) >= settings.PROXIES and (
            client := _parse_address(addresses[-settings.PROXIES])
        ):
            request.META["REMOTE_ADDR"] = client
        if _take_last_value(request.META.get(SCHEME_HEADER, "")) == "https":
            request.META["wsgi.url_scheme"] = "https"


def _take_last_value(values: str) -> str:
    """Return the last of the comma-separated values in a header, stripped, in lower case."""
    return values.rpartition(",")[2].strip().lower()


def _parse_address(text: str) -> str:
    """Return an IP address in canonical form, without a port; "" if it is invalid."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return ""
