"""Charts of language models: their place among people, and pair by pair.

Chart of language models among people: distribution of workers' scores, and each model. Charts that
compare language models: score differences, and single questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from annotations.web.paging import Page
from annotations.web.texts import shorten_text
from evaluation.core.charts.chart import Chart, EstimateRow, RowLayout, draw_axis, draw_rows
from evaluation.core.charts.svg import Drawing, Scale, build_scale, format_interval, format_number
from evaluation.grading.results.report.comparisons import (
    ComparisonsReport,
    ModelPair,
    PairReport,
    QuestionDifference,
)
from evaluation.grading.results.report.models import CrowdScores, ModelRow
from evaluation.grading.results.report.run import Ceiling

MOST = 60
CROWD = 96.0
TOP = 34.0


def build_placement_chart(models: Page[ModelRow], ceiling: Ceiling, crowd: CrowdScores) -> Chart:
    """Return the chart of up to 60 models' scores, below the histogram of workers' scores."""
    plotted = models.rows[:MOST]
    rows = [_build_row(model) for model in plotted]
    numbers = [
        *(end for row in rows for end in (row.value, row.low, row.high)),
        *crowd.scores[:1],
        *crowd.scores[-1:],
        *(ceiling.score.value, ceiling.score.low, ceiling.score.high),
    ]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in rows], TOP + CROWD + 10)
        description = f"{len(rows)} models with 95% intervals under the scores of {crowd.n} workers"
        drawing = Drawing(width, layout.height, "Models among people", description)
        scale = build_scale(numbers, layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score: similarity to the crowd's consensus", TOP)
        _draw_crowd(drawing, layout, scale, crowd)
        _draw_ceiling(drawing, layout, scale, ceiling)
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
        draw=draw_chart,
        note=f"The picture shows the first {MOST} models."
        if len(plotted) < _count_models(models)
        else "",
    )


def _count_models(models: Page[ModelRow]) -> int:
    """Return the number of models on this page, plus 1 if more follow."""
    return len(models.rows) + bool(models.next)


def _build_row(model: ModelRow) -> EstimateRow:
    """Return a model's chart row: score, interval and tooltip."""
    place = "" if model.percentile is None else f"\nscores above {model.percentile:.0f}% of workers"
    return EstimateRow(
        name=model.name,
        value=model.score.value,
        low=model.score.low,
        high=model.score.high,
        tip=f"{model.name}\nscore {format_number(model.score.value)}, "
        f"interval {format_interval(model.score.low, model.score.high, 'unknown')}{place}",
        style="-model",
    )


def _draw_crowd(drawing: Drawing, layout: RowLayout, scale: Scale, crowd: CrowdScores) -> None:
    """Draw the histogram of the workers' leave-one-out scores."""
    floor = TOP + CROWD
    bins = crowd.compute_histogram(16 if layout.is_narrow else 24)
    layout.draw_heading(drawing, floor - 4, f"{crowd.n} workers")
    tallest = max((size for _, _, size in bins), default=1)
    for low, high, size in bins:
        x, end = scale(low), scale(high)
        height = CROWD * size / tallest
        drawing.begin_group(f"{size} workers score\n{format_interval(low, high)}")
        drawing.add_rectangle(x, TOP, max(3, end - x), CROWD, "hit")
        drawing.add_rectangle(x, floor - height, max(3, end - x - 1), height, "bar")
        drawing.end_group()
    drawing.add_line(layout.left, floor, layout.right, floor, "axis")


def _draw_ceiling(drawing: Drawing, layout: RowLayout, scale: Scale, ceiling: Ceiling) -> None:
    """Draw the human ceiling as a line, and its interval as a band."""
    value, low, high = ceiling.score.value, ceiling.score.low, ceiling.score.high
    if value is None:
        return
    drawing.begin_group(
        f"human ceiling {format_number(value)}\ninterval {format_interval(low, high, 'unknown')}"
    )
    if low is not None and high is not None:
        wide = scale(high) - scale(low)
        drawing.add_rectangle(scale(low), TOP - 8, wide, layout.bottom - TOP + 8, "band")
    x = scale(value)
    drawing.add_line(x, TOP - 8, x, layout.bottom, "ceiling")
    drawing.end_group()
    drawing.add_text(
        min(x + 4, layout.right),
        16,
        f"human ceiling {format_number(value)}",
        "label-ceiling",
        "end",
    )


