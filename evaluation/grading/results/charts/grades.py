"""Charts of a run: grades and ranks, questions, convergence, and another run.

Charts of the workers' grades and ranks with their intervals, best first. Chart of the questions'
dispersion and difficulty, most dispersed first. Chart of convergence: root mean square change of
the voting weights per iteration. Chart that compares the workers' grades in two runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from uuid import UUID

from evaluation.core.charts.chart import (
    NAMED,
    Chart,
    EstimateRow,
    RowLayout,
    RowStyle,
    draw_axis,
    draw_rows,
)
from evaluation.core.charts.svg import Drawing, Scale, format_interval, format_number, format_tick
from evaluation.grading.results.report.against import RunComparison
from evaluation.grading.results.report.changes import WorkerChange
from evaluation.grading.results.report.questions import QuestionRow
from evaluation.grading.results.report.workers import WorkerRow

MOST = 200


def build_grades_chart(
    workers: Sequence[WorkerRow], n_workers: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of up to 200 workers' grades with their intervals.

    `link` returns the URL of a worker.
    """
    plotted = [worker for worker in workers if worker.grade.value is not None][:MOST]
    rows = [
        _build_grade_row(worker, link, "" if worker.supported else "-weak") for worker in plotted
    ]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        description = f"{len(rows)} workers, best grade first, with 95% intervals"
        return _draw_grades(width, rows, "Grades", description)

    return Chart(
        name="grades",
        title="Who agrees with the crowd's best answer",
        explanation=(
            "A dot is a worker's grade, the line through it the 95% interval: where the grade "
            "would probably be with other questions of this kind. Workers whose lines overlap a "
            "lot cannot be distinguished. Hollow grey dots have too few answers to be ranked."
        ),
        draw=draw_chart,
        note=_build_omission_note(len(rows), n_workers),
    )


def build_decision_chart(
    best: Sequence[WorkerRow],
    doubtful: Sequence[WorkerRow],
    link: Callable[[UUID], str] = lambda _: "",
) -> Chart | None:
    """Return the chart of the best and the doubtful workers' grades; None without a grade."""
    groups: tuple[tuple[Sequence[WorkerRow], RowStyle], ...] = ((best, ""), (doubtful, "-weak"))
    rows = [
        _build_grade_row(worker, link, css_class)
        for workers, css_class in groups
        for worker in workers
        if worker.grade.value is not None
    ]
    if not rows:
        return None

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        description = f"{len(rows)} workers, the best first, with 95% intervals"
        return _draw_grades(width, rows, "Best and doubtful workers", description)

    return Chart(
        name="decision",
        title="Grades of the best workers and of workers to review",
        explanation=(
            "Filled dots: the best workers. Hollow dots: workers to review. The line is the 95% "
            "interval. Workers with overlapping lines may be equally good."
        ),
        draw=draw_chart,
    )


def build_ranks_chart(
    workers: Sequence[WorkerRow], n_workers: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart | None:
    """Return the chart of the workers' ranks with their intervals; None without an interval."""
    plotted = [worker for worker in workers if worker.rank is not None][:MOST]
    if not any(worker.rank_interval for worker in plotted):
        return None
    rows = [
        EstimateRow(
            name=worker.name,
            value=worker.rank,
            low=worker.rank_low,
            high=worker.rank_high,
            tip=f"{worker.name}\nrank {worker.rank}, interval {worker.rank_interval or 'unknown'}",
            link=link(worker.worker),
        )
        for worker in plotted
    ]
    last = max(max(row.value or 1, row.high or 1) for row in rows)

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in rows])
        description = f"{len(rows)} workers, best rank first, with 95% intervals"
        drawing = Drawing(width, layout.height, "Ranks", description)
        scale = Scale(1.0, max(2.0, last), layout.left, layout.right)
        draw_axis(drawing, layout, scale, "rank: 1 is the best")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="ranks",
        title="How sure the order is",
        explanation=(
            "A dot is a worker's rank, the line the ranks the worker would probably have with "
            "other questions of this kind. Where lines cover each other the order is chance: pay "
            "or choose by groups of ranks, not by single places."
        ),
        draw=draw_chart,
        note=_build_omission_note(len(rows), n_workers),
    )


def _build_grade_row(
    worker: WorkerRow, link: Callable[[UUID], str], css_class: RowStyle
) -> EstimateRow:
    """Return the chart row of a worker's grade with its interval, in the given style."""
    return EstimateRow(
        name=worker.name,
        value=worker.grade.value,
        low=worker.grade.low,
        high=worker.grade.high,
        tip=_format_tip(worker),
        link=link(worker.worker),
        style=css_class,
    )


def _draw_grades(
    width: float, rows: Sequence[EstimateRow], title: str, description: str
) -> Drawing:
    """Return the drawing of rows of grades on an axis from 0 to 1."""
    layout = RowLayout(width, [row.name for row in rows])
    drawing = Drawing(width, layout.height, title, description)
    scale = Scale(0.0, 1.0, layout.left, layout.right)
    draw_axis(drawing, layout, scale, "grade: 0 worst to 1 best of this run")
    draw_rows(drawing, layout, scale, rows)
    return drawing


