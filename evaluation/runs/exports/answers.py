"""Export workers' answers with times and flags and, if a run is given, scores and grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, F, FilteredRelation, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Length

from annotations.exchange.facts import (
    CONTRAST_OF_RUN,
    FACTS,
    OF_RUN,
    READ_IN,
    SIGNALS,
    format_object,
    format_seconds,
    format_time,
)
from annotations.exchange.header import OF_ANSWERS
from annotations.models import GRADED, QuestionSetVersion, Response
from annotations.models.access import AnyUser
from evaluation.models import Run, WorkerGrade
from evaluation.runs.exports.pseudonyms import pseudonyms as pseudonyms_of
from evaluation.runs.exports.table import AT_ONCE, Export, Row, seen_by

FORMAT = 1
"""What stands in the column that marks the file: the version of these columns."""

YES = "yes"

OF_SUBMISSION = ("state", "started_at", "last_seen_at", "submitted_at")
OF_WORKER = (
    *("grade", "grade_low", "grade_high", "raw", "raw_low", "raw_high"),
    *("leave_one_out", "weight", "n_answers", "support", "rank", "contrast"),
)
Grades = dict[int, tuple[object, ...]]
UNGRADED = (None,) * len(OF_WORKER)


def answers(
    version: QuestionSetVersion,
    run: Run | None = None,
    *,
    pseudonyms: bool = False,
    user: AnyUser | None = None,
    checks: bool = False,
) -> Export:
    """Return the table of all submitted answers of a version, one row each, in order of arrival.

    Answers to practice and attention questions are in no run, so that they stand in a file of their
    own: with `checks` these are written, without it all others.

    With a run, its scores of each answer and its grades of the worker stand beside them, empty
    for what did not go into it. With `pseudonyms` nobody is named: ids are replaced, and cells
    that were kept aside (which may hold ids of other panels) are left out.
    """
    rows = seen_by(user, Response.objects.all()).filter(
        submission__version=version, state=Response.State.SUBMITTED
    )
    if checks:
        rows = rows.exclude(question__role__in=GRADED)
    elif version.questions.exclude(role__in=GRADED).exists():
        rows = rows.filter(question__role__in=GRADED)
    size = rows.aggregate(n=Count("pk"), length=Coalesce(Sum(Length("text")), Value(0)))
    header = ("worker", "question", "answer", *FACTS, *(OF_RUN if run else ()), OF_ANSWERS)
    header += SIGNALS + READ_IN + (CONTRAST_OF_RUN if run else ())
    name = pseudonyms_of(version.question_set) if pseudonyms else None

    def read() -> Iterator[Row]:
        grades = {} if run is None else _grades(run)
        for row in _values(rows, run).iterator(AT_ONCE):
            worker, panel, question, text, status, *facts, extra, worker_key = row[:15]
            first_draft, signals, *counts, language = row[15 : 16 + len(SIGNALS)]
            rejected, started, submitted, seconds, state, *times = facts
            graded: tuple[object, ...] = ()
            contrasts: tuple[object, ...] = ()
            if run is not None:
                *of_worker, contrast = grades.get(worker_key, UNGRADED)
                graded = (str(run.public_id), *row[-3:-1], *of_worker)
                contrasts = (row[-1], contrast)
            yield (
                name(panel, worker) if name else worker,
                question,
                text,
                panel,
                status,
                YES if rejected else None,
                format_time(started),
                format_time(submitted),
                format_seconds(seconds),
                state,
                *map(format_time, times),
                None if name else format_object(extra),
                *graded,
                FORMAT,
                format_time(first_draft),
                signals or None,
                *counts,
                language or None,
                *contrasts,
            )

    return Export(
        "checks" if checks else "answers", version, header, read, size["n"], size["length"]
    )


def _values(rows: QuerySet[Response], run: Run | None) -> QuerySet[Response, Any]:
    columns = [
        *("submission__worker__external_id", "submission__worker__panel"),
        *("question__external_id", "text", "status"),
        *("rejected", "started_at", "submitted_at", "work_seconds"),
        *(f"submission__{name}" for name in OF_SUBMISSION),
        *("extra", "submission__worker_id"),
        *SIGNALS,
        *READ_IN,
    ]
    if run is not None:
        rows = rows.annotate(of_run=FilteredRelation("scores", condition=Q(scores__run=run)))
        columns += ["of_run__score", "of_run__score_leave_one_out", "of_run__contrast"]
    return rows.order_by("pk").values_list(*map(F, columns))


def _grades(run: Run) -> Grades:
    rows = WorkerGrade.objects.filter(run=run).values_list("worker_id", *OF_WORKER)
    support = OF_WORKER.index("support")
    return {
        worker: (
            *values[:support],
            "ok" if values[support] else "too_few",
            *values[support + 1 :],
        )
        for worker, *values in rows.iterator(AT_ONCE)
    }
