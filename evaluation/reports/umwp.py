"""Whether models notice that a question has no answer: what a run found, for pages and REST."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotations.exchange.reading.word_problems import CATEGORY_NAMES
from evaluation.flow.metrics import MetricRow
from evaluation.flow.umwp.ablation import BOTH, LOST, AblationRow
from evaluation.flow.umwp.comparing import ComparisonRow
from evaluation.flow.umwp.noise import NoiseRow
from evaluation.flow.umwp.sizes import SizeRow, TrendRow
from evaluation.flow.umwp.study import ItemRow, PairRow
from evaluation.flow.umwp.summary import UmwpSummary
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.reports.values import LeftOut, left_out
from evaluation.steps.findings import kept_rows
from evaluation.steps.umwp import tables as kept
from evaluation.words.reasons import in_words


@dataclass(frozen=True)
class Number:
    """A share of `n`, 0 to 1, with its 95% interval; `why` says in words why it is not there."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""
    why: str = ""


@dataclass(frozen=True)
class Noticed:
    """A model in one form of asking.

    `noticed` of `without_answer` questions it said that there is no answer, and of `with_answer`
    questions it said so `wrongly`; replies that were refused are in none of these. `pairs`: of a
    question without an answer and the one it was made of, the first noticed and the second
    answered rightly.
    """

    system: str
    form: str
    precision: Number
    recall: Number
    f1: Number
    answer_accuracy: Number
    pairs: Number
    noticed: int
    without_answer: int
    wrongly: int
    with_answer: int
    refusals: int


@dataclass(frozen=True)
class GroupNoticed:
    """A category or a source in one form: what each model has there, in the order of `systems`.

    Of categories it is the recall, as none of their questions has an answer; of sources F1.
    """

    name: str
    form: str
    numbers: list[Number]


@dataclass(frozen=True)
class PartAlone:
    """What a part of the classifier does alone, and how much F1 is lost by leaving out the rest."""

    system: str
    form: str
    part: str
    precision: Number
    recall: Number
    f1: Number
    lost: Number


@dataclass(frozen=True)
class NoticingReport:
    """Everything on the first page but the replies."""

    systems: list[str]
    forms: list[str]
    models: list[Noticed]
    categories: list[GroupNoticed]
    sources: list[GroupNoticed]
    comparisons: list[ComparisonRow]
    parts: list[PartAlone]
    sizes: list[SizeRow]
    trends: list[TrendRow]
    contradictions: list[NoiseRow]
    left_out: list[LeftOut]
    summary: UmwpSummary

    @property
    def compared(self) -> list[ComparisonRow]:
        """The comparisons over at least one question; the others hold no number."""
        return [row for row in self.comparisons if row.n]

    @property
    def known_parts(self) -> list[PartAlone]:
        """The parts of the classifier of which at least one number is defined."""
        return [
            one
            for one in self.parts
            if any(found.value is not None for found in (one.f1, one.precision, one.recall))
        ]

    @property
    def has_right_numbers(self) -> bool:
        """Whether any question with an answer accepts a number, so that it can be compared."""
        return any(one.answer_accuracy.n for one in self.models)

    @property
    def has_pairs(self) -> bool:
        """Whether any question without an answer names the one it was made of."""
        return any(one.pairs.n for one in self.models)


def noticing_report(run: Run) -> NoticingReport:
    """Return what a run that is done found."""
    summary = UmwpSummary.of(run.summary)
    systems, forms = list(summary.systems), list(summary.forms)
    metrics = _Metrics(kept.metrics_of(run), systems, forms)
    return NoticingReport(
        systems,
        forms,
        [_noticed(metrics, system, form) for form in forms for system in systems],
        metrics.groups("category", "recall", lambda name: CATEGORY_NAMES[int(name)]),
        metrics.groups("source", "f1", str),
        list(kept_rows(run, kept.COMPARISONS, ComparisonRow)),
        _parts(kept_rows(run, kept.ABLATION, AblationRow)),
        list(kept_rows(run, kept.SIZES, SizeRow)),
        list(kept_rows(run, kept.TRENDS, TrendRow)),
        list(kept_rows(run, kept.NOISE, NoiseRow)),
        left_out(summary.exclusions),
        summary,
    )


