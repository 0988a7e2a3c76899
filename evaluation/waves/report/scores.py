"""Scores of workers and of language models in two waves.

Compare the workers who took part in both waves: test-retest agreement and change of scores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Avg, Count, F

from evaluation.core.stats.inference.correlations import RetestAgreement, compute_retest_agreement
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.models import (
    AnswerScore,
    LLMAnswerScore,
    LLMScore,
    Run,
    WorkerGrade,
    compute_text_hash,
)


@dataclass(frozen=True)
class PairedWorker:
    """A worker who took part in both waves, with the score in each.

    Attributes
    ----------
    before, after : mean leave-one-out scores over the questions of both waves; None without any.
    supported : whether the worker has enough answers in both runs for a statement.
    """

    worker: UUID
    name: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    supported: bool

    @property
    def change(self) -> float | None:
        """Later minus earlier score; None if one is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class WorkerComparison:
    """Workers of two waves and their test-retest agreement.

    Attributes
    ----------
    workers : workers of both waves, greatest change first; those without both scores last.
    retest : agreement over the workers with enough answers in both.
    only_before, only_after : number of workers of one wave only.
    n_too_few : workers of both waves with too few answers in one of them.
    """

    workers: list[PairedWorker]
    retest: RetestAgreement
    only_before: int
    only_after: int
    n_too_few: int


def compare_workers(before: Run, after: Run, common: Collection[str]) -> WorkerComparison:
    """Compare the workers of two runs on their common questions; four queries."""
    rows = [
        {
            row["worker"]: row
            for row in WorkerGrade.objects.filter(run=run).values(
                "worker", "support", name=F("worker__external_id"), public=F("worker__public_id")
            )
        }
        for run in (before, after)
    ]
    scores = [_load_worker_means(run, common) for run in (before, after)]
    none = (None, 0)
    workers = []
    # A worker is the same row in both waves, whatever the question sets.
    for worker in rows[0].keys() & rows[1].keys():
        score_before, score_after = scores[0].get(worker, none), scores[1].get(worker, none)
        row = rows[1][worker]
        workers.append(
            PairedWorker(
                worker=row["public"],
                name=row["name"],
                before=score_before[0],
                after=score_after[0],
                n_before=score_before[1],
                n_after=score_after[1],
                supported=rows[0][worker]["support"] and row["support"],
            )
        )
    workers.sort(
        key=lambda worker_row: (
            worker_row.change is None,
            -abs(worker_row.change or 0.0),
            worker_row.name,
        )
    )
    supported = [
        worker_row
        for worker_row in workers
        if worker_row.supported and worker_row.change is not None
    ]
    columns = (
        [worker_row.before for worker_row in supported],
        [worker_row.after for worker_row in supported],
    )
    return WorkerComparison(
        workers=workers,
        retest=compute_retest_agreement(
            *(np.array(column, dtype=np.float64) for column in columns)
        ),
        only_before=len(rows[0].keys() - rows[1].keys()),
        only_after=len(rows[1].keys() - rows[0].keys()),
        n_too_few=len(workers) - len(supported),
    )


def _load_worker_means(run: Run, common: Collection[str]) -> dict[int, tuple[float, int]]:
    """Return each worker's mean score and number of scores, by worker key; two queries."""
    rows = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    # Without other questions the filter is a costly join that changes nothing.
    if run.version.questions.graded().exclude(external_id__in=common).exists():
        rows = rows.filter(response__question__external_id__in=common)
    means = (
        rows.order_by()
        .values(worker=F("response__submission__worker"))
        .annotate(mean=Avg("score_leave_one_out"), n=Count("pk"))
    )
    return {row["worker"]: (row["mean"], row["n"]) for row in means}


@dataclass(frozen=True)
class WaveModel:
    """A model's score and rank in the later wave, and in the earlier one if scored there.

    Attributes
    ----------
    before, after : scores with their 95% intervals. rank_before, rank_after : ranks from 1 among
        all models of a wave; ties share a rank.
    n_answers : replies scored in the later wave. n_same : those with the same text in the earlier
        wave. If all are the same, only the crowd changed.
    """

    model: UUID
    name: str
    before: Estimate | None
    after: Estimate
    rank_before: int | None
    rank_after: int | None
    n_same: int
    n_answers: int

    @property
    def change(self) -> float | None:
        """Later minus earlier score; None if one is missing."""
        if self.before is None or self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value


@dataclass(frozen=True)
class ModelComparison:
    """Models of the later wave, best first, compared with the earlier wave.

    Attributes
    ----------
    only_before : names of models that only the earlier wave scored. n_both : models with a score in
        both. rank_correlation : Spearman's rho of their scores; None below 3 models.
    of_common : whether scores and ranks use the common questions only. So they do if a wave has
        other questions, too; scores on different questions are not comparable.
    """

    rows: list[WaveModel]
    only_before: list[str]
    n_both: int
    rank_correlation: float | None
    of_common: bool = False


