"""What is written down about somebody or something, and who writes it."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotations.models.access import Anybody
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet


class Note(Record):
    """What somebody wrote down; each kind says about what, and has its `author`.

    Whatever it is about calls them `notes`, and says in its access where it answered.
    """

    author: models.ForeignKey[Any, Any]

    text = models.TextField(max_length=4000)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"note {self.public_id}"


def may_note(user: Anybody, thing: Any) -> bool:
    """Return whether a user who sees a worker or a model may write notes about it.

    The owner, and who may change a set that it answered in.
    """
    rows = type(thing).objects.filter(pk=thing.pk)
    if rows.editable_by(user).exists():
        return True
    sets = QuestionSet.objects.editable_by(user)
    return bool(rows.filter(**{f"{thing.access.answered_in}__in": sets}).exists())
