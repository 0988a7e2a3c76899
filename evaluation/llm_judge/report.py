"""Results of an LLM judge run for pages and downloads; primary keys are replaced by names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from annotations.models import Question, Worker
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import SITE
from evaluation.llm_judge.messages import METRICS
from evaluation.llm_judge.run import CORRECTED as CORRECTED_COLUMNS
from evaluation.llm_judge.run import MODEL, OVERALL, WORKER
from evaluation.llm_judge.run import PAIRS as PAIRS_COLUMNS
from evaluation.llm_judge.storage import CORRECTED, PAIRS, SCORES, JudgeSummary, Metric, PromptRow
from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.reports.lists import Table

AGREEMENT = ("metric", "group", "value", "low", "high", "n", "reason")


@dataclass(frozen=True)
class AgreementMetric:
    """One agreement metric of the judge, with its label and interval.

    Attributes
    ----------
    metric, group : as in metrics.csv.
    label : the metric in words.
    why : why the value or its interval is missing.
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
    def from_metric(cls, metric: Metric) -> AgreementMetric:
        """Return a stored metric with a label for readers."""
        label = METRICS.get(metric.metric, metric.metric)
        if metric.group:
            label = f"{metric.group.removeprefix('expert:')} with each other, kappa"
        why = describe_reason(metric.reason) if metric.reason else ""
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
class CorrectedMean:
    """Mean grade of all workers or of one author: by the judge, by experts, and corrected.

    Attributes
    ----------
    of, name : "workers" (all), "worker" or "model", and the author's name.
    judge : mean score of the judge on `n` answers.
    graded : mean grade of the experts on `n_judged` answers.
    mean, low, high : the judge's mean corrected by its error (PPI++).
    weight : reliance on the judge, 0 to 1.
    why : why the corrected mean is missing.
    """

    renamed_keys: ClassVar = {"of": "subject"}

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
    """Results of an LLM judge run: messages, counts, agreement, corrected mean, prompts.

    Attributes
    ----------
    judge : its name.
    said : findings as sentences.
    answers, model_answers : number of workers' and of models' answers.
    judged : number of answers that experts graded.
    pairs : number of compared pairs.
    asked_again, without_score : number of second requests, and of missing scores.
    agreement : with itself, with experts and with AQER.
    workers : corrected mean grade of all workers.
    prompts : prompts of the judge with their hashes.
    """

    renamed_keys: ClassVar = {
        "said": "messages",
        "asked_again": "n_repeated_requests",
    }

    judge: str
    said: list[str]
    answers: int
    model_answers: int
    judged: int
    pairs: int
    asked_again: int
    without_score: int
    agreement: list[AgreementMetric]
    workers: CorrectedMean | None
    prompts: list[PromptRow]

    def select_agreement_metrics(self, prefix: str) -> list[AgreementMetric]:
        """Return the agreement metrics whose name begins with `prefix`."""
        return [row for row in self.agreement if row.metric.startswith(prefix)]


def build_report(run: Run) -> JudgeReport:
    """Return the results of a finished LLM judge run."""
    summary = JudgeSummary.from_json(run.summary)
    rows = load_corrected_rows(run, only=OVERALL)
    return JudgeReport(
        summary.judge,
        [SITE.format_message(message) for message in summary.messages],
        summary.answers,
        summary.model_answers,
        summary.judged,
        summary.pairs,
        summary.asked_again,
        summary.without_score,
        [AgreementMetric.from_metric(metric) for metric in summary.metrics],
        rows[0] if rows else None,
        list(summary.prompts),
    )


def load_corrected_rows(run: Run, only: str = "") -> list[CorrectedMean]:
    """Return the stored corrected mean grades of all workers, each worker and each model.

    `only` is "workers", "worker" or "model"; "" loads all.
    """
    rows = []
    for cells in _load_rows_with_names(run, CORRECTED):
        row = dict(zip(CORRECTED_COLUMNS, cells, strict=True))
        if only and row["of"] != only:
            continue
        rows.append(
            CorrectedMean(
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
                describe_reason(row["reason"]) if row["reason"] else "",
            )
        )
    return rows


def build_agreement_table(run: Run) -> Table:
    """Return the table of the judge's agreement metrics, one row per metric."""
    metrics = JudgeSummary.from_json(run.summary).metrics
    rows = [(m.metric, m.group or None, m.value, m.low, m.high, m.n, m.reason) for m in metrics]
    return Table(AGREEMENT, rows)


def build_scores_table(run: Run) -> Table:
    """Return the table of the judge's scores, one row per answer."""
    rows = _load_stored_rows(run, SCORES)
    # Seven columns are no scores of repetitions, see the header.
    n_repetitions = len(rows[0]) - 7 if rows else 0
    header = (
        *(
            "worker",
            "model",
            "question",
            "score",
            *(f"score_{n + 1}" for n in range(n_repetitions)),
        ),
        *("grade", "aqer", "reason"),
    )
    return Table(header, _load_rows_with_names(run, SCORES))


def build_pairs_table(run: Run) -> Table:
    """Return the table of the judge's verdicts, one row per pair of answers."""
    return Table(PAIRS_COLUMNS, _load_rows_with_names(run, PAIRS))


def build_corrected_table(run: Run) -> Table:
    """Return the table of corrected mean grades, one row per worker or model."""
    return Table(CORRECTED_COLUMNS, _load_rows_with_names(run, CORRECTED))


def _load_stored_rows(run: Run, name: str) -> list[list[Any]]:
    """Return the rows of a table stored with the run; [] if it was not stored."""
    rows = RunData.objects.filter(run=run, name=name).values_list("data", flat=True).first()
    return rows or []


def _load_rows_with_names(run: Run, name: str) -> Iterator[Sequence[Any]]:
    """Yield a stored table's rows with names in place of primary keys; None if erased."""
    rows = _load_stored_rows(run, name)
    workers = dict(
        Worker.objects.filter(submissions__version=run.version_id).values_list("pk", "external_id")
    )
    questions = dict(
        Question.objects.filter(version=run.version_id).values_list("pk", "external_id")
    )
    keys = _collect_model_keys(name, rows)
    models = {model.pk: str(model) for model in LanguageModel.objects.filter(pk__in=keys)}
    for row in rows:
        yield _replace_keys_by_names(name, list(row), workers, questions, models)


def _collect_model_keys(name: str, rows: Sequence[Sequence[Any]]) -> set[int]:
    """Return the primary keys of the language models in a stored table."""
    if name == SCORES:
        keys = {row[1] for row in rows}
    elif name == PAIRS:
        # A pair has its question, then kind and author of either answer.
        keys = {row[column + 1] for row in rows for column in (1, 3) if row[column] == MODEL}
    else:
        keys = {int(row[1]) for row in rows if row[0] == MODEL}
    return {key for key in keys if key is not None}


def _replace_keys_by_names(
    name: str,
    row: list[Any],
    workers: dict[int, str],
    questions: dict[int, str],
    models: dict[int, str],
) -> list[Any]:
    """Return the given row of a stored table with names put in place of primary keys."""
    if name == SCORES:
        row[0] = None if row[0] is None else workers.get(row[0])
        row[1] = None if row[1] is None else models.get(row[1])
        row[2] = questions.get(row[2])
    elif name == PAIRS:
        row[0] = questions.get(row[0])
        for column in (1, 3):
            names = workers if row[column] == WORKER else models
            row[column + 1] = names.get(row[column + 1])
    elif row[0] in (WORKER, MODEL):
        row[1] = (workers if row[0] == WORKER else models).get(int(row[1]))
    return row
