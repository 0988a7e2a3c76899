"""The only way from an address to an object: seeing and changing are asked for here."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from annotations.models import QuestionSet, ScopedQuerySet, is_requester, rights

M = TypeVar("M", bound=Model)


def visible(request: Request, queryset: QuerySet[M, M]) -> QuerySet[M, M]:
    """Return the rows, of a model that is scoped, that the one who asks may see."""
    assert isinstance(queryset, ScopedQuerySet)
    rows: QuerySet[M, M] = queryset.visible_to(request.user)
    return rows


def visible_or_404(request: Request, queryset: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object of that id if the one who asks may see it; else it does not exist."""
    return get_object_or_404(visible(request, queryset), public_id=public_id)


def editable(request: Request, queryset: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object if the one who asks may change it.

    Raises Http404 where it may not even be seen, PermissionDenied where it may only be seen.
    """
    found = visible_or_404(request, queryset, public_id)
    assert isinstance(queryset, ScopedQuerySet)
    if not queryset.editable_by(request.user).filter(pk=found.pk).exists():
        raise PermissionDenied("You may see this, but not change it.")
    return found


def answered_set(request: Request, public_id: UUID) -> QuestionSet:
    """Return the set if the one who asks may see what came back; Http404 for experts too."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), public_id)
    if not rights(request.user, question_set).answers:
        raise Http404
    return question_set


def creating(request: Request) -> int:
    """Return the key of the one who asks, who may make things of their own.

    Raises PermissionDenied for a user who is no requester.
    """
    if not is_requester(request.user):
        raise PermissionDenied("Only requesters make things of their own.")
    return int(request.user.pk or 0)
