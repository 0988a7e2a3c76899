"""The pictures of sure and right: for each measure one, with a line for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.charts import Chart
from evaluation.charts.sureness import reliability_chart, roc_chart
from evaluation.flow.maqa.columns import SURENESS
from evaluation.flow.maqa.sure_and_right import SHARES, BinRow, CurveRow
from evaluation.words.maqa import MEASURES

Points = dict[str, list[tuple[float, float, float | None, float | None]]]
NAMES = (
    *(f"roc-{name.replace('_', '-')}" for name in SURENESS),
    *(f"reliability-{name.replace('_', '-')}" for name in SHARES),
)


def pictures(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Iterator[Chart]:
    """Yield a picture for each measure that something is known of."""
    for measure in SURENESS:
        points: Points = {}
        for row in curves:
            if row.measure == measure:
                at = (row.false_alarms, row.found, row.low, row.high)
                points.setdefault(row.system, []).append(at)
        if points:
            name = f"roc-{measure.replace('_', '-')}"
            yield roc_chart(name, MEASURES[measure].title, points)
    for measure in SHARES:
        by_system: Points = {}
        for one in bins:
            if one.measure == measure:
                place = (one.confidence, one.accuracy, one.low, one.high)
                by_system.setdefault(one.system, []).append(place)
        if by_system:
            name = f"reliability-{measure.replace('_', '-')}"
            yield reliability_chart(name, MEASURES[measure].title, by_system)


def files(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Mapping[str, bytes]:
    """Return the pictures as files, by name."""
    return {
        f"{chart.name.replace('-', '_')}.svg": chart.standalone().encode()
        for chart in pictures(curves, bins)
    }


FILES = tuple(f"{name.replace('-', '_')}.svg" for name in NAMES)