def compare_models(
    before: Run, after: Run, common: Collection[str], *, whole: bool
) -> ModelComparison:
    """Compare the models of two waves by score, rank and replies; four queries.

    `whole` : both waves have the `common` questions and no others, so stored scores can be used.
    """
    answers = _load_model_answers(before, common), _load_model_answers(after, common)
    rows_before, rows_after = (
        _load_model_scores(run)
        if whole
        else _restrict_scores_to_common(_load_model_scores(run), answers_found)
        for run, answers_found in zip((before, after), answers, strict=True)
    )
    rows = []
    for key, row in rows_after.items():
        row_before = rows_before.get(key)
        own_answers = answers[1].get(key, {})
        rows.append(
            WaveModel(
                model=row["public"],
                name=row["name"],
                before=_build_estimate(row_before) if row_before else None,
                after=_build_estimate(row),
                rank_before=row_before["rank"] if row_before else None,
                rank_after=row["rank"],
                n_same=_count_unchanged_answers(answers[0].get(key, {}), own_answers),
                n_answers=len(own_answers),
            )
        )
    with_change = [row for row in rows if row.change is not None]
    earlier = np.array([row.before.value for row in with_change if row.before], dtype=np.float64)
    later = np.array([row.after.value for row in with_change], dtype=np.float64)
    return ModelComparison(
        rows=rows,
        only_before=[row["name"] for key, row in rows_before.items() if key not in rows_after],
        n_both=len(with_change),
        # Of two models it is 1 or -1, whatever happened.
        rank_correlation=spearman(earlier, later) if len(with_change) >= 3 else None,
        of_common=not whole,
    )


def _load_model_scores(run: Run) -> dict[int, dict[str, Any]]:
    """Return score, interval, rank and name of each model by key, best first; one query."""
    rows = (
        LLMScore.objects.filter(run=run)
        .order_by(F("score").desc(nulls_last=True), "model__name")
        .values(
            *("model_id", "score", "score_low", "score_high", "rank"),
            name=F("model__name"),
            public=F("model__public_id"),
        )
    )
    return {row["model_id"]: dict(row) for row in rows}


def _build_estimate(row: dict[str, Any]) -> Estimate:
    """Return the score of a row with its 95% interval."""
    return Estimate(row["score"], row["score_low"], row["score_high"])


@dataclass(frozen=True, slots=True)
class _ModelAnswer:
    """A scored answer of a model: a hash of its text, and its score."""

    words: bytes
    score: float | None


def _load_model_answers(run: Run, common: Collection[str]) -> dict[int, dict[str, _ModelAnswer]]:
    """Return each model's scored replies to the common questions, by question id; one query.

    Texts are kept as hashes only: a run may have many long replies.
    """
    rows = LLMAnswerScore.objects.filter(run=run).order_by()
    answers: dict[int, dict[str, _ModelAnswer]] = {}
    for model, question, status, text, score in rows.values_list(
        *("llm_response__model_id", "llm_response__question__external_id"),
        *("llm_response__status", "llm_response__text", "score"),
    ).iterator():
        if question in common:
            text_key = compute_text_hash(f"{status} {text}")
            answers.setdefault(model, {})[question] = _ModelAnswer(text_key, score)
    return answers


def _count_unchanged_answers(
    before: Mapping[str, _ModelAnswer], after: Mapping[str, _ModelAnswer]
) -> int:
    """Return the number of later replies with the same text and status as the earlier one."""
    return sum(
        question in before and before[question].words == answer.words
        for question, answer in after.items()
    )


def _restrict_scores_to_common(
    rows: dict[int, dict[str, Any]], answers: Mapping[int, Mapping[str, _ModelAnswer]]
) -> dict[int, dict[str, Any]]:
    """Recompute the rows' scores, intervals and ranks over the common answers; return the rows.

    The score is the mean over questions; the 95% interval is Student's t over questions. The rows
    are changed in place and returned best first; models without a score come last.
    """
    for model, row in rows.items():
        scores = [
            answer.score for answer in answers.get(model, {}).values() if answer.score is not None
        ]
        n = len(scores)
        mean = float(np.mean(scores)) if n else np.nan
        # Replies to one question vary less than questions do, so questions are the sample.
        error = float(np.std(scores, ddof=1) / np.sqrt(n)) if n >= 2 else np.nan
        interval = compute_t_interval(mean, error, n)[0]
        row |= {
            "score": mean if n else None,
            "score_low": interval.low,
            "score_high": interval.high,
        }
    known = {model: row["score"] for model, row in rows.items() if row["score"] is not None}
    for model, row in rows.items():
        # Competition ranking: ties share the better rank.
        better = sum(score > row["score"] for score in known.values()) if model in known else 0
        row["rank"] = better + 1 if model in known else None
    best_first = sorted(rows, key=lambda model: (model not in known, -known.get(model, 0.0)))
    return {model: rows[model] for model in best_first}
