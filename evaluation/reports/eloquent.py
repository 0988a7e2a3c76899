"""What a run that compares replies to prompts of the same meaning found, for pages and REST."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.flow.eloquent.found import Findings, ItemRow, Key, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.summary import EloquentSummary
from evaluation.flow.metrics import MetricRow
from evaluation.methods.eloquent.judges import JudgeAgreement
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.steps.eloquent.tables import findings_of
from evaluation.words.reasons import in_words

# Sets whose texts a page shows.
SETS_SHOWN = 30


@dataclass(frozen=True)
class SystemScores:
    """A model: its sum over `n` sets of replies, mean with interval, rank, similarity.

    None where undefined; `rank_reason` says why there is no rank.
    """

    system: str
    sum: float | None
    n: int
    mean: float | None
    low: float | None
    high: float | None
    rank: int | None
    rank_reason: str
    similarity: float | None
    similarity_answered: float | None
    no_answer_rate: float | None


@dataclass(frozen=True)
class GroupScores:
    """A kind of variation or a language: the mean of each model, and their average."""

    name: str
    means: list[float | None]
    average: float | None


@dataclass(frozen=True)
class ItemScores:
    """An item: in what its wordings differ, the score of each model, and their average."""

    item: str
    variation: str
    scores: list[float | None]
    average: float | None


@dataclass(frozen=True)
class LeftOut:
    """What does not count: how many, and why."""

    count: int
    reason: str
    words: str


@dataclass(frozen=True)
class EloquentReport:
    """Everything on the first page; items and groups with the lowest average first."""

    systems: list[SystemScores]
    judges: list[str]
    items: list[ItemScores]
    variations: list[GroupScores]
    languages: list[GroupScores]
    agreements: list[JudgeAgreement]
    left_out: list[LeftOut]
    summary: EloquentSummary

    @property
    def names(self) -> list[str]:
        """The models, in the order of the columns."""
        return [one.system for one in self.systems]


def eloquent_report(run: Run) -> EloquentReport:
    """Return what a run that is done found."""
    findings, summary = findings_of(run), EloquentSummary.of(run.summary)
    return EloquentReport(
        [_system(findings, system) for system in findings.systems],
        list(findings.judges),
        item_scores(findings),
        _groups(findings, "variation:"),
        _groups(findings, "language:"),
        list(findings.agreements),
        [
            LeftOut(one["count"], one["reason"], in_words(one["reason"]))
            for one in summary.exclusions
        ],
        summary,
    )


def _system(findings: Findings, system: str) -> SystemScores:
    found = {row.metric: row for row in findings.metrics if row.system == system and not row.group}
    rank, mean = found["rank"], found["mean"]

    def value(name: str) -> float | None:
        return found[name].value if name in found else None

    return SystemScores(
        system,
        value("sum"),
        mean.n,
        mean.value,
        mean.low,
        mean.high,
        None if rank.value is None else int(rank.value),
        in_words(rank.reason),
        value("similarity"),
        value("similarity_answered"),
        value("no_answer_rate"),
    )


def item_scores(findings: Findings) -> list[ItemScores]:
    """Return the paper's Table 2, items with the lowest average first, those without one last."""
    cells = {(row.item, row.system): row for row in findings.items}
    found = []
    for item in dict.fromkeys(row.item for row in findings.items):
        rows = [cells[item, system] for system in findings.systems]
        scores = [row.score for row in rows]
        found.append(ItemScores(item, rows[0].variation, scores, _mean(scores)))
    return sorted(found, key=lambda one: (one.average is None, one.average or 0.0))


def _groups(findings: Findings, prefix: str) -> list[GroupScores]:
    means: dict[str, dict[str, float | None]] = defaultdict(dict)
    for row in findings.metrics:
        if row.group.startswith(prefix) and row.metric == "mean":
            means[row.group.removeprefix(prefix)][row.system] = row.value
    found = []
    for name, by_system in means.items():
        values = [by_system.get(system) for system in findings.systems]
        found.append(GroupScores(name, values, _mean(values)))
    return sorted(found, key=lambda one: (one.average is None, one.average or 0.0))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class SetTexts:
    """The replies of a model to an item in a language beside each other, and what judges said."""

    row: SetRow
    replies: list[Reply]
    judgements: list[Judgement]
    why: str


@dataclass(frozen=True)
class TextsPage:
    """The sets with the most unlike replies; `more` are not shown."""

    sets: list[SetTexts]
    more: int


def texts_page(run: Run, most: int = SETS_SHOWN) -> TextsPage:
    """Return the texts of the sets with the lowest score, or similarity where nobody judged."""
    findings = findings_of(run)
    replies: dict[Key, list[Reply]] = defaultdict(list)
    for reply in findings.replies:
        replies[reply.system, reply.item, reply.language].append(reply)
    judgements: dict[Key, list[Judgement]] = defaultdict(list)
    for one in findings.judgements:
        judgements[one.system, one.item, one.language].append(one)
    compared = [row for row in findings.sets if row.n_replies > 1]
    ordered = sorted(compared, key=_alike)
    shown = [
        SetTexts(row, replies[row.key], judgements[row.key], in_words(row.reason))
        for row in ordered[:most]
    ]
    return TextsPage(shown, max(0, len(ordered) - most))


def _alike(row: SetRow) -> tuple[bool, float, float]:
    similarity = -1.0 if row.similarity is None else row.similarity
    return row.score is None, row.score or 0.0, similarity


def metrics_table(run: Run) -> Table:
    """Return the numbers of metrics.csv."""
    return Table(MetricRow._fields, findings_of(run).metrics)


def items_table(run: Run) -> Table:
    """Return the rows of items.csv."""
    return Table(ItemRow._fields, findings_of(run).items)


def sets_table(run: Run) -> Table:
    """Return the rows of reply_sets.csv."""
    return Table(SetRow._fields, findings_of(run).sets)


def replies_table(run: Run) -> Table:
    """Return the replies, each with its prompt."""
    header = ("system", "item", "language", "variant", "prompt", "reply", "status")
    return Table(
        header,
        (
            (one.system, one.item, one.language, one.place + 1, one.prompt, one.text, one.status)
            for one in findings_of(run).replies
        ),
    )


def judgements_table(run: Run) -> Table:
    """Return what judges said, as evaluations of files read it."""
    header = ("item", "system", "language", "judge", "repeat", "score", "reason", "judge_reply")
    rows: Sequence[Judgement] = findings_of(run).judgements
    return Table(
        header,
        (
            (
                *(one.item, one.system, one.language, one.judge, one.repeat),
                *(one.score, one.reason, one.reply),
            )
            for one in rows
        ),
    )


def agreement_table(run: Run) -> Table:
    """Return every two judges compared."""
    header = (
        *("judge", "other", "n", "difference", "absolute_difference"),
        *("kappa", "pearson", "spearman", "reason"),
    )
    rows = findings_of(run).agreements
    return Table(header, ([getattr(one, name) for name in header] for one in rows))
