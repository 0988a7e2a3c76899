"""Who may ask at all, and how often: 429 with Retry-After beyond that."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from django.core.cache import caches
from redis.exceptions import RedisError
from rest_framework.permissions import BasePermission
from rest_framework.throttling import (
    AnonRateThrottle,
    ScopedRateThrottle,
    SimpleRateThrottle,
    UserRateThrottle,
)

from annotations.models import may_enter

if TYPE_CHECKING:  # the framework reads this module while it reads its own
    from rest_framework.request import Request
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)


class MayEnter(BasePermission):
    """Those for whom there is a page behind the login; what they see is decided row by row."""

    message = "This account has no role: it makes no question sets, and none is shared with it."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether there is anything for the one who asks."""
        return may_enter(request.user)


class CountingThrottle(SimpleRateThrottle):
    """Counts where all processes of the site do: in files, or in CACHE_URL's Redis.

    While Redis does not answer, or the files cannot be written, each process counts for itself, so
    nobody is refused because of it, and nobody may ask without bounds either. It is tried again
    after `PAUSE` seconds, for a host that does not even refuse takes a second each time.
    """

    PAUSE = 10.0
    _resting_until = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Whether the request is one of those that are allowed."""
        if time.monotonic() >= CountingThrottle._resting_until:
            try:
                return super().allow_request(request, view)
            except (RedisError, OSError) as error:
                what = "CACHE_URL" if isinstance(error, RedisError) else "CROWDGRADE_HOME"
                logger.warning("%s does not answer, each process counts alone: %s", what, error)
                CountingThrottle._resting_until = time.monotonic() + self.PAUSE
        self.cache = caches["process"]
        return super().allow_request(request, view)


class AnonymousThrottle(CountingThrottle, AnonRateThrottle):
    """By address, for those who do not say who they are."""

    scope = "anonymous"


class UserThrottle(CountingThrottle, UserRateThrottle):
    """By user, all tokens and sessions together."""

    scope = "user"


class UploadThrottle(CountingThrottle, ScopedRateThrottle):
    """By user, for what a view calls its `throttle_scope`: bulk uploads."""