def number(row: Any) -> Number:
    """Return the number of a row of metrics, of sizes or of parts."""
    if row is None:
        return Number()
    value = row.f1 if isinstance(row, SizeRow) else row.value
    return Number(value, row.low, row.high, row.n, row.reason or "", in_words(row.reason))


class _Metrics:
    """The rows of metrics.csv by what they are of."""

    def __init__(self, rows: Iterable[MetricRow], systems: list[str], forms: list[str]) -> None:
        self.systems, self.forms = systems, forms
        self.rows = {(row.system, row.group, row.metric): row for row in rows}

    def of(self, system: str, form: str, metric: str) -> MetricRow | None:
        """Return a row of all questions in a form."""
        return self.rows.get((system, f"form:{form}", metric))

    def groups(self, key: str, metric: str, called: Callable[[str], str]) -> list[GroupNoticed]:
        """Return the groups of a key, in each form: of several forms each group names its own."""
        names = dict.fromkeys(
            group.removeprefix(f"{key}:").split(",form:")[0]
            for _, group, _ in self.rows
            if group.startswith(f"{key}:")
        )
        alone = len(self.forms) == 1
        return [
            GroupNoticed(
                called(name),
                form,
                [
                    number(
                        self.rows.get(
                            (system, f"{key}:{name}{'' if alone else f',form:{form}'}", metric)
                        )
                    )
                    for system in self.systems
                ],
            )
            for form in self.forms
            for name in sorted(names)
        ]


def _noticed(metrics: _Metrics, system: str, form: str) -> Noticed:
    def count(metric: str) -> int:
        row = metrics.of(system, form, metric)
        return 0 if row is None or row.value is None else int(row.value)

    found, missed = count("true_positives"), count("false_negatives")
    wrongly, refusals = count("false_positives"), count("refusals")
    all_of = metrics.of(system, form, "true_positives")
    n = all_of.n if all_of else 0
    return Noticed(
        system,
        form,
        **{name: number(metrics.of(system, form, name)) for name in _RATES},
        noticed=found,
        without_answer=found + missed,
        wrongly=wrongly,
        with_answer=n - refusals - found - missed,
        refusals=refusals,
    )


_RATES = ("precision", "recall", "f1", "answer_accuracy", "pairs")


def _parts(rows: Iterable[AblationRow]) -> list[PartAlone]:
    found: dict[tuple[str, str, str], dict[str, AblationRow]] = {}
    for row in rows:
        found.setdefault((row.system, row.form, row.part), {})[row.metric] = row
    return [
        PartAlone(*about, *(number(of.get(name)) for name in ("precision", "recall", "f1", LOST)))
        for about, of in found.items()
        if about[2] != BOTH
    ]


def rows_table(name: str, of: type[Any]) -> Callable[[Run], Table]:
    """Return what reads a kept table."""

    def table(run: Run) -> Table:
        return Table(of._fields, kept_rows(run, name, of))

    return table


TABLES: Mapping[str, Callable[[Run], Table]] = {
    kept.METRICS: rows_table(kept.METRICS, MetricRow),
    kept.ITEMS: rows_table(kept.ITEMS, ItemRow),
    kept.PAIRS: rows_table(kept.PAIRS, PairRow),
    kept.ABLATION: rows_table(kept.ABLATION, AblationRow),
    kept.COMPARISONS: rows_table(kept.COMPARISONS, ComparisonRow),
    kept.SIZES: rows_table(kept.SIZES, SizeRow),
    kept.TRENDS: rows_table(kept.TRENDS, TrendRow),
    kept.NOISE: rows_table(kept.NOISE, NoiseRow),
    kept.REPLIES: rows_table(kept.REPLIES, kept.ReplyRow),
    kept.PROBLEMS: rows_table(kept.PROBLEMS, kept.ProblemRow),
}
