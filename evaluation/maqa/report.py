"""Report of a MAQA run: accuracy of each model, and how well its confidence predicts it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evaluation.core.estimates import Exclusion, list_exclusions
from evaluation.core.messages.reasons import describe_reason
from evaluation.maqa.messages import MEASURES
from evaluation.maqa.methods.set_scores import is_right_score
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.result_tables import (
    CALIBRATION,
    COMPARISONS,
    GOLD_COUNTS,
    ITEMS,
    METRICS,
    POSITIONS,
    REPLIES,
    SMALL_SAMPLES,
    STUDY_TABLES,
    ReplyRow,
)
from evaluation.maqa.run.small_samples import SampleRow
from evaluation.maqa.run.tables import (
    SURENESS,
    BinRow,
    GoldCountRow,
    ItemRow,
    PairRow,
    PositionRow,
)
from evaluation.maqa.storage import MaqaSummary
from evaluation.models import Run
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import collect_column_help
from evaluation.runs.reports.lists import build_table_readers
from evaluation.runs.steps.checkpoints import read_result_table, read_result_tables

# Questions on the page with texts, of each of its two lists.
MAX_SHOWN = 30
SHOWN_TABLES = (METRICS, COMPARISONS, POSITIONS, GOLD_COUNTS, CALIBRATION, SMALL_SAMPLES)


@dataclass(frozen=True)
class MeasureResult:
    """One confidence measure of a model: AUROC with its interval, calibration, and verdict.

    Attributes
    ----------
    over : unit of `n`: answers, replies or questions.
    verdict : finding in a few words; "" if `auroc` is None.
    why : reason why `auroc` is None; "" otherwise.
    """

    measure: str
    title: str
    explanation: str
    over: str
    auroc: float | None
    low: float | None
    high: float | None
    average_precision: float | None
    base_rate: float | None
    calibration_error: float | None
    coverage: float | None
    n: int
    verdict: str
    why: str


@dataclass(frozen=True)
class SystemMeasures:
    """Accuracy of one model, and the results of its confidence measures.

    `finding` is a sentence on the measure that separates right from wrong best.
    """

    system: str
    n: int
    precision: float | None
    recall: float | None
    f1: float | None
    low: float | None
    high: float | None
    exact_set: float | None
    measures: list[MeasureResult]
    finding: str


class ModelDifference(PairRow):
    """Difference of two models on the same questions: the first one minus the second."""

    @property
    def title(self) -> str:
        """Title of the compared measure, for readers."""
        name = self.measure.removeprefix("auroc_")
        return MEASURES[name].title if name in MEASURES else "F1"


@dataclass(frozen=True)
class SmallSampleResult:
    """One measure of semantic entropy at one number of replies, with its title for readers."""

    row: SampleRow
    title: str


@dataclass(frozen=True)
class MaqaReport:
    """Results of a MAQA run shown on its main page: models, comparisons, and tables."""

    systems: list[SystemMeasures]
    comparisons: list[ModelDifference]
    positions: list[PositionRow]
    gold_counts: list[GoldCountRow]
    bins: list[BinRow]
    left_out: list[Exclusion]
    summary: MaqaSummary
    small_samples: list[SmallSampleResult]


def build_report(run: Run) -> MaqaReport:
    """Return the results of a finished MAQA run for its main page."""
    summary = MaqaSummary.from_json(run.summary)
    tables = read_result_tables(run, SHOWN_TABLES)
    metrics: dict[str, dict[str, MetricRow]] = defaultdict(dict)
    for row in tables[METRICS.name]:
        if not row.group:
            metrics[row.system][row.metric] = row
    return MaqaReport(
        [_build_system_measures(system, metrics[system]) for system in summary.systems],
        [ModelDifference(*row) for row in tables[COMPARISONS.name]],
        tables[POSITIONS.name],
        tables[GOLD_COUNTS.name],
        tables[CALIBRATION.name],
        list_exclusions(summary.exclusions),
        summary,
        [SmallSampleResult(row, MEASURES[row.measure].title) for row in tables[SMALL_SAMPLES.name]],
    )


def _build_system_measures(system: str, rows: dict[str, MetricRow]) -> SystemMeasures:
    """Return the results of one model; `rows` are its overall metrics by name."""
    measures = [_build_measure_result(name, rows) for name in SURENESS]
    f1 = rows["f1"]
    return SystemMeasures(
        system,
        f1.n,
        rows["precision"].value,
        rows["recall"].value,
        f1.value,
        f1.low,
        f1.high,
        rows["exact_set"].value,
        measures,
        _describe_best_measure(measures, f1.n),
    )


def _build_measure_result(name: str, rows: dict[str, MetricRow]) -> MeasureResult:
    """Return the results of one confidence measure of one model."""
    area, texts = rows[f"auroc_{name}"], MEASURES[name]
    # Measures without an upper end of their scale have no calibration error.
    error = rows.get(f"calibration_error_{name}")
    return MeasureResult(
        name,
        texts.title,
        texts.words,
        texts.over,
        area.value,
        area.low,
        area.high,
        rows[f"average_precision_{name}"].value,
        rows[f"base_rate_{name}"].value,
        error.value if error else None,
        rows[f"coverage_{name}"].value,
        area.n,
        _describe_auroc(area),
        describe_reason(area.reason) if area.value is None else "",
    )


def _describe_auroc(area: MetricRow) -> str:
    """Return a short phrase on how well an AUROC separates right from wrong; "" if undefined."""
    if area.value is None:
        return ""
    if area.low is None or area.high is None:
        return "too few questions for an interval"
    if area.high < 0.5:
        return "misleading: higher where the model is wrong"
    if area.low <= 0.5:
        return "not shown to be better than chance"
    if area.value >= 0.8:
        return "separates right from wrong well"
    return "separates right from wrong somewhat"


def _describe_best_measure(measures: Sequence[MeasureResult], n: int) -> str:
    """Return a sentence naming the confidence measure with the greatest AUROC above chance.

    `n` is the number of questions with a known right answer.
    """
    known = [measure for measure in measures if measure.auroc is not None]
    if not n:
        return "Not measured: no question has a known right answer."
    if not known:
        return "Not measured: " + next(
            (measure.why for measure in measures if measure.n and measure.why),
            "no measure of confidence has values",
        )
    # Only measures whose whole interval is above chance.
    above_chance = [measure for measure in known if measure.low is not None and measure.low > 0.5]
    if not above_chance:
        return "No measure of confidence is shown to be higher where the model is right."
    best = max(above_chance, key=lambda measure: measure.auroc or 0.0)
    return (
        f"{best.title} separates right from wrong best: AUROC {best.auroc:.2f} "
        f"({best.low:.2f} to {best.high:.2f})."
    )


@dataclass(frozen=True)
class QuestionTexts:
    """A question with its right answers, and one model's scores, confidence and replies."""

    item: ItemRow
    question: str
    right_answers: list[str]
    replies: list[ReplyRow]


