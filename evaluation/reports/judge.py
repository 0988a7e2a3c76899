"""A judge, measured over a question set: the report of a run, and its tables with names for ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.models import Question, Worker
from evaluation.flow.judge.findings import MODEL, OVERALL, WORKER
from evaluation.flow.judge.summary import JudgeSummary, Metric, PromptShown
from evaluation.flow.judge.tables import CORRECTED as CORRECTED_COLUMNS
from evaluation.flow.judge.tables import PAIRS as PAIRS_COLUMNS
from evaluation.models import LanguageModel, Run, RunData
from evaluation.options import SITE
from evaluation.reports.spreadsheet import Table
from evaluation.steps.judge.run import CORRECTED, PAIRS, SCORES
from evaluation.words.judge import METRICS
from evaluation.words.reasons import in_words

AGREEMENT = ("metric", "group", "value", "low", "high", "n", "reason")


@dataclass(frozen=True)
class Agreement:
    """A number that says how far the judge can be relied on.

    Attributes
    ----------
    metric, group : as in metrics.csv. label : what it is, for people. why : why it is empty.
    """

    metric: str
    group: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str

    @classmethod
    def of(cls, metric: Metric) -> Agreement:
        """Return a metric with its label."""
        label = METRICS.get(metric.metric, metric.metric)
        if metric.group:
            label = f"{metric.group.removeprefix('expert:')} with each other, kappa"
        why = in_words(metric.reason) if metric.reason else ""
        return cls(
            metric=metric.metric,
            group=metric.group,
            label=label,
            value=metric.value,
            low=metric.low,
            high=metric.high,
            n=metric.n,
            why=why,
        )


@dataclass(frozen=True)
class Corrected:
    """A mean grade, as the judge gives it, as the experts do, and corrected.

    Attributes
    ----------
    of : "workers" (all), "worker" or "model". name : whose.
    judge : of n answers; graded : of n_judged. mean, low, high : the judge's, corrected by its
        error (PPI++), which was relied on by `weight`, 0 to 1. why : why that is empty.
    """

    of: str
    name: str
    judge: float | None
    n: int
    n_judged: int
    graded: float | None
    mean: float | None
    low: float | None
    high: float | None
    weight: float | None
    why: str


@dataclass(frozen=True)
class JudgeReport:
    """What a judge is worth.

    Attributes
    ----------
    said : what it comes to, in sentences. prompts : what the judge was told, with their hashes.
    agreement : with itself, with experts, with AQER. workers : mean grade of all, corrected.
    """

    judge: str
    said: list[str]
    answers: int
    model_answers: int
    judged: int
    pairs: int
    asked_again: int
    without_score: int
    agreement: list[Agreement]
    workers: Corrected | None
    prompts: list[PromptShown]

    def part(self, beginning: str) -> list[Agreement]:
        """Return the agreement whose metric begins so."""
        return [one for one in self.agreement if one.metric.startswith(beginning)]


def judge_report(run: Run) -> JudgeReport:
    """Return what a run that is done found."""
    found = JudgeSummary.of(run.summary)
    rows = corrected_rows(run, only=OVERALL)
    return JudgeReport(
        found.judge,
        [SITE.said(message) for message in found.messages],
        found.answers,
        found.model_answers,
        found.judged,
        found.pairs,
        found.asked_again,
        found.without_score,
        [Agreement.of(metric) for metric in found.metrics],
        rows[0] if rows else None,
        list(found.prompts),
    )


def corrected_rows(run: Run, only: str = "") -> list[Corrected]:
    """Return corrected means: of all workers, of workers by name and of models."""
    found = []
    for cells in _named(run, CORRECTED):
        row = dict(zip(CORRECTED_COLUMNS, cells, strict=True))
        if only and row["of"] != only:
            continue
        found.append(
            Corrected(
                row["of"],
                row["name"] or "All workers",
                row["judge"],
                row["n"],
                row["n_judged"],
                row["graded"],
                row["tuned"],
                row["tuned_low"],
                row["tuned_high"],
                row["weight"],
                in_words(row["reason"]) if row["reason"] else "",
            )
        )
    return found


def agreement_table(run: Run) -> Table:
    """Return the agreement, a row a number."""
    found = JudgeSummary.of(run.summary).metrics
    rows = [(m.metric, m.group or None, m.value, m.low, m.high, m.n, m.reason) for m in found]
    return Table(AGREEMENT, rows)


def scores_table(run: Run) -> Table:
    """Return the judge's scores, a row an answer."""
    rows = _rows(run, SCORES)
    times = len(rows[0]) - 7 if rows else 0
    header = (
        *("worker", "model", "question", "score", *(f"score_{n + 1}" for n in range(times))),
        *("grade", "aqer", "reason"),
    )
    return Table(header, _named(run, SCORES))


def pairs_table(run: Run) -> Table:
    """Return the pairs of answers, a row a pair."""
    return Table(PAIRS_COLUMNS, _named(run, PAIRS))


def corrected_table(run: Run) -> Table:
    """Return the corrected means, a row each."""
    return Table(CORRECTED_COLUMNS, _named(run, CORRECTED))


def _rows(run: Run, name: str) -> list[list[Any]]:
    found = RunData.objects.filter(run=run, name=name).values_list("data", flat=True).first()
    return found or []


def _named(run: Run, name: str) -> Iterator[Sequence[Any]]:
    """Yield rows with names for primary keys; who was erased since is left blank."""
    rows = _rows(run, name)
    workers = dict(
        Worker.objects.filter(submissions__version=run.version_id).values_list("pk", "external_id")
    )
    questions = dict(
        Question.objects.filter(version=run.version_id).values_list("pk", "external_id")
    )
    models = {one.pk: str(one) for one in LanguageModel.objects.filter(pk__in=_models(name, rows))}
    for row in rows:
        yield _with_names(name, list(row), workers, questions, models)


def _models(name: str, rows: Sequence[Sequence[Any]]) -> set[int]:
    if name == SCORES:
        found = {row[1] for row in rows}
    elif name == PAIRS:
        found = {row[at + 1] for row in rows for at in (1, 3) if row[at] == MODEL}
    else:
        found = {int(row[1]) for row in rows if row[0] == MODEL}
    return {one for one in found if one is not None}


def _with_names(
    name: str,
    row: list[Any],
    workers: dict[int, str],
    questions: dict[int, str],
    models: dict[int, str],
) -> list[Any]:
    if name == SCORES:
        row[0] = None if row[0] is None else workers.get(row[0])
        row[1] = None if row[1] is None else models.get(row[1])
        row[2] = questions.get(row[2])
    elif name == PAIRS:
        row[0] = questions.get(row[0])
        for at in (1, 3):
            row[at + 1] = (workers if row[at] == WORKER else models).get(row[at + 1])
    elif row[0] in (WORKER, MODEL):
        row[1] = (workers if row[0] == WORKER else models).get(int(row[1]))
    return row
