"""What a run that compares replies to prompts of the same meaning found, for pages and REST."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.flow.eloquent.found import Findings, SetRow
from evaluation.flow.eloquent.judging import is_human
from evaluation.flow.eloquent.summary import EloquentSummary
from evaluation.methods.eloquent.judges import JudgeAgreement
from evaluation.models import Run
from evaluation.reports.eloquent.people import findings_with_people
from evaluation.reports.values import LeftOut, left_out
from evaluation.words.reasons import in_words

# Sets that people and programs judged differently, as a page shows them.
MOST_APART = 10


@dataclass(frozen=True)
class SystemScores:
    """A model: its sum over `n` sets of replies, mean with interval, rank, similarity.

    None where undefined; `rank_reason` says why there is no rank. The `human_` numbers are those of
    people, over the `human_n` sets that they judged, beside `judged_mean`, what judges gave these.
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
    human_mean: float | None
    human_low: float | None
    human_high: float | None
    human_n: int
    judged_mean: float | None


@dataclass(frozen=True)
class Apart:
    """A set of replies that people and programs judged: what each side says, 0 to 5."""

    system: str
    item: str
    language: str
    score: float
    human_score: float


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
    apart: list[Apart]

    @property
    def names(self) -> list[str]:
        """The models, in the order of the columns."""
        return [one.system for one in self.systems]


def eloquent_report(run: Run) -> EloquentReport:
    """Return what a run that is done found."""
    findings, summary = findings_with_people(run), EloquentSummary.of(run.summary)
    return EloquentReport(
        [_system(findings, system) for system in findings.systems],
        list(findings.judges),
        item_scores(findings),
        _groups(findings, "variation:"),
        _groups(findings, "language:"),
        list(findings.agreements),
        left_out(summary.exclusions),
        summary,
        _apart(findings),
    )


def _apart(findings: Findings) -> list[Apart]:
    """Return the sets on which people and programs differ most, if both judged."""
    both = [
        Apart(row.system, row.item, row.language, row.score, row.human_score)
        for row in findings.sets
        if row.score is not None and row.human_score is not None
    ]
    if all(is_human(judge) for judge in findings.judges):
        return []
    return sorted(both, key=lambda one: -abs(one.score - one.human_score))[:MOST_APART]


def _system(findings: Findings, system: str) -> SystemScores:
    found = {row.metric: row for row in findings.metrics if row.system == system and not row.group}
    rank, mean, human = found["rank"], found["mean"], found.get("human_mean")
    judged = [
        row.score
        for row in findings.sets
        if row.system == system and row.human_score is not None and _by_models(findings, row)
    ]

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
        human.value if human else None,
        human.low if human else None,
        human.high if human else None,
        human.n if human else 0,
        _mean(judged),
    )


def _by_models(findings: Findings, row: SetRow) -> bool:
    """Return whether the score of a set is that of programs."""
    return row.score is not None and not all(is_human(judge) for judge in findings.judges)


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
