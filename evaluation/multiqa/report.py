"""Results of a MultiQ&A run for pages and downloads: metrics, texts and tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluation.core.estimates import ComputedPage, Exclusion, list_exclusions
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import SITE
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.text.items import MultiqaItem
from evaluation.models import Run
from evaluation.multiqa.messages import (
    COMPARED,
    CROWD_DESCRIPTIONS,
    GROUPS,
    METRIC_DESCRIPTIONS,
    WORDINGS,
    NumberWords,
)
from evaluation.multiqa.run.evaluation import CHANCE, CrowdRow
from evaluation.multiqa.run.rows import (
    COMPARISONS,
    ITEM_COLUMNS,
    ITEMS,
    METRICS,
    REPLIES,
    REWORDINGS,
    ItemRow,
    ReplyRow,
    RewordingRow,
    SystemPair,
)
from evaluation.multiqa.run.rows import CROWD as CROWD_ROWS
from evaluation.multiqa.storage.questions import load_version_items
from evaluation.multiqa.storage.running import (
    MultiqaSummary,
    load_comparison_rows,
    load_crowd_rows,
    load_item_rows,
    load_metric_rows,
    load_options,
    load_reply_rows,
    load_rewording_rows,
)
from evaluation.runs.flow.asking.summary import Usage
from evaluation.runs.flow.metrics import OVERALL, MetricRow
from evaluation.runs.reports.lists import Table, build_table_readers

# Metrics of a group of questions.
GROUP_METRICS = ("alpha", "accuracy", "worst_case", "plurality", "best_case", "certainty")
# Models with findings in sentences.
MOST_SENTENCES = 5
# Questions in several wordings that a comparison of spreads needs.
FEWEST = 5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


MetricCells = Mapping[tuple[str, str], Mapping[str, MetricRow]]
"""Rows by (group, metric), then by system."""


@dataclass(frozen=True)
class MetricCell(Estimate):
    """A metric of one model, with interval and chance level; `why` explains a missing value."""

    n: int = 0
    why: str = ""
    chance: float | None = None


@dataclass(frozen=True)
class NumberRow:
    """A metric with its value for each model (`of`); None if a model lacks the metric."""

    # The REST API sends the report, so class and field names are part of its schema.

    name: str
    words: NumberWords
    of: tuple[MetricCell | None, ...]

    @property
    def has_chance(self) -> bool:
        """Whether any model's value has a chance level."""
        return any(cell is not None and cell.chance is not None for cell in self.of)


@dataclass(frozen=True)
class GroupRow:
    """Metrics of all models on the `n` questions of one answer format or data set."""

    name: str
    n: int
    rows: tuple[NumberRow, ...]


@dataclass(frozen=True)
class MultiqaPair:
    """Comparison of two models; `better` and `worse` are "" if not significant."""

    row: SystemPair
    what: str
    better: str
    worse: str
    why: str

    @property
    def size(self) -> float:
        """Absolute difference of the two models' values of the metric."""
        return abs(self.row.difference or 0.0)


@dataclass(frozen=True)
class MultiqaReport:
    """Results of a MultiQ&A run; metric rows have one value per model of `systems`."""

    systems: tuple[str, ...]
    numbers: tuple[NumberRow, ...]
    crowd: tuple[NumberRow, ...]
    formats: tuple[GroupRow, ...]
    datasets: tuple[GroupRow, ...]
    comparisons: tuple[MultiqaPair, ...]
    usage: tuple[Usage, ...]
    left_out: list[Exclusion]
    wrong_by_form: list[Exclusion]
    dropped: list[Exclusion]
    summary: MultiqaSummary
    messages: tuple[Message, ...] = ()

    @property
    def knows_right(self) -> bool:
        """Whether any question has an accepted answer, so that accuracy is measured."""
        return any(
            cell is not None and cell.value is not None
            for row in self.numbers
            if row.name == "accuracy"
            for cell in row.of
        )

    @property
    def said(self) -> list[str]:
        """Findings as sentences for web pages."""
        return SITE.format_messages(self.messages)

    @property
    def cost(self) -> float | None:
        """Cost of the run; None if a model has no known prices."""
        return self.summary.cost


