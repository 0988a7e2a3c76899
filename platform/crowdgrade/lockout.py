"""Who is locked out of signing in: beside django-axes' count for a name, one of names."""

from __future__ import annotations

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_ip_address, get_failure_limit
from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone


class LockoutHandler(AxesDatabaseHandler):
    """Counts wrong passwords for a name from an address, and names tried from an address.

    Who tries one likely password for many names never meets the first limit. Names that signed in
    in the end do not count.
    """

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Return the failures of the name; as many as lock it out where too many were tried."""
        failures = int(super().get_failures(request, credentials))
        tried = AccessAttempt.objects.filter(
            ip_address=get_client_ip_address(request),
            attempt_time__gt=timezone.now() - settings.AXES_COOLOFF_TIME,
        )
        if tried.values("username").distinct().count() < settings.LOCKOUT_NAMES:
            return failures
        return max(failures, int(get_failure_limit(request, credentials)))
