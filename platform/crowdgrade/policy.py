"""Middleware for the Content-Security-Policy header: strict, with an exception for the admin."""

from __future__ import annotations

from csp.constants import NONE, UNSAFE_EVAL
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase

DATA_ONLY = {"default-src": [NONE], "frame-ancestors": [NONE]}


class PolicyMiddleware(CSPMiddleware):
    """Adds 'unsafe-eval' to the Content-Security-Policy of the admin site only.

    The theme uses Alpine, which compiles attributes of its templates. No text of a worker or model
    is in such an attribute (`tests/desk/test_policy.py` checks it).
    """

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """Return the parts of the Content-Security-Policy for the request's URL."""
        parts = super().get_policy_parts(request, response, report_only)
        match = getattr(request, "resolver_match", None)
        # Also sign-in by django-allauth, whose pages have no namespace.
        if match is not None and match.route.startswith("admin/"):
            parts.update = {**(parts.update or {}), "script-src": [UNSAFE_EVAL]}
        is_data = match is not None and "api" in match.app_names and match.url_name != "docs"
        if is_data and not report_only:
            # If a browser renders a JSON response as a page, it can load and run nothing.
            parts.config = DATA_ONLY
        return parts
