"""Charts of MAQA: ROC curves and reliability diagrams of the measures of confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log

from evaluation.core.charts.chart import (
    NAMED,
    Chart,
    EstimateRow,
    Series,
    build_estimates_chart,
    build_line_chart,
)
from evaluation.maqa.messages import MEASURES
from evaluation.maqa.run.tables import SHARES, SURENESS, BinRow, CurveRow, ItemRow

CHANCE, EXACT = "chance", "perfect calibration"


def build_roc_chart(
    name: str,
    measure: str,
    curves: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]],
) -> Chart:
    """Return the chart of one confidence measure, with a ROC curve for each model.

    Parameters
    ----------
    name : of the chart, used in its URL.
    measure : title of the measure.
    curves : by model the points (false positive rate, true positive rate, low, high), 0 to 1; low
        and high are None without an interval.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _list_point_intervals(points))
        for model, points in curves.items()
    ]
    return build_line_chart(
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
    """Return the chart of one confidence measure: accuracy by confidence, one line per model.

    `bins` has by model the points (mean confidence, accuracy, low, high), 0 to 1, in ascending
    order.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _list_point_intervals(points))
        for model, points in bins.items()
    ]
    return build_line_chart(
        name,
        f"Reliability diagram: {measure}",
        "Share of right answers by confidence. Of the answers with about 80% confidence, 80% "
        "should be right: the line is then on the diagonal. Below it the model is overconfident, "
        "above it underconfident. Bars are 95% intervals over questions.",
        ("confidence", "share of right answers"),
        [*series, Series(EXACT, [(0.0, 0.0), (1.0, 1.0)])],
        (0.0, 1.0),
    )


def _list_point_intervals(
    points: Sequence[tuple[float, float, float | None, float | None]],
) -> list[tuple[float, float, float]]:
    """Return (x, low, high) of each chart point that has a confidence interval."""
    return [(x, low, high) for x, _, low, high in points if low is not None and high is not None]


Points = dict[str, list[tuple[float, float, float | None, float | None]]]
NAMES = (
    *(f"roc-{name.replace('_', '-')}" for name in SURENESS),
    *(f"reliability-{name.replace('_', '-')}" for name in SHARES),
)


def build_confidence_charts(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Iterator[Chart]:
    """Yield a ROC chart, then a reliability chart, for each measure that has values."""
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


def draw_chart_files(curves: Sequence[CurveRow], bins: Sequence[BinRow]) -> Mapping[str, bytes]:
    """Return the ROC and reliability charts as SVG bytes, by file name."""
    return {
        f"{chart.name.replace('-', '_')}.svg": chart.build_standalone_svg().encode()
        for chart in build_confidence_charts(curves, bins)
    }


FILES = tuple(f"{name.replace('-', '_')}.svg" for name in NAMES)


BY_QUESTION = "by-question"
"""Name of the chart of the confidence at each question."""


def compute_meaning_agreement(row: ItemRow) -> float | None:
    """Return how similar in meaning a question's replies are, 0 to 1; None if not clustered.

    It is 1 minus the semantic entropy, divided by its maximum, the logarithm of the number of
    replies. 1: all replies mean the same; 0: each reply means something else.
    """
    if row.semantic_entropy is None or row.replies < 2:
        return None
    # Clipped, because rounding may leave an entropy slightly above its maximum.
    return min(1.0, max(0.0, 1.0 - row.semantic_entropy / log(row.replies)))


def _scale_stated_confidence(row: ItemRow) -> float | None:
    """Return the confidence a model stated, scaled from 0..100 to 0..1; None if it stated none."""
    return None if row.verbalised is None else row.verbalised / 100.0


QUESTION_MEASURES: tuple[tuple[str, str, Callable[[ItemRow], float | None]], ...] = (
    (
        "agreement of meanings",
        "1: all replies of the model mean the same. 0: each reply means something else.",
        compute_meaning_agreement,
    ),
    (
        "consistency",
        "1: the model gives the same answers each time. 0: no two replies have an answer in "
        "common.",
        lambda row: row.consistency,
    ),
    (
        "verbalised confidence",
        "The confidence that the model states, as a share: 1 is 100%.",
        _scale_stated_confidence,
    ),
    (
        "maximum softmax probability",
        "The probability of the first token of an answer: 1 is certain.",
        lambda row: row.max_softmax,
    ),
)
"""Measures of the chart by question: axis, explanation, value. The first with values is drawn."""


def build_questions_chart(items: Sequence[ItemRow]) -> Chart | None:
    """Return the chart of models' confidence at each question, the least confident first.

    It needs no right answers. It has at most `NAMED` rows, a row for each model and question. None
    where no measure of confidence has a value.
    """
    several = len({row.system for row in items}) > 1
    for axis, explanation, measure in QUESTION_MEASURES:
        points = [(value, row) for row in items if (value := measure(row)) is not None]
        if not points:
            continue
        points.sort(key=lambda one: (one[0], one[1].item, one[1].system))
        rows = [
            EstimateRow(
                name=f"{row.item}, {row.system}" if several else row.item,
                value=value,
                low=None,
                high=None,
                tip=f"{row.item}\n{row.system}\n{axis} {value:.2f}, {row.replies} replies"
                + (f", {row.meanings} meanings" if row.meanings else ""),
                style="-model",
            )
            for value, row in points[:NAMED]
        ]
        more = (
            f" The {NAMED} least sure of {len(points):,} are shown." if len(points) > NAMED else ""
        )
        title = "How sure is the model, question by question?"
        return build_estimates_chart(BY_QUESTION, title, f"{explanation}{more}", axis, rows)
    return None
