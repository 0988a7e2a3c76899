"""Charts of agreement by crowd size, and of the expected consensus error by answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evaluation.core.charts.chart import Chart, Series, build_line_chart
from evaluation.core.charts.svg import Drawing, Scale, format_number, format_tick
from evaluation.core.stats.planner import ErrorBounds
from evaluation.sample_size.methods import WORKERS, SizePoint

MEASURE_NAMES = {
    "workers": "experts' grades of workers",
    "answers": "experts' grades of answers",
    "crowd": "the whole crowd's result",
}


def build_crowd_size_chart(points: Sequence[SizePoint], by: str) -> Chart | None:
    """Return the chart of agreement by number of workers or questions; None without values."""
    selected = [point for point in points if point.by == by]
    measures = list(dict.fromkeys(point.measure for point in selected if point.pearson is not None))
    if not measures:
        return None
    what = "workers who vote" if by == WORKERS else "questions"
    return build_line_chart(
        name=f"crowd-size-{by}",
        title=f"What more {by} would have brought",
        explanation=(
            f"How far scores agree (Pearson's r, 1 is perfect) when only so many {by} are taken, "
            "drawn at random. A bar is where 95 of 100 draws fell. Where the line is flat, more "
            "gain nothing."
        ),
        axes=(what, "agreement r"),
        series=[_build_series(selected, measure) for measure in measures],
    )


def _build_series(points: Sequence[SizePoint], measure: str) -> Series:
    """Return the chart's line for one measure, with a bar for the range of draws at each size."""
    selected = [point for point in points if point.measure == measure]
    return Series(
        f"with {MEASURE_NAMES[measure]}",
        [(point.size, point.pearson) for point in selected],
        [
            (point.size, point.low, point.high)
            for point in selected
            if point.low is not None and point.high is not None and point.low < point.high
        ],
    )


HEIGHT = 330.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 16.0, 40.0, 46.0


class ConsensusForecast(Protocol):
    """Protocol of a forecast of the consensus error: now, with ten more answers, and a curve."""

    @property
    def now(self) -> ErrorBounds | None:
        """Expected error with as many answers as there are; None without a forecast."""
        ...

    @property
    def more(self) -> ErrorBounds | None:
        """Expected error with ten more answers to each question; None without a forecast."""
        ...

    @property
    def curve(self) -> list[ErrorBounds]:
        """Expected errors by number of answers, ascending."""
        ...


def build_planner_chart(forecast: ConsensusForecast) -> Chart | None:
    """Return the chart of the expected consensus error by answers to a question, or None."""
    now, more, curve = forecast.now, forecast.more, forecast.curve
    if now is None or more is None:
        return None
    last = curve[-1].workers
    # Equal answers have an expected error of 0, and a scale needs a positive length.
    highest = min(1.0, max(0.01, *(plan.average_error * 1.25 for plan in curve)))

    def draw(width: float) -> Drawing:
        description = (
            f"Expected error of the consensus for 1 to {last} answers a question; "
            f"{now.workers} answers: {format_number(now.average_error)}"
        )
        drawing = Drawing(width, HEIGHT, "Planner", description)
        bottom = HEIGHT - BOTTOM
        x = Scale(1, last, LEFT, width - RIGHT)
        y = Scale(0.0, highest, bottom, TOP)
        for tick in y.list_ticks(5):
            drawing.add_line(LEFT, y(tick), width - RIGHT, y(tick), "grid")
            drawing.add_text(LEFT - 8, y(tick) + 4, format_tick(tick), "faint", "end")
        for tick in x.list_ticks(8 if width > 600 else 5):
            drawing.add_text(x(tick), bottom + 17, format_tick(tick), "faint", "middle")
        drawing.add_line(LEFT, bottom, width - RIGHT, bottom, "axis")
        drawing.add_text(
            (LEFT + width - RIGHT) / 2, bottom + 36, "answers a question", "faint", "middle"
        )
        drawing.add_text(
            8, 12, "expected error of the consensus: 0 means the same as the truth", "faint"
        )
        plotted = [plan for plan in curve if plan.worst_error is not None]
        worst = [(x(plan.workers), y(plan.worst_error or 0)) for plan in plotted]
        # Worst-case errors are far above the scale for few answers.
        drawing.add_polyline([place for place in worst if place[1] > TOP], "worst")
        drawing.add_polyline([(x(plan.workers), y(plan.average_error)) for plan in curve], "line")
        for plan, words in ((now, "now"), (more, "10 more")):
            place = x(plan.workers)
            drawing.add_line(place, TOP, place, bottom, "median" if plan is now else "grid-strong")
            at_end = plan is now
            drawing.add_text(
                place + (-5 if at_end else 5), TOP - 6, words, "label", "end" if at_end else "start"
            )
        for plan in curve:
            if plan.workers in (now.workers, more.workers) or len(curve) <= 120:
                drawing.begin_group(_format_tooltip(plan))
                drawing.add_rectangle(x(plan.workers) - 3, TOP, 6, bottom - TOP, "hit")
                if plan in (now, more):
                    drawing.add_dot(x(plan.workers), y(plan.average_error), "dot", 5)
                    if plan.worst_error is not None and plan.worst_error <= highest:
                        drawing.add_dot(x(plan.workers), y(plan.worst_error), "dot-weak", 5)
                drawing.end_group()
        return drawing

    return Chart(
        name="planner",
        title="What more answers would buy",
        explanation=(
            "The solid line is the error to expect of the consensus of so many answers, the "
            "dashed one what it stays below in 95 of 100 cases. Both fall steeply at first and "
            "then hardly: that is where more workers stop being worth their pay."
        ),
        draw=draw,
        note="Rests on workers who err independently: those who copy each other add nothing.",
    )


def _format_tooltip(plan: ErrorBounds) -> str:
    """Return the text of a tooltip: expected and worst error with a number of answers."""
    return (
        f"{plan.workers} answers a question\nexpected error {format_number(plan.average_error)}\n"
        f"with 95% certainty below {format_number(plan.worst_error, 'unknown: too few')}"
    )
