"""Middleware that opens no page to a session without the second factor that its user needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

OPEN: Final = frozenset(
    {
        *("mfa_activate_totp", "account_reauthenticate", "mfa_reauthenticate", "sign-in-again"),
        *("openid-begin", "openid-callback", "mfa_authenticate", "account_login"),
        *("admin:login", "admin:logout", "admin:jsi18n", "admin:join", "admin:first-account"),
    }
)
"""Names of the addresses by which a session gets its second factor, or ends."""


class SecondFactorMiddleware:
    """Redirects users who lack a second factor that REQUIRE_SECOND_FACTOR demands to its setup.

    It guards the pages behind the login; `crowdgrade.rest.authentication` refuses such sessions at
    the REST API. Workers' pages have no login. A session that is older than its user's second
    factor ends.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response of the view."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        """Return a redirect if the session lacks a required second factor; else None."""
        match = request.resolver_match
        if settings.REQUIRE_SECOND_FACTOR == "none" or match is None:
            return None
        if not match.route.startswith("admin/") or match.view_name in OPEN:
            return None
        from crowdgrade.sign_in.second_factor import has_second_factor, lacks_second_factor

        if not lacks_second_factor(request):
            return None
        if has_second_factor(request.user):
            logout(request)
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        return redirect("mfa_activate_totp")
