"""What a run found, kept with it as the rows that files have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotations.exchange.reading.word_problems import WordProblem
from evaluation.flow.metrics import MetricRow
from evaluation.flow.umwp.ablation import AblationRow
from evaluation.flow.umwp.comparing import ComparisonRow
from evaluation.flow.umwp.noise import NoiseRow, noise
from evaluation.flow.umwp.people import PersonRow, people_metrics, people_rows
from evaluation.flow.umwp.sizes import SizeRow, TrendRow
from evaluation.flow.umwp.study import ItemRow, PairRow, UmwpStudy
from evaluation.models import Run
from evaluation.steps.checkpoints import Turn
from evaluation.steps.findings import keep_rows, kept_rows

METRICS, ITEMS, PAIRS, ABLATION = "metrics", "items", "pairs", "ablation"
COMPARISONS, SIZES, TRENDS = "comparisons", "sizes", "size-trends"
REPLIES, PROBLEMS, NOISE = "replies", "problems", "noise"
PERSONS = "people"
# From this similarity on two problems are alike, as in `umwp_noise`.
ALIKE = 0.9


class ReplyRow(NamedTuple):
    """A reply as ``evaluate umwp --replies`` reads it."""

    system: str
    id: str
    form: str
    reply: str
    status: str


class ProblemRow(NamedTuple):
    """A question as ``evaluate umwp PROBLEMS`` reads it."""

    id: str
    question: str
    answer: list[float] | None
    answerable: bool | None
    category: int | None
    relevant_ids: list[str] | None
    source: str
    math: bool = True


def keep_findings(
    turn: Turn,
    study: UmwpStudy,
    replies: Sequence[ReplyRow],
    sizes: tuple[Sequence[SizeRow], Sequence[TrendRow]],
) -> None:
    """Put everything aside for the pages; call it in `fenced`."""
    of_sizes, trends = sizes
    keep_rows(turn, METRICS, MetricRow, [*study.metrics, *people_metrics(study)])
    keep_rows(turn, PERSONS, PersonRow, people_rows(study))
    keep_rows(turn, ITEMS, ItemRow, study.items())
    keep_rows(turn, PAIRS, PairRow, study.pairs())
    keep_rows(turn, ABLATION, AblationRow, study.ablation())
    keep_rows(turn, COMPARISONS, ComparisonRow, study.comparisons)
    keep_rows(turn, SIZES, SizeRow, of_sizes)
    keep_rows(turn, TRENDS, TrendRow, trends)
    keep_rows(turn, REPLIES, ReplyRow, replies)
    keep_rows(turn, PROBLEMS, ProblemRow, map(_problem, study.problems))
    # Partners are alike on purpose: of these only those that differ in nothing are told.
    rows = (
        row for row in noise(study.problems, ALIKE).rows if not row.partners or row.kind != "alike"
    )
    keep_rows(turn, NOISE, NoiseRow, rows)


def _problem(one: WordProblem) -> ProblemRow:
    return ProblemRow(
        one.id,
        one.text,
        list(one.answers) or None,
        one.answerable,
        one.category,
        list(one.relevant) or None,
        one.source,
        one.is_math,
    )


def metrics_of(run: Run) -> list[MetricRow]:
    """Return the rows of metrics.csv."""
    return list(kept_rows(run, METRICS, MetricRow))


def items_of(run: Run) -> Iterator[ItemRow]:
    """Yield a row for each question, model and form."""
    return kept_rows(run, ITEMS, ItemRow)


def replies_of(run: Run) -> Iterator[ReplyRow]:
    """Yield the replies."""
    return kept_rows(run, REPLIES, ReplyRow)


def problems_kept(run: Run) -> Iterator[ProblemRow]:
    """Yield the questions as they were when the run read them."""
    return kept_rows(run, PROBLEMS, ProblemRow)
