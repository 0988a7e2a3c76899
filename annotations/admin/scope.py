"""The only way from an address to an object."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from annotations.models import ScopedQuerySet

M = TypeVar("M", bound=Model)


def visible(request: HttpRequest, queryset: ScopedQuerySet[M]) -> QuerySet[M]:
    """Return the rows that the one who asks may see."""
    return queryset.visible_to(request.user)


def visible_or_404(request: HttpRequest, queryset: ScopedQuerySet[M], public_id: UUID) -> M:
    """Return the object of that id if the one who asks may see it; else it does not exist."""
    return get_object_or_404(queryset.visible_to(request.user), public_id=public_id)


def user_id(request: HttpRequest) -> int:
    """Return the key of the one who asks; the pages are behind a login, so there is one."""
    return int(request.user.pk or 0)
