"""Permission to use the API, and rate limits (429 with Retry-After)."""

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


class MaySignIn(BasePermission):
    """Permission for accounts that may sign in; each view decides which rows they see."""

    message = "This account has no role: it makes no question sets, and none is shared with it."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the user may sign in to the site."""
        return may_enter(request.user)


class CountingThrottle(SimpleRateThrottle):
    """Rate limit counted in a cache shared by all processes (files, or Redis by CACHE_URL).

    If that cache fails, each process counts alone: requests are still served, and still limited.
    The shared cache is tried again after `PAUSE` seconds, because an unreachable host costs a
    second each time.
    """

    PAUSE = 10.0
    # On the class: after a failure all throttles of the process pause together.
    _resting_until = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return whether the request is within the rate limit."""
        if time.monotonic() >= CountingThrottle._resting_until:
            try:
                return super().allow_request(request, view)
            except (RedisError, OSError) as error:
                name = "CACHE_URL" if isinstance(error, RedisError) else "CROWDGRADE_HOME"
                logger.warning("%s does not answer, each process counts alone: %s", name, error)
                CountingThrottle._resting_until = time.monotonic() + self.PAUSE
        self.cache = caches["process"]
        return super().allow_request(request, view)


class AnonymousThrottle(CountingThrottle, AnonRateThrottle):
    """Rate limit per IP address, for requests without authentication."""

    scope = "anonymous"


class UserThrottle(CountingThrottle, UserRateThrottle):
    """Rate limit per user, for all tokens and sessions together."""

    scope = "user"


class UploadThrottle(CountingThrottle, ScopedRateThrottle):
    """Rate limit per user, for views with a `throttle_scope`, such as bulk uploads."""
