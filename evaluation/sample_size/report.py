"""Report of a crowd size trial, and answer plan of a graded run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import F

from evaluation.core.options import SITE
from evaluation.grading.results.report.questions import read_answered_questions
from evaluation.models import LLMScore, Run, WorkerGrade
from evaluation.runs.reports.lists import Table
from evaluation.sample_size.methods import SizePoint, SizeVerdict
from evaluation.sample_size.run.plan import (
    QUESTIONS_HEADER,
    WORKERS_HEADER,
    CurrentScore,
    PlanWithRows,
    build_answer_plan,
    build_question_rows,
    build_worker_rows,
)
from evaluation.sample_size.run.trial import (
    COLUMNS,
    CrowdSizeSummary,
    PlanTargets,
    build_trial_rows,
    build_verdict_message,
)


@dataclass(frozen=True)
class CrowdSizeReport:
    """Results of a crowd size trial: how many workers and questions are enough.

    Attributes
    ----------
    said : the verdicts by the main measure, as sentences.
    measure : the main measure; see `SizePoint`.
    judged, judged_workers : number of answers that experts graded, and of their workers.
    verdicts, points : verdicts by each measure, and the curve behind them.
    """

    renamed_keys: ClassVar = {"said": "messages"}

    said: list[str]
    measure: str
    answers: int
    workers: int
    questions: int
    judged: int
    judged_workers: int
    repetitions: int
    seed: int
    verdicts: list[SizeVerdict]
    points: list[SizePoint]

    def list_other_sentences(self) -> list[str]:
        """Return the verdicts by measures other than the main one, as sentences."""
        return [
            SITE.format_message(build_verdict_message(v))
            for v in self.verdicts
            if v.measure != self.measure
        ]


def build_crowd_size_report(run: Run) -> CrowdSizeReport:
    """Return the report of a finished crowd size trial."""
    summary = CrowdSizeSummary.from_json(run.summary)
    return CrowdSizeReport(
        [SITE.format_message(message) for message in summary.messages],
        summary.measure,
        summary.answers,
        summary.workers,
        summary.questions,
        summary.judged,
        summary.judged_workers,
        summary.repetitions,
        summary.seed,
        list(summary.verdicts),
        list(summary.points),
    )


def build_crowd_size_table(run: Run) -> Table:
    """Return the table of agreement by crowd size, one row per size and measure."""
    return Table(COLUMNS, build_trial_rows(CrowdSizeSummary.from_json(run.summary)))


def build_run_plan(run: Run, wishes: PlanTargets) -> PlanWithRows:
    """Return the answer plan of a finished grading run; keys are public ids.

    Workers and models without an interval are left out of the plan's scores.
    """
    questions = read_answered_questions(run)
    people = list(
        WorkerGrade.select_crowd(run)
        .filter(n_answers__gte=1)
        .order_by("pk")
        .values_list(
            *("worker__public_id", "worker__external_id", "n_answers", "raw_low", "raw_high"),
            "support",
        )
    )
    workers = [
        CurrentScore(key, name, n, high - low)
        for key, name, n, low, high, support in people
        if support and low is not None and high is not None
    ]
    models = [
        CurrentScore(key, name, n, high - low)
        for key, name, n, low, high in LLMScore.objects.filter(run=run, n__gte=1)
        # nulls_last, because PostgreSQL sorts NULL first in descending order and SQLite last.
        .order_by(F("score").desc(nulls_last=True), "pk")
        .values_list("model__public_id", "model__name", "n", "score_low", "score_high")
        if low is not None and high is not None
    ]
    return build_answer_plan(wishes, questions, workers, models, len(people))


PLAN_TABLES: dict[str, Callable[[PlanWithRows], Table]] = {
    "questions": lambda plan: Table(QUESTIONS_HEADER, build_question_rows(plan)),
    "workers": lambda plan: Table(WORKERS_HEADER, build_worker_rows(plan)),
}
"""Tables of a plan that can be downloaded, by name."""
