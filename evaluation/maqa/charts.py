"""Charts of MAQA: ROC curves and reliability diagrams of the measures of confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.maqa.messages import MEASURES
from evaluation.maqa.run.tables import SHARES, SURENESS, BinRow, CurveRow

CHANCE, EXACT = "chance", "perfect calibration"


def build_roc_chart(
    name: str,
    measure: str,
    curves: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]],
) -> Chart:
    """Return a chart with the ROC curve of each model for one measure.

    Parameters
    ----------
    name : of the chart, used in its URL.
    measure : title of the measure.
    curves : by model the points (false positive rate, true positive rate, low, high), 0 to 1; low
        and high are None without an interval.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _list_intervals(points))
        for model, points in curves.items()
    ]
    return lines_chart(
        name,
        f"ROC curve: {measure}",
        "Each point is a threshold on the measure of confidence, highest first. Upwards: the share "
        "of right answers above the threshold (true positive rate). To the right: the share of "
        "wrong answers above it (false positive rate). A curve above the diagonal separates right "
        "from wrong better than chance. Bars are 95% intervals over questions.",
        ("false positive rate", "true positive rate"),
        [*series, Series(CHANCE, [(0.0, 0.0), (1.0, 1.0)])],
        (0.0, 1.0),
    )


def build_reliability_chart(
    name: str,
    measure: str,
    bins: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]],
) -> Chart:
    """Return the reliability diagram of each model for one measure.

    `bins` has by model the points (mean confidence, accuracy, low, high), 0 to 1, in ascending
    order.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _list_intervals(points))
        for model, points in bins.items()
    ]
    return lines_chart(
        name,
        f"Reliability diagram: {measure}",
        "Share of right answers by confidence. Of the answers with about 80% confidence, 80% "
        "should be right: the line then lies on the diagonal. Below it the model is overconfident, "
        "above it underconfident. Bars are 95% intervals over questions.",
        ("confidence", "share of right answers"),
        [*series, Series(EXACT, [(0.0, 0.0), (1.0, 1.0)])],
        (0.0, 1.0),
    )


def _list_intervals(
    points: Sequence[tuple[float, float, float | None, float | None]],
) -> list[tuple[float, float, float]]:
    """Return (x, low, high) of the points with an interval."""
    return [(x, low, high) for x, _, low, high in points if low is not None and high is not None]


Points = dict[str, list[tuple[float, float, float | None, float | None]]]
NAMES = (
    *(f"roc-{name.replace('_', '-')}" for name in SURENESS),
    *(f"reliability-{name.replace('_', '-')}" for name in SHARES),
)


def build_charts(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Iterator[Chart]:
    """Yield the charts of each measure that has values, the ROC curves first."""
    for measure in SURENESS:
        roc_points: Points = {}
        for point in curves:
            if point.measure == measure:
                values = (point.false_alarms, point.found, point.low, point.high)
                roc_points.setdefault(point.system, []).append(values)
        if roc_points:
            name = f"roc-{measure.replace('_', '-')}"
            yield build_roc_chart(name, MEASURES[measure].title, roc_points)
    for measure in SHARES:
        bin_points: Points = {}
        for row in bins:
            if row.measure == measure:
                values = (row.confidence, row.accuracy, row.low, row.high)
                bin_points.setdefault(row.system, []).append(values)
        if bin_points:
            name = f"reliability-{measure.replace('_', '-')}"
            yield build_reliability_chart(name, MEASURES[measure].title, bin_points)


def draw_files(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Mapping[str, bytes]:
    """Return the charts as SVG files by file name."""
    return {
        f"{chart.name.replace('-', '_')}.svg": chart.standalone().encode()
        for chart in build_charts(curves, bins)
    }


FILES = tuple(f"{name.replace('-', '_')}.svg" for name in NAMES)
