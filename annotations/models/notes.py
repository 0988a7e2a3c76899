"""Base class of notes about workers and models, and the right to write them."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotations.models.access import AnyUser
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet


class Note(Record):
    """Base class of notes; each subclass adds the subject, a worker or a model.

    The subject calls them `notes`, and its `access` states where it answered.
    """

    author: models.ForeignKey[Any, Any]

    text = models.TextField(max_length=4000)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"note {self.public_id}"


def may_write_notes(user: AnyUser, subject: Any, *, may_change: bool | None = None) -> bool:
    """Return whether a user who can see a worker or model may write notes about it.

    The owner may, and users who may edit a set in which it answered. Pass `may_change`, whether the
    user may change the worker or model, if it is known already.
    """
    rows = type(subject).objects.filter(pk=subject.pk)
    if may_change is None:
        may_change = rows.editable_by(user).exists()
    if may_change:
        return True
    sets = QuestionSet.objects.editable_by(user)
    return bool(rows.filter(**{f"{subject.access.answered_in}__in": sets}).exists())
