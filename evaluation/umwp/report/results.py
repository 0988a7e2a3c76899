"""Results of the models in a UMWP run, and pages of their replies with errors first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from annotations.exchange.reading.word_problems import CATEGORY_NAMES
from evaluation.core.estimates import Exclusion, list_exclusions
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.models import Run
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.reports.lists import build_table_readers
from evaluation.runs.steps.checkpoints import read_result_table
from evaluation.umwp.problems import NoiseRow
from evaluation.umwp.run.classification import (
    ANSWERABLE,
    EXPRESSION,
    REFUSED,
    TEMPLATE,
    UNANSWERABLE,
)
from evaluation.umwp.run.result_tables import (
    ABLATION,
    COMPARISONS,
    NOISE,
    SIZES,
    STORED_TABLES,
    TRENDS,
)
from evaluation.umwp.run.study import ItemRow
from evaluation.umwp.run.tables import BOTH, F1_LOST, AblationRow, ComparisonRow, SizeRow, TrendRow
from evaluation.umwp.storage.running import (
    UmwpSummary,
    load_item_rows,
    load_metric_rows,
    load_problem_rows,
    load_reply_rows,
)


@dataclass(frozen=True)
class ShareEstimate(Estimate):
    """A share from 0 to 1 of `n` cases, with its interval; `why` explains a missing value."""

    n: int = 0
    reason: str = ""
    why: str = ""


@dataclass(frozen=True)
class RecognitionRates:
    """Rates and counts of the unanswerable problems that a model recognised in a prompt form.

    The model recognised `noticed` of the `without_answer` unanswerable questions, and called
    `wrongly` of the `with_answer` answerable ones unanswerable; refused replies are not counted.
    `pairs` is the share of pairs (an unanswerable question and its original) of which the first was
    recognised and the second answered correctly.
    """

    system: str
    form: str
    precision: ShareEstimate
    recall: ShareEstimate
    f1: ShareEstimate
    answer_accuracy: ShareEstimate
    pairs: ShareEstimate
    noticed: int
    without_answer: int
    wrongly: int
    with_answer: int
    refusals: int


@dataclass(frozen=True)
class GroupRates:
    """A metric of all models for one category or source of problems, in one prompt form.

    For a category it is the recall, because all its questions are unanswerable; for a source F1.
    """

    name: str
    form: str
    numbers: list[ShareEstimate]


@dataclass(frozen=True)
class PartRates:
    """Rates of one part of the classifier used alone, and the F1 lost without the other part."""

    system: str
    form: str
    part: str
    precision: ShareEstimate
    recall: ShareEstimate
    f1: ShareEstimate
    lost: ShareEstimate


@dataclass(frozen=True)
class UmwpReport:
    """Results of a UMWP run shown on its main page, without the replies."""

    systems: list[str]
    forms: list[str]
    models: list[RecognitionRates]
    categories: list[GroupRates]
    sources: list[GroupRates]
    comparisons: list[ComparisonRow]
    parts: list[PartRates]
    sizes: list[SizeRow]
    trends: list[TrendRow]
    contradictions: list[NoiseRow]
    left_out: list[Exclusion]
    summary: UmwpSummary

    @property
    def compared(self) -> list[ComparisonRow]:
        """Comparisons of two models that share at least one question."""
        return [row for row in self.comparisons if row.n]

    @property
    def known_parts(self) -> list[PartRates]:
        """Rates of the classifier's parts alone, without those of which no rate is defined."""
        return [
            part
            for part in self.parts
            if any(metric.value is not None for metric in (part.f1, part.precision, part.recall))
        ]

    @property
    def has_right_numbers(self) -> bool:
        """Whether any answerable question has an accepted number to compare answers with."""
        return any(model.answer_accuracy.n for model in self.models)

    @property
    def has_pairs(self) -> bool:
        """Whether any unanswerable question names its answerable original question."""
        return any(model.pairs.n for model in self.models)


def build_report(run: Run) -> UmwpReport:
    """Return the results of a finished UMWP run for its main page."""
    summary = UmwpSummary.from_json(run.summary)
    systems, forms = list(summary.systems), list(summary.forms)
    metrics = _MetricLookup(load_metric_rows(run), systems, forms)
    return UmwpReport(
        systems,
        forms,
        metrics.build_model_rates(),
        metrics.build_group_rates("category", "recall", lambda name: CATEGORY_NAMES[int(name)]),
        metrics.build_group_rates("source", "f1", str),
        list(read_result_table(run, COMPARISONS)),
        _build_part_rates(read_result_table(run, ABLATION)),
        list(read_result_table(run, SIZES)),
        list(read_result_table(run, TRENDS)),
        list(read_result_table(run, NOISE)),
        list_exclusions(summary.exclusions),
        summary,
    )


