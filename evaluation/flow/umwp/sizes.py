"""F1 of noticing by the size of a model, by its tuning, and by the form of asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.systems import System
from evaluation.flow.metrics import MetricRow
from evaluation.methods.statistics.correlation import spearman

UNKNOWN_SIZE = "size_unknown"
TOO_FEW = "fewer_than_3_sizes"
FEWEST = 3


class SizeRow(NamedTuple):
    """A row of sizes.csv: F1 of a system in a form, with what is known of the system.

    Smaller ones first in each form and tuning; those of unknown size last, with the reason
    size_unknown where F1 itself has none.
    """

    form: str
    tuning: str
    system: str
    family: str
    size: str
    parameters: float | None
    f1: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


class TrendRow(NamedTuple):
    """A row of size_trends.csv: how F1 goes with size over `n` systems of known size and F1.

    `tuning` "" is over all tunings. `spearman` is the rank correlation, -1 to 1; `per_tenfold` the
    slope of the least-squares line of F1 on the logarithm of the parameters to base 10: what a
    model ten times as large has more.
    """

    form: str
    tuning: str
    n: int
    spearman: float | None
    per_tenfold: float | None
    reason: str | None


def size_rows(metrics: Iterable[MetricRow], systems: Mapping[str, System]) -> list[SizeRow]:
    """Return a row for each system and form that has a row f1 in `form:`."""
    found = []
    for row in metrics:
        key, _, form = row.group.partition(":")
        if row.metric != "f1" or key != "form" or "," in form:
            continue
        about = systems.get(row.system) or System(row.system, "", None, "", "")
        reason = row.reason or (UNKNOWN_SIZE if about.parameters is None else None)
        found.append(
            SizeRow(
                *(form, about.tuning, row.system, about.family, about.size, about.parameters),
                *(row.value, row.low, row.high, row.n, reason),
            )
        )
    forms = {row.form: place for place, row in reversed(list(enumerate(found)))}
    return sorted(
        found,
        key=lambda row: (
            forms[row.form],
            row.tuning,
            row.parameters is None,
            row.parameters or 0.0,
        ),
    )


def trend_rows(rows: Iterable[SizeRow]) -> list[TrendRow]:
    """Return how F1 goes with size in each form: over all systems, then for each tuning."""
    listed = list(rows)
    found = []
    for form in dict.fromkeys(row.form for row in listed):
        of_form = [row for row in listed if row.form == form]
        tunings = list(dict.fromkeys(row.tuning for row in of_form if row.tuning))
        found += [
            _trend(form, tuning, [row for row in of_form if tuning in ("", row.tuning)])
            for tuning in ["", *(tunings if len(tunings) > 1 else ())]
        ]
    return found


def _trend(form: str, tuning: str, rows: Iterable[SizeRow]) -> TrendRow:
    known = [
        (float(np.log10(row.parameters)), row.f1)
        for row in rows
        if row.parameters is not None and row.f1 is not None
    ]
    sizes, f1 = np.array([one[0] for one in known]), np.array([one[1] for one in known])
    if len(set(sizes)) < FEWEST:
        return TrendRow(form, tuning, len(known), None, None, TOO_FEW)
    ranked = spearman(sizes, f1)
    slope = float(np.polyfit(sizes, f1, 1)[0])
    return TrendRow(
        form, tuning, len(known), ranked, slope, None if ranked is not None else "no_correlation"
    )