def build_report(run: Run) -> MultiqaReport:
    """Return the results of a finished MultiQ&A run."""
    summary = MultiqaSummary.from_json(run.summary)
    cells = index_metrics(load_metric_rows(run))
    systems = summary.systems
    return MultiqaReport(
        systems,
        build_number_rows(cells, OVERALL, systems, METRIC_DESCRIPTIONS, list(METRIC_DESCRIPTIONS)),
        build_number_rows(cells, OVERALL, systems, CROWD_DESCRIPTIONS, list(CROWD_DESCRIPTIONS)),
        _build_group_tables(cells, systems, "kind:"),
        _build_group_tables(cells, systems, "dataset:"),
        tuple(_build_pair_report(row) for row in load_comparison_rows(run)),
        summary.usage,
        list_exclusions(summary.exclusions),
        list_exclusions(summary.wrong_by_form),
        [
            Exclusion(count, reason, describe_reason(reason))
            for reason, count in summary.dropped.items()
        ],
        summary,
        tuple(_list_findings(cells, systems)),
    )


def _list_findings(cells: MetricCells, systems: Sequence[str]) -> Iterator[Message]:
    """Yield messages about accuracy and spread over wordings, for the first few models."""
    for system in systems[:MOST_SENTENCES]:
        overall = {name: rows.get(system) for (group, name), rows in cells.items() if not group}
        accuracy, worst = overall.get("accuracy"), overall.get("worst_case")
        if accuracy and worst and accuracy.value is not None and worst.value is not None:
            values = {"accuracy": accuracy.value, "worst": worst.value, "n": accuracy.n}
            yield Message("multiqa.right", {"system": system, **values})
        ratio, rewordings = overall.get("spread_ratio"), overall.get("spread_rewordings")
        people = overall.get("spread_people")
        if not (ratio and rewordings and people):
            continue
        if ratio.n < FEWEST:
            counts = {"n": ratio.n, "all": people.n, "fewest": FEWEST}
            yield Message("multiqa.few_wordings", {"system": system, **counts})
            continue
        if None in (ratio.low, ratio.high, rewordings.value, people.value):
            continue
        low, high = ratio.low or 0.0, ratio.high or 0.0
        code = "less_than_people" if high < 1 else "more_than_people" if low > 1 else "like_people"
        spreads = {"of_wordings": rewordings.value, "of_people": people.value, "n": ratio.n}
        yield Message(f"multiqa.{code}", {"system": system, **spreads})


def index_metrics(rows: Iterable[MetricRow]) -> MetricCells:
    """Return the metric rows indexed by (group, metric), then by system."""
    cells: dict[tuple[str, str], dict[str, MetricRow]] = defaultdict(dict)
    for row in rows:
        cells[row.group, row.metric][row.system] = row
    return cells


def build_number_rows(
    cells: MetricCells,
    group: str,
    systems: Sequence[str],
    descriptions: Mapping[str, NumberWords],
    names: Sequence[str],
) -> tuple[NumberRow, ...]:
    """Return a row for each metric of `names` that the group of items has."""
    return tuple(
        NumberRow(
            name,
            descriptions[name],
            tuple(_build_metric_cell(cells, group, name, s) for s in systems),
        )
        for name in names
        if (group, name) in cells
    )


def _build_metric_cell(cells: MetricCells, group: str, name: str, system: str) -> MetricCell | None:
    """Return one system's metric with its chance level; None if it has no such metric."""
    row = cells[group, name].get(system)
    if row is None:
        return None
    chance_row = cells.get((group, f"{CHANCE}{name}"), {}).get(system)
    chance = None if chance_row is None else chance_row.value
    return MetricCell(row.value, row.low, row.high, row.n, describe_reason(row.reason), chance)


def _build_group_tables(
    cells: MetricCells, systems: Sequence[str], prefix: str
) -> tuple[GroupRow, ...]:
    """Return a metric table per group of items whose name begins with `prefix`."""
    names = dict.fromkeys(group for group, _ in cells if group.startswith(prefix))
    tables = []
    for group in names:
        rows = build_number_rows(cells, group, systems, METRIC_DESCRIPTIONS, GROUP_METRICS)
        rows += build_number_rows(cells, group, systems, CROWD_DESCRIPTIONS, ("crowd_score",))
        n = max((cell.n for row in rows for cell in row.of if cell is not None), default=0)
        tables.append(GroupRow(GROUPS.get(group, group.removeprefix(prefix)), n, rows))
    return tuple(tables)


