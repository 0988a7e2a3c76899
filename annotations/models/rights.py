"""What one user may do with one question set, for pages that show or hide by it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, Q

from annotations.models.access import (
    VIEWERS,
    VIEWERS_AND_EXPERTS,
    Anybody,
    editable_sets,
    is_operator,
    is_requester,
    owned_sets,
    visible_sets,
)
from annotations.models.question_sets import QuestionSet


@dataclass(frozen=True, slots=True)
class Rights:
    """`see`: what was asked; `answers`: what came back, runs and results; `manage`: sharing it."""

    see: bool = False
    answers: bool = False
    edit: bool = False
    manage: bool = False


def rights(user: Anybody, question_set: QuestionSet) -> Rights:
    """Return what the user may do with the set, by one query at most."""
    if not user.is_authenticated or not user.is_active:
        return Rights()
    if is_operator(user):
        return Rights(see=True, answers=True, edit=True, manage=True)
    found = (
        QuestionSet.objects.filter(pk=question_set.pk)
        .values_list(
            _holds(visible_sets(user, VIEWERS_AND_EXPERTS)),
            _holds(visible_sets(user, VIEWERS)),
            _holds(editable_sets(user)),
            _holds(owned_sets(user)),
        )
        .first()
    )
    see, answers, edit, manage = (bool(held) for held in found or (0, 0, 0, 0))
    works = is_requester(user)
    return Rights(see=see, answers=answers, edit=edit and works, manage=manage and works)


def _holds(condition: Q) -> ExpressionWrapper[Q]:
    return ExpressionWrapper(condition, output_field=BooleanField())
