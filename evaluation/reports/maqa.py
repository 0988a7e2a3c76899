"""What a run that measures uncertainty found: whether models know when they are wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.flow.maqa.columns import RIGHT_ABOVE, SURENESS
from evaluation.flow.maqa.rows import AnswerRow, GoldCountRow, ItemRow, PositionRow
from evaluation.flow.maqa.summary import MaqaSummary
from evaluation.flow.maqa.sure_and_right import BinRow, CurveRow, PairRow
from evaluation.flow.metrics import MetricRow
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.reports.values import LeftOut, left_out
from evaluation.steps.findings import kept_rows
from evaluation.steps.maqa.measuring import ReplyRow
from evaluation.words.maqa import MEASURES
from evaluation.words.reasons import in_words

# Questions whose texts a page shows.
SHOWN = 30


@dataclass(frozen=True)
class MeasureFound:
    """How well a measure of sureness tells right from wrong: AUROC with its interval.

    `words` say how far it can be relied on. None, with `why`, where it is undefined.
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
class SystemFound:
    """A model: how right it is, and whether it is surer where it is right.

    `knows` says the latter in a sentence, of the measure that tells best.
    """

    system: str
    n: int
    precision: float | None
    recall: float | None
    f1: float | None
    low: float | None
    high: float | None
    exact_set: float | None
    measures: list[MeasureFound]
    knows: str


class Compared(PairRow):
    """Two models on the same questions: the first one minus the second."""

    @property
    def title(self) -> str:
        """What they are compared by, for people."""
        name = self.measure.removeprefix("auroc_")
        return MEASURES[name].title if name in MEASURES else "being right (F1)"


@dataclass(frozen=True)
class MaqaReport:
    """Everything on the first page."""

    systems: list[SystemFound]
    comparisons: list[Compared]
    positions: list[PositionRow]
    gold_counts: list[GoldCountRow]
    bins: list[BinRow]
    left_out: list[LeftOut]
    summary: MaqaSummary


def maqa_report(run: Run) -> MaqaReport:
    """Return what a run that is done found."""
    summary = MaqaSummary.of(run.summary)
    found: dict[str, dict[str, MetricRow]] = defaultdict(dict)
    for row in kept_rows(run, "metrics", MetricRow):
        if not row.group:
            found[row.system][row.metric] = row
    return MaqaReport(
        [_system(system, found[system]) for system in summary.systems],
        [Compared(*row) for row in kept_rows(run, "comparisons", PairRow)],
        list(kept_rows(run, "positions", PositionRow)),
        list(kept_rows(run, "gold-counts", GoldCountRow)),
        list(kept_rows(run, "calibration", BinRow)),
        left_out(summary.exclusions),
        summary,
    )


def _system(system: str, rows: dict[str, MetricRow]) -> SystemFound:
    measures = [_measure(name, rows) for name in SURENESS]
    f1 = rows["f1"]
    return SystemFound(
        system,
        f1.n,
        rows["precision"].value,
        rows["recall"].value,
        f1.value,
        f1.low,
        f1.high,
        rows["exact_set"].value,
        measures,
        _knows(measures, f1.n),
    )


def _measure(name: str, rows: dict[str, MetricRow]) -> MeasureFound:
    area, words = rows[f"auroc_{name}"], MEASURES[name]
    error = rows.get(f"calibration_error_{name}")
    return MeasureFound(
        name,
        words.title,
        words.words,
        words.over,
        area.value,
        area.low,
        area.high,
        rows[f"average_precision_{name}"].value,
        rows[f"base_rate_{name}"].value,
        error.value if error else None,
        rows[f"coverage_{name}"].value,
        area.n,
        _verdict(area),
        in_words(area.reason) if area.value is None else "",
    )