def build_model_results(rows: Iterable[MetricRow]) -> list[RecognitionRates]:
    """Return the rates and counts of each system in each prompt form, from rows of metrics.csv."""
    by_form = [row for row in rows if _FORM_GROUP.fullmatch(row.group)]
    systems = list(dict.fromkeys(row.system for row in by_form))
    forms = list(dict.fromkeys(row.group.removeprefix("form:") for row in by_form))
    return _MetricLookup(by_form, systems, forms).build_model_rates()


def build_share_estimate(row: Any) -> ShareEstimate:
    """Return the value and interval of a result row; an empty estimate for None."""
    if row is None:
        return ShareEstimate()
    value = row.f1 if isinstance(row, SizeRow) else row.value
    return ShareEstimate(
        value, row.low, row.high, row.n, row.reason or "", describe_reason(row.reason)
    )


class _MetricLookup:
    """Rows of metrics.csv, looked up by system, group and metric."""

    def __init__(self, rows: Iterable[MetricRow], systems: list[str], forms: list[str]) -> None:
        self.systems, self.forms = systems, forms
        self.rows = {(row.system, row.group, row.metric): row for row in rows}

    def find_metric(self, system: str, form: str, metric: str) -> MetricRow | None:
        """Return a system's metric over all questions in a prompt form; None if missing."""
        return self.rows.get((system, f"form:{form}", metric))

    def build_model_rates(self) -> list[RecognitionRates]:
        """Return the rates and counts of each system in each prompt form."""
        return [
            _build_model_result(self, system, form)
            for form in self.forms
            for system in self.systems
        ]

    def build_group_rates(
        self, key: str, metric: str, format_name: Callable[[str], str]
    ) -> list[GroupRates]:
        """Return a metric of each system by question group and prompt form.

        `key` is the kind of group: category or source. `format_name` returns the label of a group.
        """
        names = dict.fromkeys(
            group.removeprefix(f"{key}:").split(",form:")[0]
            for _, group, _ in self.rows
            if group.startswith(f"{key}:")
        )
        # With several forms the name of a group ends with its form.
        is_only_form = len(self.forms) == 1
        return [
            GroupRates(
                format_name(name),
                form,
                [
                    build_share_estimate(
                        self.rows.get(
                            (
                                system,
                                f"{key}:{name}{'' if is_only_form else f',form:{form}'}",
                                metric,
                            )
                        )
                    )
                    for system in self.systems
                ],
            )
            for form in self.forms
            for name in sorted(names)
        ]


def _build_model_result(metrics: _MetricLookup, system: str, form: str) -> RecognitionRates:
    """Return the detection rates and counts of a system in a prompt form."""

    def get_count(metric: str) -> int:
        row = metrics.find_metric(system, form, metric)
        return 0 if row is None or row.value is None else int(row.value)

    noticed, missed = get_count("true_positives"), get_count("false_negatives")
    wrongly, refusals = get_count("false_positives"), get_count("refusals")
    count_row = metrics.find_metric(system, form, "true_positives")
    n = count_row.n if count_row else 0
    return RecognitionRates(
        system,
        form,
        **{
            name: build_share_estimate(metrics.find_metric(system, form, name))
            for name in _RATE_NAMES
        },
        noticed=noticed,
        without_answer=noticed + missed,
        wrongly=wrongly,
        # `n` counts all replies, so the rest are those to answerable questions.
        with_answer=n - refusals - noticed - missed,
        refusals=refusals,
    )


# The group of all questions in one form; further groups name it after a comma.
_FORM_GROUP = re.compile(r"form:[^,]*")
_RATE_NAMES = ("precision", "recall", "f1", "answer_accuracy", "pairs")


def _build_part_rates(rows: Iterable[AblationRow]) -> list[PartRates]:
    """Return the metrics of each classifier part used alone, by system and prompt form."""
    by_part: dict[tuple[str, str, str], dict[str, AblationRow]] = {}
    for row in rows:
        by_part.setdefault((row.system, row.form, row.part), {})[row.metric] = row
    return [
        PartRates(
            *key,
            *(
                build_share_estimate(part_rows.get(name))
                for name in ("precision", "recall", "f1", F1_LOST)
            ),
        )
        for key, part_rows in by_part.items()
        if key[2] != BOTH
    ]


TABLES = build_table_readers(STORED_TABLES)


MISSED, FALSE_ALARM, WRONG, REFUSAL = "missed", "gave_up", "wrong_number", "refused"
FAILED, UNJUDGED, RIGHT, CUT = "failed", "unknown", "right", "cut_off"
OUTCOMES = {
    MISSED: "unanswerable question answered",
    FALSE_ALARM: "answerable question marked unanswerable",
    WRONG: "wrong number",
    REFUSAL: "refusal",
    CUT: "cut off before an answer",
    FAILED: "request failed",
    UNJUDGED: "question without a label",
    RIGHT: "right",
}
"""Text of each outcome, in the order of the page: errors first."""


