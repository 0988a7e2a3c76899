"""Chart of language models among people: distribution of workers' scores, and each model."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, Row, draw_axis, draw_rows
from evaluation.core.charts.scales import Scale, build_scale, format_interval, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.models import CrowdScores, ModelRow, ModelsReport
from evaluation.grading.results.report.run import Ceiling

MOST = 60
CROWD = 96.0
TOP = 34.0


def build_placement_chart(report: ModelsReport) -> Chart:
    """Return the chart of up to 60 models' scores below the histogram of workers' scores."""
    shown = report.models.rows[:MOST]
    rows = [_build_row(model) for model in shown]
    numbers = [
        *(end for row in rows for end in (row.value, row.low, row.high)),
        *report.crowd.scores[:1],
        *report.crowd.scores[-1:],
        *(report.ceiling.score.value, report.ceiling.score.low, report.ceiling.score.high),
    ]

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows], TOP + CROWD + 10)
        description = (
            f"{len(rows)} models with 95% intervals under the scores of {report.crowd.n} workers"
        )
        drawing = Drawing(width, layout.height, "Models among people", description)
        scale = build_scale(numbers, layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score: similarity to the crowd's consensus", TOP)
        _draw_crowd(drawing, layout, scale, report.crowd)
        _draw_ceiling(drawing, layout, scale, report.ceiling)
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="placement",
        title="Models among people",
        explanation=(
            "The hill shows how many workers reach which score when each is compared with the "
            "consensus of the others. A diamond is a model's score on the same scale, the line "
            "its 95% interval. The dashed green line is the human ceiling: what the best quarter "
            "of the workers reach on average, on questions by which they were not chosen. A model "
            "left of the hill answers unlike people; one near the green line answers like the best "
            "of them."
        ),
        draw=draw,
        note=f"The picture shows the first {MOST} models."
        if len(shown) < _count_models(report)
        else "",
    )


def _count_models(report: ModelsReport) -> int:
    """Return the number of models on this page of the report, plus one if more follow."""
    return len(report.models.rows) + bool(report.models.next)


def _build_row(model: ModelRow) -> Row:
    """Return a model's chart row: score, interval and tooltip."""
    place = "" if model.percentile is None else f"\nscores above {model.percentile:.0f}% of workers"
    return Row(
        name=model.name,
        value=model.score.value,
        low=model.score.low,
        high=model.score.high,
        tip=f"{model.name}\nscore {format_number(model.score.value)}, "
        f"interval {format_interval(model.score.low, model.score.high, 'unknown')}{place}",
        look="-model",
    )


def _draw_crowd(drawing: Drawing, layout: Layout, scale: Scale, crowd: CrowdScores) -> None:
    """Draw the histogram of the workers' leave-one-out scores."""
    floor = TOP + CROWD
    bins = crowd.bins(16 if layout.is_narrow else 24)
    layout.draw_heading(drawing, floor - 4, f"{crowd.n} workers")
    tallest = max((size for _, _, size in bins), default=1)
    for low, high, size in bins:
        x, end = scale(low), scale(high)
        height = CROWD * size / tallest
        drawing.mark(f"{size} workers score\n{format_interval(low, high)}")
        drawing.rectangle(x, TOP, max(3, end - x), CROWD, "hit")
        drawing.rectangle(x, floor - height, max(3, end - x - 1), height, "bar")
        drawing.end_mark()
    drawing.line(layout.left, floor, layout.right, floor, "axis")


def _draw_ceiling(drawing: Drawing, layout: Layout, scale: Scale, ceiling: Ceiling) -> None:
    """Draw the human ceiling as a line, and its interval as a band."""
    value, low, high = ceiling.score.value, ceiling.score.low, ceiling.score.high
    if value is None:
        return
    drawing.mark(
        f"human ceiling {format_number(value)}\ninterval {format_interval(low, high, 'unknown')}"
    )
    if low is not None and high is not None:
        wide = scale(high) - scale(low)
        drawing.rectangle(scale(low), TOP - 8, wide, layout.bottom - TOP + 8, "band")
    x = scale(value)
    drawing.line(x, TOP - 8, x, layout.bottom, "ceiling")
    drawing.end_mark()
    drawing.text(
        min(x + 4, layout.right),
        16,
        f"human ceiling {format_number(value)}",
        "label-ceiling",
        "end",
    )


def build_crowd_table(crowd: CrowdScores) -> Sequence[tuple[str, int]]:
    """Return the histogram of workers' scores as rows: range of scores, number of workers."""
    return [(format_interval(low, high), size) for low, high, size in crowd.bins(12)]