def _verdict(area: MetricRow) -> str:
    """Return in few words what an AUROC says; "" where there is none."""
    if area.value is None:
        return ""
    if area.low is None or area.high is None:
        return "too few questions to say"
    if area.high < 0.5:
        return "misleads: surer where it is wrong"
    if area.low <= 0.5:
        return "no better than a coin, as far as these questions show"
    if area.value >= 0.8:
        return "tells right from wrong well"
    return "tells right from wrong somewhat"


def _knows(measures: Sequence[MeasureFound], n: int) -> str:
    known = [one for one in measures if one.auroc is not None]
    if not n:
        return "No question has a right answer to compare with: only how sure it is can be told."
    if not known:
        return "Whether it knows when it is wrong cannot be told: " + next(
            (one.why for one in measures if one.n and one.why), "nothing was measured"
        )
    telling = [one for one in known if one.low is not None and one.low > 0.5]
    if not telling:
        return "It does not know when it is wrong, as far as these questions show."
    best = max(telling, key=lambda one: one.auroc or 0.0)
    return (
        f"It knows when it is right by the measure \u201c{best.title}\u201d: of a right and a "
        f"wrong one it is surer of the right one {100 * (best.auroc or 0):.0f} times in 100."
    )


@dataclass(frozen=True)
class QuestionTexts:
    """A question that a model answered: how sure, how right, and its replies."""

    item: ItemRow
    question: str
    right_answers: list[str]
    replies: list[ReplyRow]


@dataclass(frozen=True)
class TextsPage:
    """Sure and wrong first; `more` are not shown. `open_ones`: without a right answer, by doubt."""

    sure_and_wrong: list[QuestionTexts]
    more: int
    open_ones: list[QuestionTexts]
    more_open: int


def texts_page(run: Run, right_answers: Callable[[], dict[str, list[str]]]) -> TextsPage:
    """Return the questions where models are surest though wrong, with texts.

    A question is wrong where its mean precision is not above one half. The surest is the one with
    the fewest meanings (semantic entropy), of these the one with the highest stated confidence.
    """
    items = list(kept_rows(run, "items", ItemRow))
    wrong = [row for row in items if row.precision is not None and row.precision <= RIGHT_ABOVE]
    wrong.sort(key=_doubt)
    open_ones = [row for row in items if row.precision is None and row.replies]
    open_ones.sort(key=_doubt, reverse=True)
    shown = {(row.system, row.item) for row in [*wrong[:SHOWN], *open_ones[:SHOWN]]}
    replies: dict[tuple[str, str], list[ReplyRow]] = defaultdict(list)
    for reply in kept_rows(run, "replies", ReplyRow):
        if (reply.system, reply.item) in shown:
            replies[reply.system, reply.item].append(reply)
    answers = right_answers()

    def texts(rows: Iterable[ItemRow]) -> list[QuestionTexts]:
        return [
            QuestionTexts(row, said[0].question, answers.get(row.item, []), said)
            for row in rows
            if (said := replies[row.system, row.item])
        ]

    return TextsPage(
        texts(wrong[:SHOWN]),
        max(0, len(wrong) - SHOWN),
        texts(open_ones[:SHOWN]),
        max(0, len(open_ones) - SHOWN),
    )


def _doubt(row: ItemRow) -> tuple[float, float]:
    entropy = 0.0 if row.semantic_entropy is None else row.semantic_entropy
    return entropy, -(row.verbalised or 0.0)


def _table(name: str, of: Any) -> Callable[[Run], Table]:
    def table(run: Run) -> Table:
        return Table(of._fields, kept_rows(run, name, of))

    return table


TABLES: dict[str, Callable[[Run], Table]] = {
    "metrics": _table("metrics", MetricRow),
    "items": _table("items", ItemRow),
    "answers": _table("answers", AnswerRow),
    "positions": _table("positions", PositionRow),
    "gold-counts": _table("gold-counts", GoldCountRow),
    "curves": _table("curves", CurveRow),
    "calibration": _table("calibration", BinRow),
    "comparisons": _table("comparisons", PairRow),
    "replies": _table("replies", ReplyRow),
}
"""Of a run, with the columns of the files of `evaluate maqa`."""
