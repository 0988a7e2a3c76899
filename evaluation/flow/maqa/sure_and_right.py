"""Sure and right beside each other: curves, calibration, and systems compared by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evaluation.flow.maqa.columns import CONSISTENCY, SETS, SURENESS, VERBALISED, Cases, Columns
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.methods.cells import Integers
from evaluation.methods.inference.comparison import compare_models
from evaluation.methods.maqa.calibration import Calibration, calibration, roc_curve
from evaluation.methods.maqa.sureness import area_difference

# Measures that are shares of one, by what they have to be divided by.
SHARES: Mapping[str, float] = {"max_softmax": 1.0, VERBALISED: 100.0, CONSISTENCY: 1.0}
F1 = "f1"


class CurveRow(NamedTuple):
    """A row of curves.csv, a point of the ROC curve of a measure.

    Of the answers (replies, questions) that are at least as sure: the share `found` of the right
    ones, where they are a share `false_alarms` of the wrong ones.
    """

    system: str
    measure: str
    false_alarms: float
    found: float
    low: float | None
    high: float | None


class BinRow(NamedTuple):
    """A row of calibration.csv: what was said with a confidence from `start` to `end`, 0 to 1."""

    system: str
    measure: str
    start: float
    end: float
    confidence: float
    accuracy: float
    low: float | None
    high: float | None
    n: int
    questions: int


class PairRow(NamedTuple):
    """A row of comparisons.csv: system A minus system B, over the `n` questions of both.

    `measure` is f1, with p-values, or auroc_ and a measure of sureness, with an interval only.
    """

    system_a: str
    system_b: str
    measure: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    n: int
    reason: str | None


def curve_rows(system: str, columns: Columns, parameters: MaqaParameters) -> Iterator[CurveRow]:
    """Yield the ROC curves of a system, a measure after the other."""
    for measure, cases in columns.cases.items():
        of = (cases.sureness, cases.right, cases.items, parameters.bootstrap, parameters.seed)
        for point in roc_curve(*of):
            yield CurveRow(system, measure, point.false_alarms, point.found, point.low, point.high)


def calibrated(cases: Cases, measure: str, parameters: MaqaParameters) -> Calibration:
    """Return how far a measure that is a share is from how often it is right."""
    said = cases.sureness / SHARES[measure]
    return calibration(said, cases.right, cases.items, parameters.bootstrap, parameters.seed)


def bin_rows(system: str, columns: Columns, parameters: MaqaParameters) -> Iterator[BinRow]:
    """Yield the bins of the measures that are shares."""
    for measure in SHARES:
        for one in calibrated(columns.cases[measure], measure, parameters).bins:
            yield BinRow(
                *(system, measure, one.start, one.end, one.confidence, one.accuracy),
                *(one.low, one.high, one.n, one.items),
            )


def pair_rows(
    systems: Mapping[str, tuple[Columns, Sequence[str]]],
    items: Sequence[str],
    parameters: MaqaParameters,
) -> Iterator[PairRow]:
    """Yield every two systems compared: F1, and how well each measure tells right from wrong.

    `systems` has the columns of each and the ids of their questions, `items` all ids in order.
    """
    number = {item: place for place, item in enumerate(items)}
    places: dict[str, Integers] = {
        name: np.array([number[item] for item in own], dtype=np.int64)
        for name, (_, own) in systems.items()
    }
    scores = np.full((len(systems), len(items)), np.nan)
    for row, (name, (columns, _)) in enumerate(systems.items()):
        scores[row, places[name]] = columns.scores[SETS.index(F1)]
    drawn = (parameters.bootstrap, parameters.seed)
    for pair in compare_models(scores, list(systems), "holm", *drawn):
        yield PairRow(
            *(pair.model_a, pair.model_b, F1, pair.difference, pair.low, pair.high),
            *(pair.p_value, pair.adjusted_p_value, pair.n, pair.reason),
        )
    for (one, (first, _)), (other, (second, _)) in combinations(systems.items(), 2):
        for measure in SURENESS:
            sides = [
                (cases.sureness, cases.right, places[name][cases.items])
                for name, cases in ((one, first.cases[measure]), (other, second.cases[measure]))
            ]
            found = area_difference(sides[0], sides[1], *drawn)
            yield PairRow(
                *(one, other, f"auroc_{measure}", found.value, found.low, found.high),
                *(None, None, found.n, found.reason),
            )
