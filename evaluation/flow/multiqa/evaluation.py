"""The numbers of MultiQ&A by system and group, with chance beside them, and systems compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow, group_name
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.judging import Judged, Judgement, judge
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import (
    CODE_OF,
    EMPTY,
    NO_REPLY,
    REFUSED,
    TEXT,
    Replies,
)
from evaluation.methods.inference.clustered import means
from evaluation.methods.inference.comparison import Comparison, compare_models
from evaluation.methods.multiqa.robustness import NAMES, Robustness, robustness

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]

CHANCE = "chance_"
COMPARED = ("accuracy", "plurality", "worst_case", "best_case")
NO_ORIGINAL_TEXT = "no_text_to_the_original"
RATES = (
    *("accuracy_answered", "refusal_rate", "refused_prompt_rate", "refused_generation_rate"),
    "empty_rate",
)


@dataclass(frozen=True)
class SystemFound:
    """What the replies of one system show.

    Attributes
    ----------
    judged : its replies. overall : its numbers over all items, and those of each item.
    """

    judged: Judged
    overall: Robustness

    def item_numbers(self, name: str) -> Floats:
        """Return (n,) a number of every item, NaN where it is undefined; see `items.OF_ITEMS`."""
        return self.overall.numbers.values[name][self.overall.profiles]


@dataclass
class MultiqaEvaluation:
    """An evaluation.

    Attributes
    ----------
    rows : of all groups but the single items, system by system. systems : the same in the order of
        the systems. n_draws, seed : of the intervals.
    """

    judgement: Judgement
    parameters: MultiqaParameters
    rows: list[MetricRow]
    systems: tuple[SystemFound, ...]

    @cached_property
    def comparisons(self) -> list[tuple[str, Comparison]]:
        """Every two systems, by the exact McNemar test with Holm's correction, for each number.

        The intervals are those of the difference; item_difficulty, which is no yes or no, is
        compared by a permutation test.
        """
        if len(self.systems) < 2:
            return []
        names = [one.judged.laid.system for one in self.systems]
        found = []
        for name in (*COMPARED, "item_difficulty"):
            scores = np.full((len(names), len(self.judgement.items)), np.nan)
            for row, one in zip(scores, self.systems, strict=True):
                row[one.judged.laid.items] = one.item_numbers(name)
            pairs = compare_models(
                scores,
                names,
                n_draws=self.parameters.bootstrap,
                seed=self.parameters.seed,
                test="mcnemar" if name in COMPARED else "permutation",
            )
            found += [(name, pair) for pair in pairs]
        return found

    def left_out(self) -> list[dict[str, Any]]:
        """Return how many items are in no number of a system, by number and reason."""
        return [
            {
                "system": one.judged.laid.system,
                "metric": name,
                "reason": reason,
                "count": count,
            }
            for one in self.systems
            for name, reasons in one.overall.left_out.items()
            for reason, count in reasons.items()
        ]


def evaluate(
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
    left_out: Exclusions | None = None,
    progress: Progress | None = None,
) -> MultiqaEvaluation:
    """Judge the replies and compute every number. Raises `BackendError`.

    `left_out` holds what was left out already, and gets what is left out here.
    """
    noted = Exclusions() if left_out is None else left_out
    judgement = judge(items, replies, parameters, noted, progress)
    rows: list[MetricRow] = []
    systems = []
    for done, judged in enumerate(judgement.systems):
        if progress is not None:
            progress("evaluating", done, len(judgement.systems))
        of_system, overall = _of_system(judged, items, parameters)
        rows += of_system
        systems.append(SystemFound(judged, overall))
    if progress is not None:
        progress("evaluating", len(judgement.systems), len(judgement.systems))
    return MultiqaEvaluation(judgement, parameters, rows, tuple(systems))


def _of_system(
    judged: Judged, items: Sequence[MultiqaItem], parameters: MultiqaParameters
) -> tuple[list[MetricRow], Robustness]:
    """Return the rows of every group of a system, and what all items together show."""
    rows: list[MetricRow] = []
    n = len(judged.panel)
    everything = robustness(judged.panel, parameters.bootstrap, parameters.seed)
    for group, members in _groups(judged, items):
        found = everything
        if len(members) < n:
            panel = judged.panel.of_items(members)
            found = robustness(panel, parameters.bootstrap, parameters.seed)
        rows += _rows(judged.laid.system, group, found)
        rows += _rates(judged, group, members, parameters)
    return rows, everything


def _groups(judged: Judged, items: Sequence[MultiqaItem]) -> Iterator[tuple[str, Ints]]:
    """Yield the groups and the rows of their items: all, then kinds and data sets as they come."""
    numbers = judged.laid.items.tolist()
    yield OVERALL, np.arange(len(numbers))
    for key, names in (
        ("kind", [items[number].kind for number in numbers]),
        ("dataset", [items[number].dataset for number in numbers]),
    ):
        of = np.array(names, dtype=np.str_)
        for name in dict.fromkeys(names):
            if name:
                yield group_name(key, name), np.flatnonzero(of == name)


def _rows(system: str, group: str, found: Robustness) -> Iterator[MetricRow]:
    for name in NAMES:
        yield MetricRow.of(system, group, name, found.found[name])
        yield MetricRow.of(system, group, f"{CHANCE}{name}", found.chance[name])


def _rates(
    judged: Judged, group: str, members: Ints, parameters: MultiqaParameters
) -> Iterator[MetricRow]:
    """Yield how many replies were refused, on which side, or empty, and what is right without."""
    statuses = judged.laid.statuses[members]
    given = (statuses != NO_REPLY).sum(axis=1)
    shares = [
        np.isin(statuses, codes).sum(axis=1) / np.maximum(given, 1)
        for codes in (
            REFUSED,
            (CODE_OF[AnswerStatus.REFUSED_PROMPT],),
            (CODE_OF[AnswerStatus.REFUSED_GENERATION],),
            (EMPTY,),
        )
    ]
    original = judged.panel.right[members, 0].astype(np.float64)
    answered = np.where(statuses[:, 0] == TEXT, original, np.nan)
    found = means([answered, *shares], parameters.bootstrap, parameters.seed)
    for name, estimate in zip(RATES, found, strict=True):
        row = MetricRow.of(judged.laid.system, group, name, estimate)
        if name == RATES[0] and row.value is None and len(members):
            row = row._replace(reason=NO_ORIGINAL_TEXT)
        yield row
