"""The only way from an address to an object: who may not see it does not find it.

What is refused is a `RefusedError`; each door says it in its own words and its own form.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotations.models import QuestionSet, ScopedQuerySet, is_requester, rights
from annotations.models.access import Anybody

M = TypeVar("M", bound=Model)

WORDS = {
    "change": "You may look at it, but not change it.",
    "manage": "Only its owner may do this.",
    "blind": "You see by another role what others say of these problems, and who checks must not. "
    "Ask the owner of the question set to take that role away.",
    "archived": "It is archived: restore it before anything is started.",
    "undoing": "An import is being taken out of this question set. Try again in a minute.",
    "make": "Only requesters may make this. An operator can make you one.",
}


class RefusedError(PermissionDenied):
    """What somebody may see, or knows of, but may not do; `code` is a key of `WORDS`."""

    def __init__(
        self, code: Literal["change", "manage", "make", "blind", "archived", "undoing"]
    ) -> None:
        super().__init__(WORDS[code])
        self.code = code


class Asked(Protocol):
    """A request, of Django or of its REST framework."""

    @property
    def user(self) -> Anybody:
        """Who asks."""


def visible(request: Asked, rows: QuerySet[M, M]) -> QuerySet[M, M]:
    """Return the rows, of a model that is scoped, that the one who asks may see."""
    return _scoped(rows).visible_to(request.user)


def visible_or_404(request: Asked, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object of that id if the one who asks may see it; else it does not exist."""
    return get_object_or_404(visible(request, rows), public_id=public_id)


def editable(request: Asked, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object if the one who asks may change it.

    Raises Http404 where it may not even be seen, `RefusedError` where it may only be seen.
    """
    found = visible_or_404(request, rows, public_id)
    if not _scoped(rows).editable_by(request.user).filter(pk=found.pk).exists():
        raise RefusedError("change")
    return found


def manageable(request: Asked, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object if the one who asks may delete and share it; else as `editable`."""
    found = visible_or_404(request, rows, public_id)
    if not _scoped(rows).manageable_by(request.user).filter(pk=found.pk).exists():
        raise RefusedError("manage")
    return found


def answered_set(request: Asked, public_id: UUID) -> QuestionSet:
    """Return the set if the one who asks may see what came back; Http404 for experts too."""
    question_set = visible_or_404(request, QuestionSet.objects.all(), public_id)
    if not rights(request.user, question_set).answers:
        raise Http404
    return question_set


def maker(request: Asked) -> int:
    """Return the key of the one who asks, who may make things of their own; else `RefusedError`."""
    if not is_requester(request.user):
        raise RefusedError("make")
    return user_id(request)


def user_id(request: Asked) -> int:
    """Return the key of the one who asks; what calls this is behind a login, so there is one."""
    return int(request.user.pk or 0)


def _scoped(rows: QuerySet[M, M]) -> ScopedQuerySet[M]:
    assert isinstance(rows, ScopedQuerySet)
    return rows