@dataclass(frozen=True)
class TextsPage:
    """Questions with replies to read: confidently wrong ones, and open questions.

    Attributes
    ----------
    sure_and_wrong : the most confident first; `more` questions are not shown.
    open_ones : questions without a right answer, the least confident first; `more_open` questions
        are not shown.
    """

    sure_and_wrong: list[QuestionTexts]
    more: int
    open_ones: list[QuestionTexts]
    more_open: int


def load_texts_page(run: Run, load_right_answers: Callable[[], dict[str, list[str]]]) -> TextsPage:
    """Return the questions models answered wrongly with high confidence, and open questions.

    A model's answer to a question is wrong by the label of the run. Questions are sorted by
    semantic entropy, then by stated confidence. `load_right_answers` returns the right answers by
    question id.
    """
    items = list(read_result_table(run, ITEMS))
    label = run.parameters.get("label", MaqaParameters.label)
    above = run.parameters.get("label_above", MaqaParameters.label_above)
    wrong = [
        row
        for row in items
        if (score := getattr(row, label)) is not None and not is_right_score(score, above)
    ]
    wrong.sort(key=_build_confidence_sort_key)
    open_ones = [row for row in items if row.precision is None and row.replies]
    open_ones.sort(key=_build_confidence_sort_key, reverse=True)
    # The table has all replies of the run: keep only those on the page.
    selected = {(row.system, row.item) for row in [*wrong[:MAX_SHOWN], *open_ones[:MAX_SHOWN]]}
    replies: dict[tuple[str, str], list[ReplyRow]] = defaultdict(list)
    for reply in read_result_table(run, REPLIES):
        if (reply.system, reply.item) in selected:
            replies[reply.system, reply.item].append(reply)
    answers = load_right_answers()

    def add_texts(rows: Iterable[ItemRow]) -> list[QuestionTexts]:
        """Return the question rows with their texts, without rows that have no stored replies."""
        return [
            QuestionTexts(row, item_replies[0].question, answers.get(row.item, []), item_replies)
            for row in rows
            if (item_replies := replies[row.system, row.item])
        ]

    return TextsPage(
        add_texts(wrong[:MAX_SHOWN]),
        max(0, len(wrong) - MAX_SHOWN),
        add_texts(open_ones[:MAX_SHOWN]),
        max(0, len(open_ones) - MAX_SHOWN),
    )


def _build_confidence_sort_key(row: ItemRow) -> tuple[float, float]:
    """Return (semantic entropy, minus stated confidence): most confident questions first."""
    entropy = 0.0 if row.semantic_entropy is None else row.semantic_entropy
    return entropy, -(row.verbalised or 0.0)


TABLES = build_table_readers(STUDY_TABLES)
"""Readers of a run's result tables, with the columns of the files of `evaluate maqa`."""
COLUMNS = collect_column_help(STUDY_TABLES)