def _build_pair_report(row: SystemPair) -> MultiqaPair:
    """Return a comparison for readers, with the better model if p (Holm) is below 0.05."""
    p, difference = row.adjusted_p_value, row.difference
    better, worse = "", ""
    if p is not None and p < 0.05 and difference:
        better, worse = row.system_a, row.system_b
        if difference < 0:
            better, worse = worse, better
    return MultiqaPair(
        row, COMPARED.get(row.metric, row.metric), better, worse, describe_reason(row.reason)
    )


def build_metrics_table(run: Run) -> Table:
    """Return the table for metrics.csv: over all items, by group, then by item."""
    return Table(METRICS.columns, _list_metric_rows(run))


def _list_metric_rows(run: Run) -> Iterator[MetricRow]:
    """Yield metric rows: over all items first, then by group, then by item."""
    rows = load_metric_rows(run)
    yield from (row for row in rows if row.group == OVERALL)
    yield from (row for row in rows if row.group != OVERALL)
    for row in load_item_rows(run):
        yield from row.build_metric_rows()


def build_items_table(run: Run) -> Table:
    """Return the table for items.csv, one row per system and item."""
    return Table(ITEM_COLUMNS, (row.list_cells() for row in load_item_rows(run)))


def build_questions_table(run: Run) -> Table:
    """Return the run's questions as an item file that ``evaluate multiqa`` can read.

    They are loaded from the version, since a published version never changes.
    """
    header = ("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher")
    items = load_version_items(run.version, load_options(run)).items
    return Table(
        header,
        (
            (
                *(item.item, item.kind, item.dataset, item.context, item.question),
                json.dumps(item.choices, ensure_ascii=False) if item.choices else "",
                json.dumps(item.answers, ensure_ascii=False),
                item.matcher,
            )
            for item in items
        ),
    )


def build_usage_table(run: Run) -> Table:
    """Return the table of requests, tokens and cost, one row per step and model."""
    header = (
        *("step", "model", "requests", "reused", "errors"),
        *("prompt_tokens", "completion_tokens", "cost"),
    )
    usage = MultiqaSummary.from_json(run.summary).usage
    return Table(header, ([getattr(each, name) for name in header] for each in usage))


TABLES: Mapping[str, Callable[[Run], Table]] = {
    METRICS.name: build_metrics_table,
    ITEMS.name: build_items_table,
    **build_table_readers([REPLIES]),
    "questions": build_questions_table,
    **build_table_readers([REWORDINGS, COMPARISONS, CROWD_ROWS]),
    "usage": build_usage_table,
}
"""Readers of the tables of a run that is done, by name."""


@dataclass(frozen=True)
class ReplyCell:
    """A model's reply to show; equal answers share a `letter`, `why` explains a missing text."""

    row: ReplyRow
    letter: str
    why: str


@dataclass(frozen=True)
class WordingTexts:
    """A wording of a question with each model's reply (None if it has no reply)."""

    variant: int
    text: str
    kind: str
    replies: tuple[ReplyCell | None, ...]


@dataclass(frozen=True)
class QuestionTexts:
    """A question to show, with all its wordings, replies and results.

    Attributes
    ----------
    item : the question; None if the version no longer has it.
    name : its id.
    items, crowd : metrics and crowd scores of its replies, one row for each model.
    right, n : number of right replies and of judged replies; `right` is None if none was judged.
    """

    item: MultiqaItem | None
    name: str
    items: tuple[ItemRow | None, ...]
    crowd: tuple[CrowdRow | None, ...]
    wordings: tuple[WordingTexts, ...]
    right: int | None
    n: int

    @property
    def sort_key(self) -> tuple[bool, float, float, str]:
        """Sort key, worst question first: share of right replies, then crowd score."""
        # 2 sorts after every share and every score.
        share = 2.0 if self.right is None or not self.n else self.right / self.n
        scores = [row.crowd_worst for row in self.crowd if row and row.crowd_worst is not None]
        return not self.n and not scores, share, min(scores, default=2.0), self.name


@dataclass(frozen=True)
class TextsPage(ComputedPage[QuestionTexts]):
    """A page of questions with their replies, the worst questions first."""

    systems: tuple[str, ...]


