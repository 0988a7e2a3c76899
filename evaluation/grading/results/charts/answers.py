"""Chart of the answers to a question by score: workers' dots and models' diamonds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotations.web.texts import shorten_text
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, draw_axis
from evaluation.core.charts.scales import build_scale, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.question import ModelAnswer, QuestionAnswer

MOST = 200
# Dots that would touch stand on each other, up to so many.
LANES = 14
LANE = 9.5
TOP = 12.0
TIP = 300


def build_answers_chart(
    answers: Sequence[QuestionAnswer], models: Sequence[ModelAnswer], n_answers: int
) -> Chart:
    """Return the chart of answer scores: up to 200 workers' answers, and 20 models'."""
    shown = [answer for answer in answers if answer.score is not None][:MOST]
    scored = [model for model in models if model.score is not None][:20]

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in scored])
        description = f"Scores of {len(shown)} workers' answers and {len(scored)} models' answers"
        scores = [answer.score for answer in shown] + [model.score for model in scored]
        scale = build_scale(scores, layout.left, layout.right)
        lanes = _assign_lanes([scale(answer.score or 0.0) for answer in shown])
        floor = TOP + max(3, *lanes, 0) * LANE + 14
        layout = replace(layout, top=floor + 10)
        drawing = Drawing(width, layout.height, "Answers by score", description)
        draw_axis(drawing, layout, scale, "score: similarity to the consensus")
        drawing.line(layout.left, floor, layout.right, floor, "axis")
        if layout.left > 90:
            drawing.text(layout.left - 12, floor - 6, "workers", "label", "end")
        for answer, lane in zip(shown, lanes, strict=True):
            drawing.mark(_format_tip(answer.worker_name, answer.score, answer.text))
            drawing.dot(scale(answer.score or 0.0), floor - 7 - lane * LANE, "dot")
            drawing.end_mark()
        for at, model in enumerate(scored):
            drawing.mark(_format_tip(model.name, model.score, model.text or f"[{model.status}]"))
            layout.draw_row(drawing, at)
            drawing.diamond(scale(model.score or 0.0), layout.y(at), "dot-model")
            drawing.end_mark()
        return drawing

    return Chart(
        name="answers",
        title="How close each answer is to the consensus",
        explanation=(
            "Every dot is a worker's answer, every diamond a model's; the further right, the "
            "closer it is to the consensus of the crowd. Point at one, or touch it, to read it."
        ),
        draw=draw,
        note=(
            f"The picture shows the {len(shown)} nearest of {n_answers:,} workers' answers."
            if n_answers > len(shown)
            else ""
        ),
    )


def _assign_lanes(places: Sequence[float]) -> list[int]:
    """Return the row of each dot, so that dots that would touch lie above each other."""
    ends = [float("inf")] * LANES
    lanes = []
    for x in places:
        lane = next((at for at, end in enumerate(ends) if end - x >= LANE), LANES - 1)
        ends[lane] = x
        lanes.append(lane)
    return lanes


def _format_tip(name: str, score: float | None, text: str) -> str:
    """Return the tooltip of an answer: name, score and text."""
    cut = shorten_text(text, TIP)
    return f"{name}: {format_number(score)}\n{cut}"
