"""What a run that asks questions in other words found, as its pages and the API show it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.flow.asking.summary import Usage
from evaluation.flow.metrics import OVERALL, MetricRow
from evaluation.flow.multiqa.evaluation import CHANCE
from evaluation.flow.multiqa.rows import SystemPair
from evaluation.flow.multiqa.summary import MultiqaSummary
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.values import LeftOut, left_out
from evaluation.steps.multiqa.found import (
    comparisons_of,
    metrics_of,
)
from evaluation.words.message import Message
from evaluation.words.multiqa import COMPARED, CROWD, GROUPS, NUMBERS, STEPS, NumberWords
from evaluation.words.reasons import in_words

# Numbers that a group of questions is shown by.
OF_GROUPS = ("alpha", "accuracy", "worst_case", "plurality", "best_case", "certainty")
# Models that sentences are said of.
SENTENCES = 5
# Questions in several wordings below which a sentence compares no spreads.
FEWEST = 5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


Cells = Mapping[tuple[str, str], Mapping[str, MetricRow]]
"""Rows by group and metric, then system."""


@dataclass(frozen=True)
class NumberShown:
    """A number of a model; `why` says in words why it is missing, or its interval is."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str
    chance: float | None


@dataclass(frozen=True)
class NumberRow:
    """A number in words, of every model; None where a model has none of it at all."""

    name: str
    words: NumberWords
    of: tuple[NumberShown | None, ...]

    @property
    def has_chance(self) -> bool:
        """Whether anybody knows what guessing gives."""
        return any(one is not None and one.chance is not None for one in self.of)


@dataclass(frozen=True)
class GroupRow:
    """A format or a data set: some numbers of every model."""

    name: str
    n: int
    rows: tuple[NumberRow, ...]


@dataclass(frozen=True)
class MultiqaPair:
    """Two models, in a sentence's parts: `better` is "" where the data do not say who is."""

    row: SystemPair
    what: str
    better: str
    worse: str
    why: str

    @property
    def size(self) -> float:
        """How far they are apart, without a sign."""
        return abs(self.row.difference or 0.0)


@dataclass(frozen=True)
class MultiqaReport:
    """Everything on the first page."""

    systems: tuple[str, ...]
    numbers: tuple[NumberRow, ...]
    crowd: tuple[NumberRow, ...]
    formats: tuple[GroupRow, ...]
    datasets: tuple[GroupRow, ...]
    comparisons: tuple[MultiqaPair, ...]
    usage: tuple[Usage, ...]
    left_out: list[LeftOut]
    wrong_by_form: list[LeftOut]
    dropped: list[LeftOut]
    summary: MultiqaSummary
    messages: tuple[Message, ...] = ()

    @property
    def knows_right(self) -> bool:
        """Whether any question has an accepted answer, so that replies are right or wrong."""
        return any(
            shown is not None and shown.value is not None
            for row in self.numbers
            if row.name == "accuracy"
            for shown in row.of
        )

    @property
    def said(self) -> list[str]:
        """What it comes to, in sentences of the site."""
        return SITE.all_said(self.messages)

    @property
    def cost(self) -> float | None:
        """What the run cost; None where nobody knows."""
        return self.summary.cost


def multiqa_report(run: Run) -> MultiqaReport:
    """Return what a run that is done found."""
    summary = MultiqaSummary.of(run.summary)
    cells = _cells(metrics_of(run))
    systems = summary.systems
    return MultiqaReport(
        systems,
        _numbers(cells, OVERALL, systems, NUMBERS, list(NUMBERS)),
        _numbers(cells, OVERALL, systems, CROWD, list(CROWD)),
        _groups(cells, systems, "kind:"),
        _groups(cells, systems, "dataset:"),
        tuple(_compared(row) for row in comparisons_of(run)),
        summary.usage,
        left_out(summary.exclusions),
        left_out(summary.wrong_by_form),
        [LeftOut(count, reason, in_words(reason)) for reason, count in summary.dropped.items()],
        summary,
        tuple(_messages(cells, systems)),
    )


def _messages(cells: Cells, systems: Sequence[str]) -> Iterator[Message]:
    for system in systems[:SENTENCES]:
        of = {name: rows.get(system) for (group, name), rows in cells.items() if not group}
        accuracy, worst = of.get("accuracy"), of.get("worst_case")
        if accuracy and worst and accuracy.value is not None and worst.value is not None:
            values = {"accuracy": accuracy.value, "worst": worst.value, "n": accuracy.n}
            yield Message("multiqa.right", {"system": system, **values})
        ratio, rewordings = of.get("spread_ratio"), of.get("spread_rewordings")
        people = of.get("spread_people")
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


def _cells(rows: Iterable[MetricRow]) -> Cells:
    """Return the rows by group and metric, then system."""
    found: dict[tuple[str, str], dict[str, MetricRow]] = defaultdict(dict)
    for row in rows:
        found[row.group, row.metric][row.system] = row
    return found


def _numbers(
    cells: Cells,
    group: str,
    systems: Sequence[str],
    words: Mapping[str, NumberWords],
    names: Sequence[str],
) -> tuple[NumberRow, ...]:
    return tuple(
        NumberRow(name, words[name], tuple(_shown(cells, group, name, one) for one in systems))
        for name in names
        if (group, name) in cells
    )


def _shown(cells: Cells, group: str, name: str, system: str) -> NumberShown | None:
    row = cells[group, name].get(system)
    if row is None:
        return None
    chance = cells.get((group, f"{CHANCE}{name}"), {}).get(system)
    by_chance = None if chance is None else chance.value
    return NumberShown(row.value, row.low, row.high, row.n, in_words(row.reason), by_chance)


def _groups(cells: Cells, systems: Sequence[str], prefix: str) -> tuple[GroupRow, ...]:
    names = dict.fromkeys(group for group, _ in cells if group.startswith(prefix))
    found = []
    for group in names:
        rows = _numbers(cells, group, systems, NUMBERS, OF_GROUPS)
        rows += _numbers(cells, group, systems, CROWD, ("crowd_score",))
        n = max((one.n for row in rows for one in row.of if one is not None), default=0)
        found.append(GroupRow(GROUPS.get(group, group.removeprefix(prefix)), n, rows))
    return tuple(found)


def _compared(row: SystemPair) -> MultiqaPair:
    p, difference = row.adjusted_p_value, row.difference
    better, worse = "", ""
    if p is not None and p < 0.05 and difference:
        better, worse = row.system_a, row.system_b
        if difference < 0:
            better, worse = worse, better
    return MultiqaPair(
        row, COMPARED.get(row.metric, row.metric), better, worse, in_words(row.reason)
    )


def step_words(step: str) -> str:
    """Return what a step was for, in words."""
    return STEPS.get(step, step)