@dataclass
class _QuestionRows:
    """Stored item and crowd result rows of one question, by system."""

    items: dict[str, ItemRow] = field(default_factory=dict)
    crowd: dict[str, CrowdRow] = field(default_factory=dict)


def load_texts_page(run: Run, first: int, most: int) -> TextsPage:
    """Return `most` questions from position `first` on with all replies, worst first."""
    systems = MultiqaSummary.from_json(run.summary).systems
    rows: dict[str, _QuestionRows] = defaultdict(_QuestionRows)
    for item_row in load_item_rows(run):
        rows[item_row.item].items[item_row.system] = item_row
    for crowd_row in load_crowd_rows(run):
        rows[crowd_row.item].crowd[crowd_row.system] = crowd_row
    right: dict[str, list[bool]] = defaultdict(list)
    replies: dict[str, list[ReplyRow]] = defaultdict(list)
    for reply in load_reply_rows(run):
        replies[reply.item].append(reply)
        if reply.right is not None:
            right[reply.item].append(reply.right)
    kinds = {
        (row.item, row.variant): row.kind
        for row in load_rewording_rows(run)
        if row.variant is not None
    }
    items = {item.item: item for item in load_version_items(run.version, load_options(run)).items}
    questions = [
        QuestionTexts(
            items.get(name),
            name,
            tuple(rows[name].items.get(system) for system in systems),
            tuple(rows[name].crowd.get(system) for system in systems),
            (),
            sum(right[name]) if name in right else None,
            len(right.get(name, ())),
        )
        for name in replies
    ]
    ordered = sorted(questions, key=lambda question: question.sort_key)
    # Texts are added to the questions of this page only.
    page = [
        _add_wordings(question, replies[question.name], systems, kinds)
        for question in ordered[first : first + most]
    ]
    return TextsPage(page, first, len(ordered), systems)


def _add_wordings(
    question: QuestionTexts,
    replies: Sequence[ReplyRow],
    systems: Sequence[str],
    kinds: Mapping[tuple[str, int], str],
) -> QuestionTexts:
    """Return a question with its wordings and replies; `kinds` are by item and variant."""
    texts = {row.variant: row.variant_text for row in replies}
    by_wording = {(row.variant, row.system): row for row in replies}
    letters: dict[str, str] = {}
    wordings = []
    for variant in sorted(texts):
        cells = []
        for system in systems:
            row = by_wording.get((variant, system))
            letter = ""
            if row is not None and row.says is not None:
                letter = letters.setdefault(row.says, _format_answer_letter(len(letters)))
            why = (
                ""
                if row is None or row.status == "text"
                else row.error or describe_reason(row.status)
            )
            cells.append(None if row is None else ReplyCell(row, letter, why))
        kind = WORDINGS.get(kinds.get((question.name, variant), ""), "") if variant else ""
        wordings.append(WordingTexts(variant, texts[variant], kind, tuple(cells)))
    return replace(question, wordings=tuple(wordings))


def _format_answer_letter(index: int) -> str:
    """Return the letter of an answer by its index, or its number from the 27th answer on."""
    return LETTERS[index] if index < len(LETTERS) else str(index + 1)


@dataclass(frozen=True)
class ReportedRewording:
    """A rewording to show with its original question, its kind, and why it was rejected."""

    row: RewordingRow
    question: str
    kind: str
    why: str


@dataclass(frozen=True)
class RewordingsPage(ComputedPage[ReportedRewording]):
    """Page of a run's rewordings of questions, rejected ones first."""

    n_dropped: int


def load_rewordings_page(run: Run, first: int, most: int) -> RewordingsPage:
    """Return `most` rewordings from position `first` on, rejected ones first."""
    rows = sorted(load_rewording_rows(run), key=lambda row: row.variant is not None)
    questions = {
        item.item: item.question
        for item in load_version_items(run.version, load_options(run)).items
    }
    page = [
        ReportedRewording(
            row,
            questions.get(row.item, ""),
            WORDINGS.get(row.kind, row.kind),
            describe_reason(row.reason),
        )
        for row in rows[first : first + most]
    ]
    dropped = sum(row.variant is None for row in rows)
    return RewordingsPage(page, first, len(rows), dropped)
