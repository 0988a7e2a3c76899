"""Behind proxies: who asks, and whether by HTTPS, is what the outermost one that we know saw."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect

FROM, BY = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"


class ProxyMiddleware:
    """Puts the client's address and scheme where Django has those of the nearest proxy.

    Of the addresses in X-Forwarded-For the last PROXIES were added by proxies of ours; what stands
    before them anybody can write. So links, cookies, CSRF checks, request rates and the lock of the
    login all see one client, and no header counts where PROXIES is 0. A page that was asked for
    without HTTPS, though the installation promises it, is asked for once more with it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to the request as the client made it."""
        if settings.PROXIES:
            self._see(request)
            came_by = _last(request.META.get(BY, ""))
            if settings.HTTPS and came_by == "http" and request.method in ("GET", "HEAD"):
                return HttpResponsePermanentRedirect(
                    f"https://{request.get_host()}{request.get_full_path()}"
                )
        return self.get_response(request)

    def _see(self, request: HttpRequest) -> None:
        added = [part.strip() for part in request.META.get(FROM, "").split(",")]
        if len(added) >= settings.PROXIES and (client := _address(added[-settings.PROXIES])):
            request.META["REMOTE_ADDR"] = client
        if _last(request.META.get(BY, "")) == "https":
            request.META["wsgi.url_scheme"] = "https"


def _last(values: str) -> str:
    return values.rpartition(",")[2].strip().lower()


def _address(text: str) -> str:
    """Return an address as it is written everywhere; "" for what is none. A port may follow."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return ""
