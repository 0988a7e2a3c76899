"""Lockout after failed sign-ins: a limit per user name, and a limit of different names."""

from __future__ import annotations

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_ip_address, get_failure_limit
from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone


class LockoutHandler(AxesDatabaseHandler):
    """Counts failed sign-ins per name and IP address, and different names per IP address.

    The second count stops attacks that try one password with many names, which never reach the
    limit of one name. Names that signed in successfully do not count.
    """

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Return a name's failed sign-ins; at least the limit if too many names were tried."""
        failures = int(super().get_failures(request, credentials))
        attempts = AccessAttempt.objects.filter(
            ip_address=get_client_ip_address(request),
            attempt_time__gt=timezone.now() - settings.AXES_COOLOFF_TIME,
        )
        if attempts.values("username").distinct().count() < settings.LOCKOUT_NAMES:
            return failures
        return max(failures, int(get_failure_limit(request, credentials)))
