"""Django system checks that refuse unsafe combinations of settings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

LOOPBACK = {"localhost", "127.0.0.1", "[::1]", "::1", "testserver"}
# Name of a file in the folder of local state that marks it as the demo's.
DEMO_MARK = "demo"


@register()
def check_demo_is_local(**_: Any) -> list[CheckMessage]:
    """Return a list with an error if other machines could reach the demo's database; else []."""
    others = [host for host in settings.ALLOWED_HOSTS if host not in LOOPBACK]
    if not (settings.HOME / DEMO_MARK).exists() or not others:
        return []
    return [
        Error(
            f"The demo's database would be served to other hosts: {', '.join(others)}.",
            hint="Unset ALLOWED_HOSTS, or use a CROWDGRADE_HOME of its own for real data.",
            id="crowdgrade.E001",
        )
    ]
