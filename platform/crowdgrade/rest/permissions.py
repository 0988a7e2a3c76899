"""Who may ask at all, and how often: 429 with Retry-After beyond that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.throttling import AnonRateThrottle, ScopedRateThrottle, UserRateThrottle

from annotations.models import may_enter

if TYPE_CHECKING:  # the framework reads this module while it reads its own
    from rest_framework.request import Request
    from rest_framework.views import APIView


class MayEnter(BasePermission):
    """Those for whom there is a page behind the login; what they see is decided row by row."""

    message = "This account has no role: it makes no question sets, and none is shared with it."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether there is anything for the one who asks."""
        return may_enter(request.user)


class AnonymousThrottle(AnonRateThrottle):
    """By address, for those who do not say who they are."""

    scope = "anonymous"


class UserThrottle(UserRateThrottle):
    """By user, all tokens and sessions together."""

    scope = "user"


class UploadThrottle(ScopedRateThrottle):
    """By user, for what a view calls its `throttle_scope`: bulk uploads."""
