"""Time that workers take, in minutes by the server's clock: in total, and page by page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotations.models import Assignment, Collection, Submission


@dataclass(frozen=True, slots=True)
class DurationQuartiles:
    """Quartiles of the minutes from consent to submission, over `people` workers.

    `low` and `high` are the first and third quartile. Quantiles between two values are interpolated
    linearly.
    """

    people: int
    low: float
    median: float
    high: float


def compute_duration_quartiles(done: QuerySet[Submission], n: int) -> DurationQuartiles | None:
    """Return the quartiles of the minutes that `n` submissions took; None for n = 0."""
    if not n:
        return None
    took = ExpressionWrapper(F("submitted_at") - F("started_at"), output_field=DurationField())
    positions = [(n - 1) * share for share in (0.25, 0.5, 0.75)]
    # Only the one or two rows around each quantile are read.
    around = {math.floor(position) + offset for position in positions for offset in (1, 2)}
    ranked = done.annotate(took=took).annotate(
        place=Window(RowNumber(), order_by=[F("took").asc(), F("pk").asc()])
    )
    rows = ranked.filter(place__in=sorted(around)).order_by("place").values_list("place", "took")
    minutes = {place - 1: took.total_seconds() / 60 for place, took in rows}
    low, median, high = (_interpolate_minutes(minutes, position) for position in positions)
    return DurationQuartiles(n, low, median, high)


def _interpolate_minutes(minutes: Mapping[int, float], position: float) -> float:
    """Return the minutes at a fractional rank, interpolated between the two nearest ranks."""
    first = math.floor(position)
    low = minutes[first]
    return low + (position - first) * (minutes.get(first + 1, low) - low)


def compute_question_minutes(collection: Collection, questions: Iterable[int]) -> dict[int, float]:
    """Return the median minutes on the page of each question, by question key; one query.

    From the first time the page was shown to the last time it was sent, over submitted
    submissions. All questions of a page share its time.
    """
    took = ExpressionWrapper(F("answered_at") - F("shown_at"), output_field=DurationField())
    # The database returns one or two rows of each question, however many workers there are.
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
    minutes: dict[int, list[float]] = {}
    for question, duration, twice, n in middle:
        # The median: the middle value of an odd number, the mean of the two of an even number.
        if n % 2 == 0 or twice == n + 1:
            minutes.setdefault(question, []).append(duration.total_seconds() / 60)
    return {question: _compute_mean(values) for question, values in minutes.items()}


def _compute_mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean of the values."""
    return sum(values) / len(values)
