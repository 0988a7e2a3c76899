"""How often somebody may ask: 429 with Retry-After beyond that."""

from __future__ import annotations

from rest_framework.throttling import AnonRateThrottle, ScopedRateThrottle, UserRateThrottle


class AnonymousThrottle(AnonRateThrottle):
    """By address, for those who do not say who they are."""

    scope = "anonymous"


class UserThrottle(UserRateThrottle):
    """By user, all tokens and sessions together."""

    scope = "user"


class UploadThrottle(ScopedRateThrottle):
    """By user, for what a view calls its `throttle_scope`: bulk uploads."""
