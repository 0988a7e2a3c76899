"""Load the raw scores or question contrasts of a run's workers, with their intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
from django.db.models import BooleanField, Count, IntegerField, OuterRef, QuerySet, StdDev, Value

from annotations.models import QuestionSetVersion
from annotations.web.numbers import build_group_count
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.models import AnswerScore, Run, ScoreRule, WorkerGrade
from evaluation.models.runs import GRADING, choose_official_or_newest

RAW, CONTRAST = ScoreRule.Score.RAW.value, ScoreRule.Score.CONTRAST.value
SCORES: Mapping[str, str] = dict(ScoreRule.Score.choices)
"""Labels of the scores by which workers can be paid, invited and admitted."""


@dataclass(frozen=True, slots=True)
class RawScore:
    """A worker's mean similarity to the exemplary answers of the others, with its interval.

    Or the worker's question contrast, if the caller requests that score.

    Attributes
    ----------
    value : the score; None if no answer could be compared.
    low, high : closed-form 95% interval over the worker's answers, mean +- t sd / sqrt(n); None
        below two answers. Of a question contrast the run's own interval.
    n_answers : number of graded answers. supported : whether these suffice for a rank.
    contradicted, fact_questions : number of the worker's facts that contradict the crowd, and of
        questions with facts; None in runs without facts. They are shown, but used in no rule.
    """

    value: float | None
    low: float | None
    high: float | None
    n_answers: int
    supported: bool
    rank_low: int | None = None
    contradicted: int | None = None
    fact_questions: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """Distribution of workers' raw scores, for a user who must choose a minimum score.

    Attributes
    ----------
    n : number of workers with a score and enough answers for a rank. lowest, best : lowest and
        highest score. half, fifth : score that at least a half, or a fifth, of them reaches.
    """

    n: int
    lowest: float
    half: float
    fifth: float
    best: float


def compute_score_distribution(scores: Mapping[int, RawScore]) -> ScoreDistribution | None:
    """Return the score distribution of workers with enough answers; None without any."""
    known = sorted(
        score.value for score in scores.values() if score.supported and score.value is not None
    )
    if not known:
        return None
    n = len(known)
    # ceil, so that at least the stated share of workers reaches the score, also with ties.
    return ScoreDistribution(n, known[0], known[n - ceil(n / 2)], known[n - ceil(n / 5)], known[-1])


def find_grading_run(version: QuestionSetVersion) -> Run | None:
    """Return the grading run that represents a version: the official one, else the latest.

    None without a finished one. The run is annotated with `n_ranked`, its number of ranked workers.
    """
    done = Run.objects.filter(version=version, kind=GRADING, state=Run.State.DONE)
    ranked = WorkerGrade.objects.filter(run=OuterRef("pk"), rank__isnull=False)
    done = done.annotate(n_ranked=build_group_count(ranked, "run"))
    return choose_official_or_newest(done.select_related("version"))


def load_worker_scores(
    run: Run | None, workers: Collection[int] | None = None, score: str = RAW
) -> Mapping[int, RawScore]:
    """Return workers' raw scores or question contrasts in a run, by worker key; one query.

    `workers` limits them to these; None returns those of all. `score` is a key of `SCORES`.
    """
    if run is None:
        return {}
    grades = WorkerGrade.objects.filter(run=run)
    if score == CONTRAST:
        return _read_contrasts(grades if workers is None else grades.filter(worker__in=workers))
    answers = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    if workers is not None:
        grades = grades.filter(worker__in=workers)
        answers = answers.filter(response__submission__worker__in=workers)
    # Grades with 0 in front, and how the answers' scores spread, with how many these are.
    # One query by UNION ALL, whose halves need the same columns in number and type.
    nothing = Value(None, IntegerField())
    graded = grades.order_by().values_list(
        *(Value(0), "worker", "leave_one_out", "n_answers"),
        *("support", "rank_low", "fact_contradicted", "fact_questions"),
    )
    spreads = (
        answers.order_by()
        .values("response__submission__worker")
        .annotate(n=Count("pk"), sd=StdDev("score_leave_one_out"))
        .values_list(
            *("n", "response__submission__worker", "sd", nothing),
            *(Value(None, BooleanField()), nothing, nothing, nothing),
        )
    )
    rows, spread = [], {}
    for n_scored, worker, number, *rest in graded.union(spreads, all=True):
        if n_scored:
            spread[worker] = n_scored, number
        else:
            rows.append((worker, number, *rest))
    value = np.array([np.nan if row[1] is None else row[1] for row in rows], dtype=float)
    n = np.array([spread.get(row[0], (0, None))[0] for row in rows], dtype=float)
    sd = np.array([spread.get(row[0], (0, None))[1] or 0.0 for row in rows], dtype=float)
    # Of the population, over sqrt(n - 1): SQLite's of a sample fails for one answer.
    error = np.where(n >= 2, sd / np.sqrt(np.maximum(n - 1, 1)), np.nan)
    # No rows, no interval: `compute_t_interval` takes a number as one row, no rows as an error.
    interval = compute_t_interval(value, error, n) if rows else None
    result = {}
    for index, row in enumerate(rows):
        one = interval[index] if interval is not None else None
        result[row[0]] = RawScore(
            *(row[1], one.low if one else None, one.high if one else None, row[2], row[3]),
            *row[4:],
        )
    return result


def _read_contrasts(grades: QuerySet[WorkerGrade]) -> dict[int, RawScore]:
    """Return the question contrasts in these grades, by worker key."""
    numbers = ("contrast", "contrast_low", "contrast_high", "n_answers")
    further = ("support", "rank_low", "fact_contradicted", "fact_questions")
    rows = grades.order_by().values_list("worker", *numbers, *further)
    return {worker: RawScore(*cells) for worker, *cells in rows}
