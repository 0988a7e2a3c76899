"""Result tables of UMWP, each declared once for files, runs, downloads and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from annotations.exchange.reading.word_problems import WordProblem
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import ResultTable, StudyTable
from evaluation.umwp.problems import NoiseRow
from evaluation.umwp.run.people import (
    LabelRow,
    PersonRow,
    build_person_rows,
    compute_people_metrics,
)
from evaluation.umwp.run.study import ItemRow, PairRow, UmwpStudy
from evaluation.umwp.run.tables import AblationRow, ComparisonRow, SizeRow, TrendRow


class ReplyRow(NamedTuple):
    """A row of a replies file that ``evaluate umwp --replies`` can read."""

    system: str
    id: str
    form: str
    reply: str
    status: str


class ProblemRow(NamedTuple):
    """A row of a problems file that ``evaluate umwp`` can read: one question with its label."""

    id: str
    question: str
    answer: list[float] | None
    answerable: bool | None
    category: int | None
    relevant_ids: list[str] | None
    source: str
    math: bool = True


def build_problem_row(problem: WordProblem) -> ProblemRow:
    """Return the row of a word problem that a run stores."""
    return ProblemRow(
        problem.id,
        problem.text,
        list(problem.answers) or None,
        problem.answerable,
        problem.category,
        list(problem.relevant) or None,
        problem.source,
        problem.is_math,
    )


def list_metric_rows(study: UmwpStudy) -> Iterator[MetricRow]:
    """Yield all rows of metrics.csv: metrics of models, then of workers."""
    yield from study.metrics
    yield from compute_people_metrics(study)


METRICS = StudyTable("metrics", MetricRow, "metrics.csv", list_metric_rows)
ITEMS = StudyTable("items", ItemRow, "items.csv", UmwpStudy.build_item_rows)
PAIRS = StudyTable("pairs", PairRow, "pairs.csv", UmwpStudy.build_pair_rows)
ABLATION = StudyTable("ablation", AblationRow, "ablation.csv", UmwpStudy.compute_ablation_rows)
COMPARISONS: StudyTable[UmwpStudy, ComparisonRow] = StudyTable(
    "comparisons", ComparisonRow, "comparisons.csv", lambda study: study.comparisons
)
PERSONS = StudyTable("people", PersonRow, "people.csv", build_person_rows)
PROBLEMS: StudyTable[UmwpStudy, ProblemRow] = StudyTable(
    "problems", ProblemRow, "", lambda study: map(build_problem_row, study.problems)
)
SIZES = ResultTable("sizes", SizeRow, "sizes.csv")
TRENDS = ResultTable("size-trends", TrendRow, "size_trends.csv")
NOISE = ResultTable("noise", NoiseRow, "noise.csv")
REPLIES = ResultTable("replies", ReplyRow, "replies.csv")
LABELS = ResultTable("labelled-replies", LabelRow, "labels.csv")
AGREEMENT = ResultTable("label-agreement", MetricRow)
UNRELATED = ResultTable("unrelated-content", MetricRow, "unrelated_content.csv")

STUDY_TABLES: tuple[StudyTable[UmwpStudy, Any], ...] = (
    *(METRICS, ITEMS, PAIRS, ABLATION, COMPARISONS),
)
"""The tables of every evaluation, in the order in which they are written."""
STORED_TABLES = (*STUDY_TABLES, SIZES, TRENDS, NOISE, REPLIES, PROBLEMS)
"""The tables of every run, in the order in which they are listed; `PERSONS` follows them."""
