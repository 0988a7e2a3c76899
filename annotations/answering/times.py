"""How long people take, by the server's clock: from consent to the end, and page by page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotations.models import Assignment, Collection, Submission


@dataclass(frozen=True, slots=True)
class Minutes:
    """Minutes from consent to the end of `people` who handed in: the middle one and quartiles.

    Half of them lie between `low` and `high`. A quantile between two people is interpolated.
    """

    people: int
    low: float
    median: float
    high: float


def minutes_taken(done: QuerySet[Submission], n: int) -> Minutes | None:
    """Return the times of those who handed in, `n` of them; None for nobody. Three queries."""
    if not n:
        return None
    took = ExpressionWrapper(F("submitted_at") - F("started_at"), output_field=DurationField())
    rows = done.annotate(took=took).order_by("took").values_list("took", flat=True)
    low, median, high = (_quantile(rows, n, share) for share in (0.25, 0.5, 0.75))
    return Minutes(n, low, median, high)


def _quantile(rows: QuerySet[Any, timedelta], n: int, share: float) -> float:
    """Return a quantile in minutes: only the one or two rows around it are read."""
    place = (n - 1) * share
    first = math.floor(place)
    around = [took.total_seconds() / 60 for took in rows[first : first + 2]]
    if len(around) < 2:
        return around[0]
    return around[0] + (place - first) * (around[1] - around[0])


def minutes_on_questions(collection: Collection, questions: Iterable[int]) -> dict[int, float]:
    """Return the median minutes that the page of a question took, by key; one query.

    From when the page was first shown to when it was last handed in, of those who are done; all
    questions of a page share its time.
    """
    took = ExpressionWrapper(F("answered_at") - F("shown_at"), output_field=DurationField())
    middle = (
        Assignment.objects.filter(
            question__in=list(questions),
            submission__version=collection.version_id,
            submission__state=Submission.State.SUBMITTED,
            submission__source=Submission.Source.COLLECTED,
            shown_at__isnull=False,
            answered_at__isnull=False,
        )
        .annotate(took=took)
        .annotate(
            place=Window(RowNumber(), partition_by=F("question"), order_by=F("took").asc()),
            n=Window(Count("pk"), partition_by=F("question")),
        )
        .annotate(twice=F("place") * 2)
        .filter(Q(twice__gte=F("n"), twice__lte=F("n") + 2))
        .order_by("question")
        .values_list("question", "took", "twice", "n")
    )
    found: dict[int, list[float]] = {}
    for question, lasted, twice, n in middle:
        # Of an odd number the one in the middle, of an even number the two around it.
        if n % 2 == 0 or twice == n + 1:
            found.setdefault(question, []).append(lasted.total_seconds() / 60)
    return {question: _mean(values) for question, values in found.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
