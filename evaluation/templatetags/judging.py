"""Template filters for an expert's progress in lists of question sets."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.http import HttpRequest

from annotations.models import QuestionSet
from annotations.web.scope import get_user_id
from evaluation.runs.judging import Progress
from evaluation.runs.judging.tasks import load_inbox, sum_by_set

register = template.Library()


@register.simple_tag
def to_judge(request: HttpRequest, sets: Iterable[QuestionSet]) -> dict[int, Progress]:
    """Return the user's progress with judging tasks in some sets, by set key.

    Sets of which nothing is asked are not in it. By two queries, however many sets there are.
    """
    shown = QuestionSet.objects.filter(pk__in=[one.pk for one in sets])
    return sum_by_set(load_inbox(shown, get_user_id(request)))


@register.filter
def of_set(found: dict[int, Progress], question_set: QuestionSet) -> Progress | None:
    """Return a set's progress from the result of `to_judge`; None without tasks."""
    return found.get(question_set.pk)
