"""Delete what is stored for a limited time: events of webhooks, logs of downloads and sign-ins."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotations.models import ExportRead, SignInEvent
from evaluation.models import Event

EVENTS_STORED: Final = timedelta(days=30)
"""Age at which events are deleted, with their deliveries."""
SECONDS_BETWEEN: Final = 3_600.0


@dataclass
class Retention:
    """Deletes expired rows once an hour."""

    clock: Callable[[], float] = time.monotonic
    _done: float | None = None

    def step(self) -> None:
        """Delete expired rows if the last time is an hour ago."""
        if self._done is None or self.clock() - self._done >= SECONDS_BETWEEN:
            self._done = self.clock()
            delete_expired()


def delete_expired() -> dict[str, int]:
    """Delete expired events and entries of the logs; return the numbers by kind."""
    now = timezone.now()
    logged = now - timedelta(days=settings.EXPORT_LOG_DAYS)
    expired: dict[str, QuerySet[Any, Any]] = {
        "events": Event.objects.filter(created_at__lt=now - EVENTS_STORED),
        "downloads": ExportRead.objects.filter(created_at__lt=logged),
        "sign_ins": SignInEvent.objects.filter(created_at__lt=logged),
    }
    numbers = {}
    for kind, rows in expired.items():
        # Most of the time there are none, and a query takes no write lock.
        numbers[kind] = rows.count()
        if numbers[kind]:
            rows.delete()
    return numbers
