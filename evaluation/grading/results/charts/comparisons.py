"""Charts that compare language models: score differences, and single questions."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from annotations.web.texts import shorten_text
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, Row, draw_axis, draw_rows
from evaluation.core.charts.scales import build_scale, format_interval, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.comparisons import (
    ComparisonsReport,
    ModelPair,
    PairReport,
    QuestionDifference,
)

TIP = 160


def build_comparisons_chart(report: ComparisonsReport) -> Chart:
    """Return the chart of the score differences between models, largest first."""
    of = report.of
    same = _find_shared_beginning([model.name for model in report.models])

    def shorten_name(name: str) -> str:
        return name[len(same) :]

    rows = [
        Row(
            name=(
                shorten_name(pair.second_name)
                if of
                else f"{shorten_name(pair.first_name)} – {shorten_name(pair.second_name)}"
            ),
            value=pair.difference.value,
            low=pair.difference.low,
            high=pair.difference.high,
            tip=_format_tip(pair, report.corrected_by),
            look="-model" if pair.better else "-weak",
        )
        for pair in report.pairs
    ]
    title = f"{of.name} less each other model" if of else "How far apart the models are"

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        description = f"{len(rows)} differences between models with 95% intervals"
        drawing = Drawing(width, layout.height, "Model comparison", description)
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = build_scale([*values, 0.0], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "difference of the mean scores")
        zero = scale(0.0)
        drawing.line(zero, layout.top, zero, layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="comparison",
        title=title,
        explanation=(
            "Every row is two models on the same questions: the mark is the first one's mean score "
            "less the second one's, the line its 95% interval. Filled diamonds right of the dotted "
            "zero say that the first is better by more than chance, left of it that the second is; "
            f"hollow dots that these questions cannot tell them apart ({report.corrected_by}'s "
            "correction for the number of pairs)."
        ),
        draw=draw,
        note=f"All names begin with “{same.strip(' ,;:-')}”, which is left out." if same else "",
    )


def _find_shared_beginning(names: list[str]) -> str:
    """Return the words with which all models' names begin; "" if fewer than 6 characters."""
    first, last = (min(names), max(names)) if len(names) > 1 else ("", "")
    apart = (at for at, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1)
    same = first[: next(apart, min(len(first), len(last)))]
    end = max(same.rfind(mark) for mark in (" ", "/", "-", "_")) + 1
    return same[:end] if end >= 6 and all(len(name) > end for name in names) else ""


def build_pair_chart(report: PairReport, link: Callable[[UUID], str] = lambda _: "") -> Chart:
    """Return the chart of the questions on which two models differ most."""
    first, second = report.pair.first_name, report.pair.second_name
    questions = [*report.first_better, *reversed(report.second_better)]
    rows = [
        Row(
            name=question.name,
            value=question.difference,
            low=min(0.0, question.difference),
            high=max(0.0, question.difference),
            tip=_format_question_tip(question, first, second),
            link=link(question.question),
            look="" if question.difference > 0 else "-model",
        )
        for question in questions
    ]

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        drawing = Drawing(
            width, layout.height, "Where they differ", f"{len(rows)} questions, {first}, {second}"
        )
        scale = build_scale([0.0, *(row.value for row in rows)], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score of the first less that of the second")
        drawing.line(scale(0.0), layout.top, scale(0.0), layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="differences",
        title=f"{first} against {second}",
        explanation=(
            "A row is a question. To the right the first model's answer is nearer to the crowd's "
            "consensus, to the left the second one's."
        ),
        draw=draw,
        note="The questions with the greatest differences are shown; the CSV file has all.",
    )


def _format_tip(pair: ModelPair, corrected_by: str) -> str:
    """Return the tooltip of a pair of models: difference, interval, p, number of questions."""
    return "\n".join(
        [
            f"{pair.first_name} less {pair.second_name}",
            f"{format_number(pair.difference.value)}, "
            f"interval {format_interval(pair.difference.low, pair.difference.high, 'unknown')}",
            f"p {format_number(pair.adjusted_p_value)} after {corrected_by}, {pair.n} questions",
        ]
    )


def _format_question_tip(question: QuestionDifference, first: str, second: str) -> str:
    """Return the tooltip of a question: its text, both models' answers, the consensus answer."""
    lines = (
        (question.name, question.text),
        (f"{first}, {format_number(question.first_score)}", question.first_text),
        (f"{second}, {format_number(question.second_score)}", question.second_text),
        ("nearest to the consensus", question.nearest),
    )
    return "\n".join(f"{who}: {shorten_text(text, TIP)}" for who, text in lines)
