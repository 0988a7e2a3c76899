"""Chart of the questions' dispersion and difficulty, most dispersed first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, draw_axis
from evaluation.core.charts.scales import Scale, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.questions import QuestionRow

MOST = 60
MEANING = "0: all answers say the same"


def build_questions_chart(
    questions: Sequence[QuestionRow], n_questions: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of disagreement on up to 60 questions, in the given order."""
    shown = [question for question in questions if question.dispersion is not None][:MOST]
    highest = max(
        (max(question.dispersion or 0.0, question.difficulty or 0.0) for question in shown),
        default=1.0,
    )

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in shown])
        description = f"{len(shown)} questions, most disagreement first"
        drawing = Drawing(width, layout.height, "Disagreement", description)
        counts = 34.0 if layout.is_narrow else 86.0
        scale = Scale(0.0, max(0.1, highest * 1.05), layout.left, layout.right - counts)
        draw_axis(drawing, layout, scale, MEANING)
        for at, question in enumerate(shown):
            y, value = layout.y(at), question.dispersion or 0.0
            drawing.mark(_format_tip(question), link(question.question))
            layout.draw_row(drawing, at)
            drawing.rectangle(layout.left, y - 6, scale(value) - layout.left, 12, "bar")
            if question.difficulty is not None:
                drawing.dot(scale(question.difficulty), y, "dot", 4)
            words = f"{question.n_answers:,}" + ("" if layout.is_narrow else " answers")
            drawing.text(layout.right, y + 4, words, "faint", "end")
            drawing.end_mark()
        return drawing

    return Chart(
        name="questions",
        title="Where the crowd disagrees",
        explanation=(
            "The longer the bar (dispersion), the less the answers to a question agree. The dot "
            "is the difficulty: how far an answer is on average from the consensus of the others. "
            "Much of both can mean a hard question, an unclear one, or one with several right "
            "answers: read a few to find out. The number on the right says how many answered."
        ),
        draw=draw,
        note=(
            f"The picture shows the {len(shown)} questions with the most disagreement out of "
            f"{n_questions:,}; the table and the CSV file have all."
            if n_questions > len(shown)
            else ""
        ),
    )


def _format_tip(question: QuestionRow) -> str:
    """Return the tooltip of a question: dispersion, difficulty, answers, consensus answer."""
    lines = [
        f"{question.name}: {question.text}" if question.text else question.name,
        f"dispersion {format_number(question.dispersion)}, "
        f"difficulty {format_number(question.difficulty, 'unknown')}",
        f"{question.n_answers:,} answers",
    ]
    if question.nearest:
        lines.append(f"nearest answer: {question.nearest}")
    return "\n".join(lines)