def _build_omission_note(n_shown: int, n_workers: int) -> str:
    """Return the note below a chart that leaves out names or workers; "" if it leaves out none."""
    notes = []
    if n_shown > NAMED:
        notes.append("Point at a line, or touch it, to see whose it is.")
    if n_workers > n_shown:
        notes.append(
            f"The picture shows the first {n_shown} of {n_workers:,} workers; "
            "the table and the CSV file have all."
        )
    return " ".join(notes)


def _format_tip(worker: WorkerRow) -> str:
    """Return the tooltip of a worker: grade, interval, rank and number of answers."""
    rank = f"rank {worker.rank}" if worker.rank else "not ranked: too few answers"
    return "\n".join(
        [
            worker.name,
            f"grade {format_number(worker.grade.value)}, "
            f"interval {format_interval(worker.grade.low, worker.grade.high, 'unknown')}",
            f"{rank}, {worker.n_answers} answers",
        ]
    )


QUESTIONS_MOST = 60
MEANING = "0: all answers have the same meaning"


def build_questions_chart(
    questions: Sequence[QuestionRow], n_questions: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of the workers' disagreement on up to 60 questions."""
    plotted = [question for question in questions if question.dispersion is not None][
        :QUESTIONS_MOST
    ]
    highest = max(
        (max(question.dispersion or 0.0, question.difficulty or 0.0) for question in plotted),
        default=1.0,
    )

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in plotted])
        description = f"{len(plotted)} questions, most disagreement first"
        drawing = Drawing(width, layout.height, "Disagreement", description)
        counts = 34.0 if layout.is_narrow else 86.0
        scale = Scale(0.0, max(0.1, highest * 1.05), layout.left, layout.right - counts)
        draw_axis(drawing, layout, scale, MEANING)
        for index, question in enumerate(plotted):
            y, value = layout.compute_y(index), question.dispersion or 0.0
            drawing.begin_group(_format_question_tip(question), link(question.question))
            layout.draw_row(drawing, index)
            drawing.add_rectangle(layout.left, y - 6, scale(value) - layout.left, 12, "bar")
            if question.difficulty is not None:
                drawing.add_dot(scale(question.difficulty), y, "dot", 4)
            words = f"{question.n_answers:,}" + ("" if layout.is_narrow else " answers")
            drawing.add_text(layout.right, y + 4, words, "faint", "end")
            drawing.end_group()
        return drawing

    return Chart(
        name="questions",
        title="Where the crowd disagrees",
        explanation=(
            "The longer the bar (dispersion), the less the answers to a question agree. The dot "
            "is the difficulty: how far an answer is on average from the consensus of the others. "
            "Much of both can mean a hard question, an unclear one, or one with several right "
            "answers: read a few to find out. The number on the right is the number of answers."
        ),
        draw=draw_chart,
        note=(
            f"The picture shows the {len(plotted)} questions with the most disagreement out of "
            f"{n_questions:,}; the table and the CSV file have all."
            if n_questions > len(plotted)
            else ""
        ),
    )


def _format_question_tip(question: QuestionRow) -> str:
    """Return the tooltip of a question: dispersion, difficulty, answers, nearest answer."""
    lines = [
        f"{question.name}: {question.text}" if question.text else question.name,
        f"dispersion {format_number(question.dispersion)}, "
        f"difficulty {format_number(question.difficulty, 'unknown')}",
        f"{question.n_answers:,} answers",
    ]
    if question.nearest:
        lines.append(f"nearest answer: {question.nearest}")
    return "\n".join(lines)


HEIGHT = 240.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 20.0, 14.0, 46.0
# A change of exactly 0 has no logarithm; it stands at the lower end.
LEAST = 1e-17


