"""Chart of a worker's answers by question, each scored against the others' consensus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from annotations.web.texts import shorten_text
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, Row, draw_axis, draw_rows
from evaluation.core.charts.scales import build_scale, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.worker import WorkerAnswer

TIP = 300


def build_worker_chart(
    answers: Sequence[WorkerAnswer], mean: float | None, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of a worker's leave-one-out scores, one row per question."""
    rows = [
        Row(
            name=answer.question_name,
            value=answer.score_leave_one_out,
            low=None,
            high=None,
            tip=_format_tip(answer),
            link=link(answer.question),
        )
        for answer in answers
        if answer.score_leave_one_out is not None
    ]

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        description = f"Scores of {len(rows)} answers"
        drawing = Drawing(width, layout.height, "Answers by question", description)
        scale = build_scale([*(row.value for row in rows), mean], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "similarity to the consensus of the others")
        if mean is not None:
            drawing.line(scale(mean), layout.top, scale(mean), layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="scores",
        title="Where this worker agrees with the others, and where not",
        explanation=(
            "A dot further left is an answer that differs more from what the others said to this "
            "question. The dotted line is the worker's mean. Different is not always wrong: read "
            "the answer beside the nearest one below."
        ),
        draw=draw,
    )


def _format_tip(answer: WorkerAnswer) -> str:
    """Return the tooltip of an answer: question, score and text."""
    text = shorten_text(answer.text, TIP)
    return f"{answer.question_name}: {format_number(answer.score_leave_one_out)}\n{text}"