def build_histogram_table(crowd: CrowdScores) -> Sequence[tuple[str, int]]:
    """Return the rows of the histogram of workers' scores: score range, number of workers."""
    return [(format_interval(low, high), size) for low, high, size in crowd.compute_histogram(12)]


TIP = 160


def build_comparisons_chart(report: ComparisonsReport) -> Chart:
    """Return the chart of the score differences between models, largest first."""
    of = report.of
    same = _find_shared_beginning([model.name for model in report.models])

    def shorten_name(name: str) -> str:
        """Return a model's name without the beginning shared by all names."""
        return name[len(same) :]

    rows = [
        EstimateRow(
            name=(
                shorten_name(pair.second_name)
                if of
                else f"{shorten_name(pair.first_name)} – {shorten_name(pair.second_name)}"
            ),
            value=pair.difference.value,
            low=pair.difference.low,
            high=pair.difference.high,
            tip=_format_tip(pair, report.corrected_by),
            style="-model" if pair.better else "-weak",
        )
        for pair in report.pairs
    ]
    title = f"{of.name} less each other model" if of else "How far apart the models are"

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in rows])
        description = f"{len(rows)} differences between models with 95% intervals"
        drawing = Drawing(width, layout.height, "Model comparison", description)
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = build_scale([*values, 0.0], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "difference of the mean scores")
        zero = scale(0.0)
        drawing.add_line(zero, layout.top, zero, layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="comparison",
        title=title,
        explanation=(
            "Every row is two models on the same questions: the mark is the first one's mean score "
            "less the second one's, the line its 95% interval. Filled diamonds right of the "
            "dotted zero: the first is significantly better; left of it: the second. Hollow "
            f"dots: these questions do not distinguish them ({report.corrected_by}'s "
            "correction for the number of pairs)."
        ),
        draw=draw_chart,
        note=f"All names begin with “{same.strip(' ,;:-')}”, which is left out." if same else "",
    )


def _find_shared_beginning(names: list[str]) -> str:
    """Return the words with which all models' names begin; "" for fewer than 6 characters."""
    # What the first and the last in the alphabet share, all names between share as well.
    first, last = (min(names), max(names)) if len(names) > 1 else ("", "")
    apart = (
        index for index, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1
    )
    same = first[: next(apart, min(len(first), len(last)))]
    end = max(same.rfind(mark) for mark in (" ", "/", "-", "_")) + 1
    # Not where a name is nothing but the beginning: nothing would be left of it.
    return same[:end] if end >= 6 and all(len(name) > end for name in names) else ""


def build_pair_chart(report: PairReport, link: Callable[[UUID], str] = lambda _: "") -> Chart:
    """Return the chart of the questions on which two models differ most."""
    first, second = report.pair.first_name, report.pair.second_name
    questions = [*report.first_better, *reversed(report.second_better)]
    rows = [
        EstimateRow(
            name=question.name,
            value=question.difference,
            low=min(0.0, question.difference),
            high=max(0.0, question.difference),
            tip=_format_question_tip(question, first, second),
            link=link(question.question),
            style="" if question.difference > 0 else "-model",
        )
        for question in questions
    ]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in rows])
        drawing = Drawing(
            width, layout.height, "Where they differ", f"{len(rows)} questions, {first}, {second}"
        )
        scale = build_scale([0.0, *(row.value for row in rows)], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score of the first less that of the second")
        drawing.add_line(scale(0.0), layout.top, scale(0.0), layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="differences",
        title=f"{first} against {second}",
        explanation=(
            "A row is a question. To the right the first model's answer is nearer to the crowd's "
            "consensus, to the left the second one's."
        ),
        draw=draw_chart,
        note="The questions with the greatest differences are shown; the CSV file has all.",
    )


def _format_tip(pair: ModelPair, corrected_by: str) -> str:
    """Return the tooltip of a pair of models: difference, interval, p-value, questions."""
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
    return "\n".join(f"{name}: {shorten_text(text, TIP)}" for name, text in lines)
