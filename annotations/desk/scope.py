"""The only way from an address to an object."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from annotations.models import ScopedQuerySet, is_requester

M = TypeVar("M", bound=Model)

NO_CHANGE = "You may look at it, but not change it."
NO_MANAGING = "Only its owner may do this."


def visible(request: HttpRequest, queryset: ScopedQuerySet[M]) -> QuerySet[M]:
    """Return the rows that the one who asks may see."""
    return queryset.visible_to(request.user)


def visible_or_404(request: HttpRequest, queryset: ScopedQuerySet[M], public_id: UUID) -> M:
    """Return the object of that id if the one who asks may see it; else it does not exist."""
    return get_object_or_404(queryset.visible_to(request.user), public_id=public_id)


def editable_or_refused(request: HttpRequest, queryset: ScopedQuerySet[M], public_id: UUID) -> M:
    """Return the object if the one who asks may change it.

    Raises PermissionDenied if it may be seen only; Http404 if not even that.
    """
    found = visible_or_404(request, queryset, public_id)
    if not queryset.editable_by(request.user).filter(pk=found.pk).exists():
        raise PermissionDenied(NO_CHANGE)
    return found


def manageable_or_refused(request: HttpRequest, queryset: ScopedQuerySet[M], public_id: UUID) -> M:
    """Return the object if the one who asks may delete and share it; else as above."""
    found = visible_or_404(request, queryset, public_id)
    if not queryset.manageable_by(request.user).filter(pk=found.pk).exists():
        raise PermissionDenied(NO_MANAGING)
    return found


def only_requesters(request: HttpRequest) -> None:
    """Raise PermissionDenied if the one who asks may make nothing of their own."""
    if not is_requester(request.user):
        raise PermissionDenied("Only requesters may make this. An operator can make you one.")


def user_id(request: HttpRequest) -> int:
    """Return the key of the one who asks; the pages are behind a login, so there is one."""
    return int(request.user.pk or 0)
