"""Whether what a model is surer of is right more often: ROC curves, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart

CHANCE, EXACT = "a coin", "as sure as right"


def roc_chart(
    name: str,
    measure: str,
    curves: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]],
) -> Chart:
    """Return the ROC curves of some models by one measure.

    Parameters
    ----------
    name : of the picture, in addresses. measure : what people call it.
    curves : by model (false alarms, found, low, high), 0 to 1; low and high None without interval.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _ranges(points))
        for model, points in curves.items()
    ]
    return lines_chart(
        name,
        f"Sure and right: {measure}",
        "Take everything that a model is at least so sure of, from the surest down. How much of "
        "what is right is among it (upwards), and how much of what is wrong (to the right)? A "
        "model that knows when it is right climbs first and goes right later; a coin goes straight "
        "up the diagonal. Bars are 95% intervals over questions.",
        ("share of what is wrong", "share of what is right"),
        [*series, Series(CHANCE, [(0.0, 0.0), (1.0, 1.0)])],
        (0.0, 1.0),
    )


def reliability_chart(
    name: str,
    measure: str,
    bins: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]],
) -> Chart:
    """Return how often what some models say with a confidence is right.

    `bins` by model (mean confidence, share right, low, high), 0 to 1, in ascending order.
    """
    series = [
        Series(model, [(x, y) for x, y, *_ in points], _ranges(points))
        for model, points in bins.items()
    ]
    return lines_chart(
        name,
        f"Confidence and truth: {measure}",
        "Of all that a model says with about 80% confidence, 80% should be right: then its line "
        "lies on the diagonal. Below it the model is too sure, above it too modest. Bars are 95% "
        "intervals over questions.",
        ("confidence", "share that is right"),
        [*series, Series(EXACT, [(0.0, 0.0), (1.0, 1.0)])],
        (0.0, 1.0),
    )


def _ranges(
    points: Sequence[tuple[float, float, float | None, float | None]],
) -> list[tuple[float, float, float]]:
    return [(x, low, high) for x, _, low, high in points if low is not None and high is not None]
