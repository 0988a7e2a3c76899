"""Report how many answers a question needs, by error bounds and a run's own similarity."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg, F, Max, Min, Sum

from evaluation.core.stats.planner import (
    ErrorBounds,
    WorkerRequirement,
    compute_error_bounds,
    find_workers_needed,
)
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.flow.forecast import (
    DELTA,
    ConsensusErrorForecast,
    build_typical_answer,
    forecast_consensus_error,
)
from evaluation.runs.reports.about import RunAbout, build_run_about

TARGETS = (0.1, 0.05, 0.02, 0.01)
NO_PLAN = {
    "distances": "The formulas are for similarities from 0 to 1; this run compares by distance.",
    "no_scores": "It needs questions with at least two answers, and a run that recorded their mean "
    "scores: grade again if this one is older.",
    "nothing_in_common": "The answers have nothing in common, so more of them would not help.",
}
"""Why there is no plan, by code."""
TABLE = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100)


@dataclass(frozen=True)
class PlannerReport:
    """Expected error of the consensus if more workers answered than in the run.

    Attributes
    ----------
    left_out : mean leave-one-out score of the answers. answers : mean number of answers to a
        question with two or more; fewest, most : their range.
    similarity : S, the similarity of an answer to the truth, estimated from these two; None, with a
        `reason` in words, if the formulas do not hold.
    now, more : expected errors with the present number of answers, and with ten more.
    curve : errors for the chart; table : errors for some numbers of workers, the run's included.
    needed : numbers of answers that reduce the error to round numbers.
    """

    about: RunAbout
    left_out: float | None
    answers: float
    fewest: int
    most: int
    similarity: float | None
    reason: str
    now: ErrorBounds | None
    more: ErrorBounds | None
    curve: list[ErrorBounds]
    table: list[ErrorBounds]
    needed: list[WorkerRequirement]

    @property
    def saved(self) -> float | None:
        """Share of the average error that ten more workers would remove; None if undefined."""
        if self.now is None or self.more is None or self.now.average_error <= 0:
            return None
        return 1 - self.more.average_error / self.now.average_error


def build_planner_report(run: Run) -> PlannerReport:
    """Return the report on the consensus error that more workers would leave; one query."""
    totals = ExemplaryAnswer.objects.filter(
        run=run, n_answers__gte=2, mean_score__isnull=False
    ).aggregate(
        total=Sum(F("n_answers") * F("mean_score")),
        answers=Sum("n_answers"),
        mean=Avg("n_answers"),
        fewest=Min("n_answers"),
        most=Max("n_answers"),
    )
    # Weighted by the answers of each question, so that it is the mean over answers.
    left_out = totals["total"] / totals["answers"] if totals["answers"] else None
    mean = totals["mean"] or 0.0
    reason = _find_missing_plan_reason(run, left_out)
    similarity = None
    if not reason and left_out is not None:
        similarity = build_typical_answer(mean, left_out).similarity
    forecast: ConsensusErrorForecast | None = None
    table: list[ErrorBounds] = []
    needed: list[WorkerRequirement] = []
    if similarity is not None:
        forecast = forecast_consensus_error(similarity, round(mean))
        rows = sorted({*TABLE, forecast.now.workers, forecast.more.workers})
        table = [compute_error_bounds(similarity, workers, DELTA) for workers in rows]
        needed = [find_workers_needed(similarity, target, DELTA) for target in TARGETS]
    return PlannerReport(
        about=build_run_about(run),
        left_out=left_out,
        answers=mean,
        fewest=totals["fewest"] or 0,
        most=totals["most"] or 0,
        similarity=similarity,
        reason=reason,
        now=None if forecast is None else forecast.now,
        more=None if forecast is None else forecast.more,
        curve=[] if forecast is None else forecast.curve,
        table=table,
        needed=needed,
    )


def _find_missing_plan_reason(run: Run, left_out: float | None) -> str:
    """Return the sentence on why no forecast is possible; "" if one is."""
    if run.parameters.get("similarity", "cosine") != "cosine":
        return NO_PLAN["distances"]
    if left_out is None:
        return NO_PLAN["no_scores"]
    if left_out <= 0:
        return NO_PLAN["nothing_in_common"]
    return ""
