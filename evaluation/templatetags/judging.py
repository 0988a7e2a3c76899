"""What waits for somebody's judgement, for lists of question sets."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.http import HttpRequest

from annotations.models import QuestionSet
from annotations.web.scope import get_user_id
from evaluation.runs.judging import Progress
from evaluation.runs.judging.inbox import load_inbox, sum_by_set

register = template.Library()


@register.simple_tag
def to_judge(request: HttpRequest, sets: Iterable[QuestionSet]) -> dict[int, Progress]:
    """Return how far the one who asks is with what they judge of some sets, by primary key.

    Sets of which nothing is asked are not in it. By two queries, however many sets there are.
    """
    shown = QuestionSet.objects.filter(pk__in=[one.pk for one in sets])
    return sum_by_set(load_inbox(shown, get_user_id(request)))


@register.filter
def of_set(found: dict[int, Progress], question_set: QuestionSet) -> Progress | None:
    """Return what `to_judge` found of a set; None for nothing."""
    return found.get(question_set.pk)
