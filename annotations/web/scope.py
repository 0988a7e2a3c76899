"""Access checks of pages and API: look up an object by URL; invisible ones count as missing.

A refused action raises `RefusedError`, which pages and the REST API present in their own form.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotations.models import QuestionSet, ScopedQuerySet, is_requester, rights
from annotations.models.access import AnyUser

M = TypeVar("M", bound=Model)

MESSAGES = {
    "change": "You may read it, but not change it.",
    "manage": "Only its owner may do this.",
    "blind": "Your other role shows you the votes on these problems, and validators must not "
    "see them. Ask the owner of the question set to remove that role.",
    "archived": "It is archived: restore it before anything is started.",
    "undoing": "An import is being taken out of this question set. Try again in a minute.",
    "make": "Only requesters may make this. An operator can make you one.",
}
"""Why an action is refused, by code."""


class RefusedError(PermissionDenied):
    """Error: the user may see an object but not do this; `code` is a key of `MESSAGES`."""

    def __init__(
        self, code: Literal["change", "manage", "make", "blind", "archived", "undoing"]
    ) -> None:
        super().__init__(MESSAGES[code])
        self.code = code


class UserRequest(Protocol):
    """Protocol of requests with a user: Django's and those of its REST framework."""

    @property
    def user(self) -> AnyUser:
        """User who sent the request."""


def select_visible(
    request: UserRequest, rows: QuerySet[M, M], *, of_one_row: bool = False
) -> QuerySet[M, M]:
    """Return the rows that the user may see; the model must have access rules.

    `of_one_row` states that one of them is looked up, which takes one query.
    """
    return _require_scoped_queryset(rows).visible_to(request.user, of_one_row=of_one_row)


def get_visible_or_404(request: UserRequest, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object with this public id; raise `Http404` if the user may not see it."""
    rows_to_see = _require_scoped_queryset(rows).visible_to(request.user, of_one_row=True)
    return get_object_or_404(rows_to_see, public_id=public_id)


def get_editable(request: UserRequest, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object with this public id; raise `RefusedError` if it is read-only.

    Raises Http404 if the user may not see it, `RefusedError` if the user may only see it.
    """
    rows_to_see = _require_scoped_queryset(rows).visible_to(request.user, of_one_row=True)
    # One query finds both whether the user sees the row (404) and may change it (403).
    row: Any = get_object_or_404(
        rows_to_see.annotate_right_to_change(request.user), public_id=public_id
    )
    if not row.may_change:
        raise RefusedError("change")
    return row


def get_manageable(request: UserRequest, rows: QuerySet[M, M], public_id: UUID) -> M:
    """Return the object with this public id; raise `RefusedError` unless the user manages it.

    Raises Http404 if the user may not see it, `RefusedError` if the user may only see it.
    """
    row = get_visible_or_404(request, rows, public_id)
    if not _require_scoped_queryset(rows).manageable_by(request.user).filter(pk=row.pk).exists():
        raise RefusedError("manage")
    return row


def get_set_with_answers(request: UserRequest, public_id: UUID) -> QuestionSet:
    """Return a question set whose answers the user may see; else raise `Http404`."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), public_id)
    # 404 as for an unknown set: experts judge blindly, and learn nothing of the answers.
    if not rights(request.user, question_set).answers:
        raise Http404
    return question_set


def get_editable_set_with_answers(request: UserRequest, public_id: UUID) -> QuestionSet:
    """Return a question set that the user may edit, with its answers; else raise an error.

    Raises Http404 as `get_set_with_answers` does, `RefusedError` if the user may only see it.
    """
    question_set = get_set_with_answers(request, public_id)
    if not rights(request.user, question_set).edit:
        raise RefusedError("change")
    return question_set


def require_requester(request: UserRequest) -> int:
    """Return the user's key; raise `RefusedError` if the user may not create question sets."""
    if not is_requester(request.user):
        raise RefusedError("make")
    return get_user_id(request)


def get_user_id(request: UserRequest) -> int:
    """Return the primary key of the signed-in user."""
    return int(request.user.pk or 0)


def _require_scoped_queryset(rows: QuerySet[M, M]) -> ScopedQuerySet[M]:
    """Return the queryset unchanged; its model must have access rules (assertion)."""
    assert isinstance(rows, ScopedQuerySet)
    return rows
