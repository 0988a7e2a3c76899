"""The Content-Security-Policy: one for all pages, but for a word in the admin; data gets none."""

from __future__ import annotations

from csp.constants import NONE, UNSAFE_EVAL
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase

DATA_ONLY = {"default-src": [NONE], "frame-ancestors": [NONE]}


class PolicyMiddleware(CSPMiddleware):
    """Lets the admin's scripts evaluate, and nobody else's.

    The admin's theme is made with Alpine, which compiles the attributes of its own templates. No
    worker's or model's text ever stands in such an attribute (`tests/desk/test_policy.py`).
    """

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """Return the parts of the policy, with 'unsafe-eval' for addresses of the admin."""
        parts = super().get_policy_parts(request, response, report_only)
        match = getattr(request, "resolver_match", None)
        if match is not None and "admin" in match.app_names:
            parts.update = {**(parts.update or {}), "script-src": [UNSAFE_EVAL]}
        data = match is not None and "api" in match.app_names and match.url_name != "docs"
        if data and not report_only:
            # Data is no page: were it shown as one, it could load and run nothing at all.
            parts.config = DATA_ONLY
        return parts