def build_convergence_chart(trace: Sequence[float]) -> Chart:
    """Return the chart of the change of the voting weights at each iteration.

    `trace` holds one change per iteration.
    """
    powers = [math.log10(max(change, LEAST)) for change in trace]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        description = (
            f"Change of the weights over {len(trace)} iterations, "
            f"at the end {format_number(trace[-1]) if trace else 'unknown'}"
        )
        drawing = Drawing(width, HEIGHT, "Convergence", description)
        bottom = HEIGHT - BOTTOM
        x = Scale(1, max(2, len(trace)), LEFT + 12, width - RIGHT)
        low, high = math.floor(min(powers, default=-1)), math.ceil(max(powers, default=0))
        y = Scale(low, max(high, low + 1), bottom, TOP)
        for power in y.list_ticks(5):
            if power == round(power):
                drawing.add_line(LEFT, y(power), width - RIGHT, y(power), "grid")
                drawing.add_text(
                    LEFT - 8, y(power) + 4, _format_power(round(power)), "faint", "end"
                )
        for tick in x.list_ticks(min(len(trace), 10 if width > 600 else 6) or 1):
            if tick == round(tick):
                drawing.add_text(x(tick), bottom + 17, f"{tick:.0f}", "faint", "middle")
        drawing.add_line(LEFT, bottom, width - RIGHT, bottom, "axis")
        drawing.add_text((LEFT + width - RIGHT) / 2, bottom + 36, "iteration", "faint", "middle")
        points = [(x(index), y(power)) for index, power in enumerate(powers, 1)]
        drawing.add_polyline(points, "line")
        for index, ((px, py), change) in enumerate(zip(points, trace, strict=True), 1):
            drawing.begin_group(f"iteration {index}\nchange of the weights {change:.3g}")
            drawing.add_dot(px, py, "hit", 12)
            drawing.add_dot(px, py, "dot", 4.5 if len(trace) <= 60 else 2)
            drawing.end_group()
        return drawing

    return Chart(
        name="convergence",
        title="How quickly the grades settled",
        explanation=(
            "Grades and votes depend on each other, so they are computed again and again until "
            "they stop changing. The height is how much they still changed (from one line of the "
            "grid to the next ten or a hundred times less). A line that falls steadily is what "
            "you want to see; one that stays up means that close ranks should not be trusted."
        ),
        draw=draw_chart,
    )


def _format_power(power: int) -> str:
    """Return the axis label of a power of ten, such as "0.01" or "1e-5"."""
    if -3 <= power <= 1:
        return f"{10.0**power:g}"
    return f"1e{power}"


AGAINST_MOST = 1000
AGAINST_LEFT, AGAINST_RIGHT, AGAINST_TOP, AGAINST_BOTTOM = 48.0, 14.0, 10.0, 44.0
# A worker that moved by more is marked.
FAR = 0.1


def build_run_comparison_chart(
    report: RunComparison, link: Callable[[UUID], str] = lambda _: ""
) -> Chart | None:
    """Return the chart of up to 1,000 workers' grades in two runs; None without common grades."""
    with_two_grades = [
        worker
        for worker in report.workers
        if worker.grade_before is not None and worker.grade_after is not None
    ]
    plotted = with_two_grades[:AGAINST_MOST]
    if not plotted:
        return None

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        side = min(width, 460.0)
        left = (width - side) / 2
        drawing = Drawing(
            width, side, "Run against run", f"Grades of {len(plotted)} workers in two runs"
        )
        right, bottom = left + side - AGAINST_RIGHT, side - AGAINST_BOTTOM
        x = Scale(0.0, 1.0, left + AGAINST_LEFT, right)
        y = Scale(0.0, 1.0, bottom, AGAINST_TOP)
        for tick in x.list_ticks(5):
            drawing.add_line(x(tick), AGAINST_TOP, x(tick), bottom, "grid")
            drawing.add_line(left + AGAINST_LEFT, y(tick), right, y(tick), "grid")
            drawing.add_text(x(tick), bottom + 16, format_tick(tick), "faint", "middle")
            drawing.add_text(
                left + AGAINST_LEFT - 7, y(tick) + 4, format_tick(tick), "faint", "end"
            )
        drawing.add_line(x(0), y(0), x(1), y(1), "median")
        drawing.add_text(
            (left + AGAINST_LEFT + right) / 2, side - 8, "earlier grade", "faint", "middle"
        )
        drawing.add_text(left + 14, side / 2 + 20, "later grade", "faint", turned=True)
        # The greatest movers come first in the list: drawn last, they lie on top.
        for worker in reversed(plotted):
            drawing.begin_group(_format_change_tip(worker), link(worker.worker))
            css_class = "dot-model" if abs(worker.grade_change) > FAR else "dot"
            drawing.add_dot(
                x(worker.grade_before or 0.0), y(worker.grade_after or 0.0), css_class, 4.5
            )
            drawing.end_group()
        return drawing

    return Chart(
        name="against",
        title="Workers whose rank changed",
        explanation=(
            "A dot is a worker of both runs. On the dotted line the grade is the same, above it "
            "the later run thinks more of the worker, below it less. Orange dots moved by more "
            "than a tenth."
        ),
        draw=draw_chart,
        note=f"The {AGAINST_MOST:,} workers that moved most are shown."
        if len(with_two_grades) > AGAINST_MOST
        else "",
    )


def _format_change_tip(worker: WorkerChange) -> str:
    """Return the tooltip of a worker: grades and ranks in both compared runs."""
    ranks = f"rank {worker.rank_before or 'none'}, then {worker.rank_after or 'none'}"
    if worker.moved is not None:
        ranks += f"; among those in both {worker.place_before}, then {worker.place_after}"
    return (
        f"{worker.name}\ngrade {format_number(worker.grade_before)}, then "
        f"{format_number(worker.grade_after)}\n{ranks}"
    )
