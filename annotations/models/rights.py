"""Rights of one user on one question set, which decide what pages show."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, Q

from annotations.models import ties
from annotations.models.access import (
    VIEWERS,
    VIEWERS_AND_EXPERTS,
    AnyUser,
    is_operator,
    is_requester,
    match_editable_sets,
    match_owned_sets,
    match_visible_sets,
)
from annotations.models.question_sets import QuestionSet


@dataclass(frozen=True, slots=True)
class Rights:
    """A user's rights on a question set: to see it, see answers and runs, edit it, manage it."""

    see: bool = False
    answers: bool = False
    edit: bool = False
    manage: bool = False


def rights(user: AnyUser, question_set: QuestionSet) -> Rights:
    """Return a user's rights on a question set, with at most one query.

    Inside `ties.cache_queries` there is no query: the cached teams and shares are compared with
    those of the set.
    """
    if not user.is_authenticated or not user.is_active:
        return Rights()
    if is_operator(user):
        return Rights(see=True, answers=True, edit=True, manage=True)
    may_work = is_requester(user)
    cached = _find_cached_rights(user, question_set, may_work=may_work)
    if cached is not None:
        return cached
    row = (
        QuestionSet.objects.filter(pk=question_set.pk)
        .values_list(
            _build_annotation(match_visible_sets(user, VIEWERS_AND_EXPERTS)),
            _build_annotation(match_visible_sets(user, VIEWERS)),
            _build_annotation(match_editable_sets(user)),
            _build_annotation(match_owned_sets(user)),
        )
        .first()
    )
    see, answers, edit, manage = (bool(cached) for cached in row or (0, 0, 0, 0))
    return Rights(see=see, answers=answers, edit=edit and may_work, manage=manage and may_work)


def _find_cached_rights(
    user: AnyUser, question_set: QuestionSet, *, may_work: bool
) -> Rights | None:
    """Return the user's rights from the cached teams and shares; None if they are not cached."""
    key = int(user.pk or 0)
    # Lists if they are cached; outside `cache_queries` these are subqueries, not run here.
    teams = ties.load_team_keys(key)
    visible, readable = (
        ties.load_shared_set_keys(key, roles) for roles in (VIEWERS_AND_EXPERTS, VIEWERS)
    )
    if not (isinstance(teams, list) and isinstance(visible, list) and isinstance(readable, list)):
        return None
    manages = question_set.owner_id == key
    edits = manages or (may_work and question_set.team_id in teams)
    return Rights(
        see=edits or question_set.pk in visible,
        answers=edits or question_set.pk in readable,
        edit=edits and may_work,
        manage=manages and may_work,
    )


def _build_annotation(condition: Q) -> ExpressionWrapper[Q]:
    """Return a query condition as an annotation that is true or false."""
    return ExpressionWrapper(condition, output_field=BooleanField())
