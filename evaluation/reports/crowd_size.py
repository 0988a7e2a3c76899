"""How many workers a crowd needed, tried on itself: the report of a run."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.flow.crowd_size.conclusion import CrowdSizeSummary, verdict_message
from evaluation.methods.crowd_size import SizePoint, SizeVerdict
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.spreadsheet import Table

COLUMNS = ("by", "size", "measure", "pearson", "low", "high", "spearman", "draws")


@dataclass(frozen=True)
class CrowdSizeReport:
    """How many workers, and questions, are enough.

    Attributes
    ----------
    said : the answer in sentences. measure : what these rest on, see `SizePoint`.
    judged, judged_workers : answers that experts graded, and how many workers gave these.
    verdicts, points : by each measure, and the curve behind them.
    """

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

    def other_sentences(self) -> list[str]:
        """Return the verdicts by the other measures, as sentences."""
        return [SITE.said(verdict_message(v)) for v in self.verdicts if v.measure != self.measure]


def crowd_size_report(run: Run) -> CrowdSizeReport:
    """Return what a run that is done found; no query."""
    found = CrowdSizeSummary.of(run.summary)
    return CrowdSizeReport(
        [SITE.said(message) for message in found.messages],
        found.measure,
        found.answers,
        found.workers,
        found.questions,
        found.judged,
        found.judged_workers,
        found.repetitions,
        found.seed,
        list(found.verdicts),
        list(found.points),
    )


def crowd_size_table(run: Run) -> Table:
    """Return the curve."""
    points = CrowdSizeSummary.of(run.summary).points
    return Table(
        COLUMNS,
        [
            (p.by, p.size, p.measure, p.pearson, p.low, p.high, p.spearman, p.n_draws)
            for p in points
        ],
    )