@dataclass(frozen=True)
class MarkedText:
    """A reply split at the window most similar to a template: before, window (`words`), after."""

    before: str
    words: str
    after: str


@dataclass(frozen=True)
class ReplyWithOutcome:
    """A reply to show, with its question, accepted answers, class and outcome.

    Attributes
    ----------
    outcome : key of `OUTCOMES`.
    text : the reply, with the window marked that is nearest a template.
    is_math : False where letters in the answer are no variables.
    """

    row: ItemRow
    outcome: str
    question: str
    right_answers: tuple[float, ...]
    text: MarkedText
    is_math: bool

    @property
    def words(self) -> str:
        """Description of the reply's outcome for readers, such as a wrong classification."""
        return OUTCOMES[self.outcome]

    @property
    def category_name(self) -> str:
        """Name of the category why the question is unanswerable; "" without one."""
        return CATEGORY_NAMES.get(self.row.category or 0, "")

    @property
    def by_template(self) -> bool:
        """Whether similarity to a template decided the class."""
        return self.row.decided_by == TEMPLATE

    @property
    def by_expression(self) -> bool:
        """Whether an expression with a variable decided the class."""
        return self.row.decided_by == EXPRESSION


@dataclass(frozen=True)
class RepliesPage:
    """One page of a run's replies, with the number of replies by outcome.

    Attributes
    ----------
    replies : replies on this page.
    counts : number of all replies of the chosen model and form by outcome, errors first.
    n : number of replies on all pages.
    page, pages : number of this page, from 1, and of all pages.
    """

    replies: list[ReplyWithOutcome]
    counts: dict[str, int]
    n: int
    page: int
    pages: int

    @property
    def previous(self) -> int:
        """Number of the previous page."""
        return self.page - 1

    @property
    def next(self) -> int:
        """Number of the next page."""
        return self.page + 1


def build_replies_page(
    run: Run, system: str = "", form: str = "", outcome: str = "", page: int = 1, size: int = 25
) -> RepliesPage:
    """Return a page of `size` replies, wrongly classified or answered ones first.

    "" chooses all models, forms or outcomes. A `page` outside the range is the nearest page.
    """
    rows = [
        row
        for row in load_item_rows(run)
        if (not system or row.system == system) and (not form or row.form == form)
    ]
    by_outcome: dict[str, list[ItemRow]] = {name: [] for name in OUTCOMES}
    for row in rows:
        by_outcome[classify_outcome(row)].append(row)
    ordered = [
        (name, row)
        for name, outcome_rows in by_outcome.items()
        if not outcome or name == outcome
        for row in outcome_rows
    ]
    pages = max(1, -(-len(ordered) // size))
    page = min(max(1, page), pages)
    chosen = ordered[(page - 1) * size : page * size]
    return RepliesPage(
        _build_replies_with_outcome(run, chosen),
        {name: len(outcome_rows) for name, outcome_rows in by_outcome.items() if outcome_rows},
        len(ordered),
        page,
        pages,
    )


def classify_outcome(row: ItemRow) -> str:
    """Return the outcome of a stored reply, a key of `OUTCOMES`."""
    if row.taken_as is None:
        return CUT if row.reason == CUT else FAILED
    if row.answerable is None:
        return UNJUDGED
    if row.taken_as == REFUSED:
        return REFUSAL
    if not row.answerable:
        return RIGHT if row.taken_as == UNANSWERABLE else MISSED
    if row.taken_as != ANSWERABLE:
        return FALSE_ALARM
    return WRONG if row.right is False else RIGHT


def _build_replies_with_outcome(
    run: Run, chosen: list[tuple[str, ItemRow]]
) -> list[ReplyWithOutcome]:
    """Return the replies of (outcome, row) pairs with their texts and questions."""
    # All replies of a large run would not fit into memory: only texts of this page are collected.
    keys = {(row.system, row.form, row.item) for _, row in chosen}
    texts = {
        (reply.system, reply.form, reply.id): reply.reply
        for reply in load_reply_rows(run)
        if (reply.system, reply.form, reply.id) in keys
    }
    ids = {row.item for _, row in chosen}
    problems = {problem.id: problem for problem in load_problem_rows(run) if problem.id in ids}
    return [
        ReplyWithOutcome(
            row,
            outcome,
            problems[row.item].question,
            tuple(problems[row.item].answer or ()),
            mark_window(texts[row.system, row.form, row.item], row.window),
            problems[row.item].math,
        )
        for outcome, row in chosen
    ]


def mark_window(reply: str, window: str | None) -> MarkedText:
    """Return a reply split before and after a window's words; unsplit if they do not occur."""
    if window:
        # A window is in lower case with single spaces, the reply is not.
        pattern = r"\s+".join(map(re.escape, window.split()))
        match = re.search(pattern, reply, re.IGNORECASE)
        if match is not None:
            return MarkedText(reply[: match.start()], match[0], reply[match.end() :])
    return MarkedText(reply, "", "")
